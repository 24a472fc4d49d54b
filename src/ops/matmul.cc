// Matrix products: mm, bmm, mv, dot and the fused forms that add to another tensor.
#include "ops/matmul.h"

namespace torch_tpu::ops {

Value MatMul(const Call& c, Value lhs, Side lhs_side, Value rhs, Side rhs_side) {
  shlo::DotDims dims;
  const int64_t rank = lhs.rank();
  for (int64_t i = 0; i + 2 < rank; ++i) {
    dims.lhs_batch.push_back(i);
    dims.rhs_batch.push_back(i);
  }
  dims.lhs_contract = {lhs_side == Side::kPlain ? rank - 1 : rank - 2};
  dims.rhs_contract = {rhs_side == Side::kPlain ? rank - 2 : rank - 1};
  return Dot(c, lhs, rhs, dims);
}

Value MatMul(const Call& c, Value lhs, Value rhs) {
  return MatMul(c, lhs, Side::kPlain, rhs, Side::kPlain);
}

namespace {

// Integer factors are widened when the output is wider (_int_mm, out_dtype overloads).
Value Factor(const Call& c, int i) {
  Value x = c.tensor(i);
  const DType out = c.out().dtype;
  const bool widen =
      x.dtype() != out && (IsInteger(out) || DTypeSize(out) > DTypeSize(DType::kF32));
  return widen ? shlo::convert(x, out) : x;
}

Value Mm(Call& c) { return MatMul(c, Factor(c, 0), Factor(c, 1)); }

Value Mv(Call& c) { return Dot(c, Factor(c, 0), Factor(c, 1), {{}, {}, {1}, {0}}); }

Value DotProduct(Call& c) { return Dot(c, Factor(c, 0), Factor(c, 1), {{}, {}, {0}, {0}}); }

Value Vdot(Call& c) {
  Value x = c.tensor(0);
  if (IsComplex(x.dtype())) x = shlo::complex(shlo::real(x), -shlo::imag(x));
  return Dot(c, x, c.tensor(1), {{}, {}, {0}, {0}});
}

// beta * added + alpha * product, with beta and alpha at positions `beta` and beta + 1. A beta of 0
// keeps NaN and infinity of `added` out, as PyTorch documents.
Value AddScaled(const Call& c, Value added, Value product, int beta) {
  // In the dims that the product had before flattening, so that a view that takes the result apart
  // again costs nothing.
  Value y = shlo::Unreshaped(product);
  if (!c.number_is(beta + 1, 1)) y = y * c.number(beta + 1);
  if (c.number_is(beta, 0)) return shlo::reshape(y, product.dims());
  Value x = shlo::convert(added, y.dtype());
  const int64_t columns = product.dim(-1);
  if (x.rank() > 0 && x.dim(-1) == columns && NumElements(x.dims()) == columns &&
      y.dim(-1) == columns) {
    x = shlo::broadcast_to(shlo::reshape(x, {columns}), y.dims());
  } else {
    x = shlo::reshape(shlo::broadcast_to(x, product.dims()), y.dims());
  }
  return shlo::reshape((c.number_is(beta, 1) ? x : x * c.number(beta)) + y, product.dims());
}

Value Addmm(Call& c) { return AddScaled(c, c.tensor(0), MatMul(c, Factor(c, 1), Factor(c, 2)), 3); }

Value AddmmDtype(Call& c) {
  return AddScaled(c, c.tensor(0), MatMul(c, Factor(c, 1), Factor(c, 2)), 4);
}

// PyTorch's Meta kernel of this overload takes out_dtype for beta.
std::vector<TensorType> BaddbmmDtypeShape(const Call& c) {
  const Value a = c.tensor(1), b = c.tensor(2);
  return {{*c.opt_dtype(3), {a.dim(0), a.dim(1), b.dim(2)}}};
}

Value AddmmActivation(Call& c) {
  Value y = Addmm(c);
  if (!c.boolean(5)) return shlo::max(y, shlo::full_like(y, 0));
  return y * 0.5 * (shlo::erf(y * 0.70710678118654752440) + 1.0);
}

Value Addbmm(Call& c) {
  Value product = Dot(c, Factor(c, 1), Factor(c, 2), {{}, {}, {0, 2}, {0, 1}});
  return AddScaled(c, c.tensor(0), product, 3);
}

Value Addmv(Call& c) {
  return AddScaled(c, c.tensor(0), Dot(c, Factor(c, 1), Factor(c, 2), {{}, {}, {1}, {0}}), 3);
}

Value Addr(Call& c) {
  const DType dtype = shlo::opmath_dtype(c.out().dtype);
  Value column = shlo::unsqueeze(shlo::convert(c.tensor(1), dtype), 1);
  Value row = shlo::unsqueeze(shlo::convert(c.tensor(2), dtype), 0);
  const Dims dims = {column.dim(0), row.dim(1)};
  return AddScaled(c, c.tensor(0), shlo::broadcast_to(column, dims) * shlo::broadcast_to(row, dims),
                   3);
}

LOWER("aten::mm", Mm, {.precision = true});
LOWER("aten::bmm", Mm, {.precision = true});
LOWER("aten::_int_mm", Mm, {.precision = true});
LOWER("aten::mv", Mv, {.precision = true});
LOWER("aten::dot", DotProduct, {.precision = true});
LOWER("aten::vdot", Vdot, {.precision = true});
LOWER("aten::addmm", Addmm, {.precision = true});
LOWER("aten::addmm.dtype", AddmmDtype, {.precision = true});
LOWER("aten::_addmm_activation", AddmmActivation, {.precision = true});
LOWER("aten::baddbmm", Addmm, {.precision = true});
LOWER("aten::baddbmm.dtype", AddmmDtype, {.precision = true, .shape = BaddbmmDtypeShape});
LOWER("aten::addbmm", Addbmm, {.precision = true});
LOWER("aten::addmv", Addmv, {.precision = true});
LOWER("aten::addr", Addr, {.precision = true});

}  // namespace
}  // namespace torch_tpu::ops
