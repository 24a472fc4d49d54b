// Reductions to one value: sum, prod, mean, amax, any, var and relatives.
#include <limits>
#include <numeric>

#include "ops/reduce_util.h"

namespace torch_tpu::ops {

using shlo::opmath_dtype;
using shlo::reduce_all;
using shlo::reduce_any;
using shlo::reduce_max;
using shlo::reduce_min;
using shlo::reduce_prod;
using shlo::reduce_sum;

Dims AllDims(const Value& x) {
  Dims dims(x.rank());
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

Dims ReduceDims(const Call& c, int i, const Value& x) {
  std::optional<Dims> dims = c.opt_ints(i);
  if (!dims || dims->empty()) return AllDims(x);
  if (x.rank() == 0) return {};
  for (int64_t& d : *dims) d = shlo::wrap_dim(d, x.rank());
  return *dims;
}

int64_t CountOver(const Value& x, const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= x.dim(d);
  return n;
}

Value ToOut(const Call& c, Value v, int k) { return reshape(v, c.out(k).dims); }

Value AtLeast1d(Value x) { return x.rank() == 0 ? reshape(x, {1}) : x; }

Value AsBool(Value x) { return x.dtype() == DType::kPred ? x : x != 0.0; }

DType IndexDType(int64_t size) {
  return size <= std::numeric_limits<int32_t>::max() ? DType::kS32 : DType::kS64;
}

namespace {

// The argument in the dtype that the reduction accumulates in.
Value Accumulated(const Call& c) { return convert(c.tensor(0), opmath_dtype(c.out().dtype)); }

Value SumOver(const Call& c, const Dims& dims) {
  Value x = Accumulated(c);
  // dtype=torch.bool: "any", as addition of booleans is.
  return ToOut(c, x.dtype() == DType::kPred ? reduce_any(x, dims) : reduce_sum(x, dims));
}

// sum(self, dtype)
Value Sum(Call& c) { return SumOver(c, AllDims(c.tensor(0))); }
// sum.dim_IntList(self, dim?, keepdim, dtype)
Value SumDims(Call& c) { return SumOver(c, ReduceDims(c, 1, c.tensor(0))); }

// nansum(self, dim?, keepdim, dtype)
Value NanSum(Call& c) {
  Value x = c.tensor(0);
  const Dims dims = ReduceDims(c, 1, x);
  Value numbers = where(is_nan(x), 0.0, x);
  return ToOut(c, reduce_sum(convert(numbers, opmath_dtype(c.out().dtype)), dims));
}

Value ProdOver(const Call& c, const Dims& dims) {
  Value x = Accumulated(c);
  return ToOut(c, x.dtype() == DType::kPred ? reduce_all(x, dims) : reduce_prod(x, dims));
}

// prod(self, dtype)
Value Prod(Call& c) { return ProdOver(c, AllDims(c.tensor(0))); }
// prod.dim_int(self, dim, keepdim, dtype)
Value ProdDim(Call& c) { return ProdOver(c, ReduceDims(c, 1, c.tensor(0))); }

Value MeanOver(Value x, const Dims& dims) {
  return reduce_sum(x, dims) / static_cast<double>(CountOver(x, dims));
}

// mean(self, dtype)
Value Mean(Call& c) { return ToOut(c, MeanOver(Accumulated(c), AllDims(c.tensor(0)))); }
// mean.dim(self, dim?, keepdim, dtype)
Value MeanDims(Call& c) {
  return ToOut(c, MeanOver(Accumulated(c), ReduceDims(c, 1, c.tensor(0))));
}

// amax(self, dim[], keepdim)
Value Amax(Call& c) { return ToOut(c, reduce_max(c.tensor(0), ReduceDims(c, 1, c.tensor(0)))); }
Value Amin(Call& c) { return ToOut(c, reduce_min(c.tensor(0), ReduceDims(c, 1, c.tensor(0)))); }
Value MaxAll(Call& c) { return reduce_max(c.tensor(0), AllDims(c.tensor(0))); }
Value MinAll(Call& c) { return reduce_min(c.tensor(0), AllDims(c.tensor(0))); }

// aminmax(self, dim?, keepdim)
Results AminMax(Call& c) {
  Value x = c.tensor(0);
  const Dims dims = ReduceDims(c, 1, x);
  return {ToOut(c, reduce_min(x, dims), 0), ToOut(c, reduce_max(x, dims), 1)};
}

// _aminmax(self) and _aminmax.dim(self, dim, keepdim), which no Meta kernel knows.
std::vector<TensorType> AminMaxShape(const Call& c) {
  TensorType type = c.tensor(0).type();
  if (NumElements(type.dims) == 0 && !c.has(1))
    throw shlo::BuildError("_aminmax: cannot compute the extremes of an empty tensor");
  if (!c.has(1) || type.dims.empty()) return {{type.dtype, {}}, {type.dtype, {}}};
  const int64_t dim = shlo::wrap_dim(c.integer(1), static_cast<int64_t>(type.dims.size()));
  if (type.dims[static_cast<size_t>(dim)] == 0)
    throw shlo::BuildError("_aminmax: expected the reduced dim to have elements");
  if (c.boolean(2)) {
    type.dims[static_cast<size_t>(dim)] = 1;
  } else {
    type.dims.erase(type.dims.begin() + dim);
  }
  return {type, type};
}

Value Any(Call& c) { return reduce_any(AsBool(c.tensor(0)), AllDims(c.tensor(0))); }
Value All(Call& c) { return reduce_all(AsBool(c.tensor(0)), AllDims(c.tensor(0))); }

// any.dim(self, dim, keepdim) and any.dims(self, dim[]?, keepdim). Unlike other reductions an empty
// list means no dim.
Value AnyDims(Call& c) {
  Value x = c.tensor(0);
  const auto dims = c.opt_ints(1);
  if (dims && dims->empty()) return AsBool(x);
  return ToOut(c, reduce_any(AsBool(x), ReduceDims(c, 1, x)));
}
Value AllDimsTrue(Call& c) {
  Value x = c.tensor(0);
  const auto dims = c.opt_ints(1);
  if (dims && dims->empty()) return AsBool(x);
  return ToOut(c, reduce_all(AsBool(x), ReduceDims(c, 1, x)));
}

// count_nonzero(self, dim?) and count_nonzero.dim_IntList(self, dim[])
Value CountNonzero(Call& c) {
  Value x = c.tensor(0);
  return ToOut(c, reduce_sum(convert(AsBool(x), DType::kS64), ReduceDims(c, 1, x)));
}

// {variance, mean} of (self, dim[]?, correction?, keepdim), dims kept out.
std::pair<Value, Value> VarMean(Call& c) {
  const DType dtype = c.tensor(0).dtype();
  if (!IsFloat(dtype) && !IsComplex(dtype)) {
    throw shlo::BuildError("std and var only support floating point and complex dtypes");
  }
  Value x = opmath(c.tensor(0));
  const Dims dims = ReduceDims(c, 1, x);
  Value mean = reshape(MeanOver(x, dims), reduce_sum(x, dims, /*keepdim=*/true).dims());
  Value d = x - broadcast_to(mean, x.dims());
  Value squares = IsComplex(x.dtype()) ? real(d) * real(d) + imag(d) * imag(d) : d * d;
  Value sum = reduce_sum(squares, dims);
  const double n = static_cast<double>(CountOver(x, dims));
  // More correction than elements divides by zero, as in PyTorch.
  Value divisor = c.has(2) ? n - convert(c.number(2), sum.dtype())
                           : shlo::scalar(c.builder(), n - 1, sum.dtype());
  return {sum / max(divisor, full_like(divisor, 0)), mean};
}

Value Var(Call& c) { return ToOut(c, VarMean(c).first); }
Value Std(Call& c) { return ToOut(c, sqrt(VarMean(c).first)); }
Results VarAndMean(Call& c) {
  auto [var, mean] = VarMean(c);
  return {ToOut(c, var, 0), ToOut(c, mean, 1)};
}
Results StdAndMean(Call& c) {
  auto [var, mean] = VarMean(c);
  return {ToOut(c, sqrt(var), 0), ToOut(c, mean, 1)};
}

// trace(self)
Value Trace(Call& c) {
  Value x = Accumulated(c);
  Value diagonal = index_like(x, 0, DType::kS32) == index_like(x, 1, DType::kS32);
  return reduce_sum(where(diagonal, x, 0.0), {0, 1});
}

LOWER("aten::sum", Sum);
LOWER("aten::sum.dim_IntList", SumDims);
LOWER("aten::nansum", NanSum);
LOWER("aten::prod", Prod);
LOWER("aten::prod.dim_int", ProdDim);
LOWER("aten::mean", Mean);
LOWER("aten::mean.dim", MeanDims);
LOWER("aten::amax", Amax);
LOWER("aten::amin", Amin);
LOWER("aten::max", MaxAll);
LOWER("aten::min", MinAll);
LOWER("aten::aminmax", AminMax);
LOWER("aten::_aminmax", AminMax, {.shape = AminMaxShape});
LOWER("aten::any", Any);
LOWER("aten::any.dim", AnyDims);
LOWER("aten::any.dims", AnyDims);
LOWER("aten::all", All);
LOWER("aten::all.dim", AllDimsTrue);
LOWER("aten::all.dims", AllDimsTrue);
LOWER("aten::count_nonzero", CountNonzero);
LOWER("aten::var.correction", Var);
LOWER("aten::std.correction", Std);
LOWER("aten::var_mean.correction", VarAndMean);
LOWER("aten::std_mean.correction", StdAndMean);
LOWER("aten::trace", Trace);

}  // namespace
}  // namespace torch_tpu::ops
