// Elementwise ops: one output element from the elements at the same place.
#include "shlo/attributes.h"
#include "shlo/check.h"
#include "shlo/ops.h"

namespace torch_tpu::shlo {
namespace {

constexpr unsigned kFloatOrComplex = kFloatKind | kComplexKind;
constexpr unsigned kNumber = kIntegerKind | kFloatKind | kComplexKind;

Value Unary(std::string_view op, Value operand, unsigned kinds) {
  CheckKind(op, "operand", operand, kinds);
  return operand.builder().Emit1(op, {operand}, {}, operand.type());
}

Value Binary(std::string_view op, Value lhs, Value rhs, unsigned kinds) {
  CheckSameType(op, lhs, rhs);
  CheckKind(op, "operands", lhs, kinds);
  return lhs.builder().Emit1(op, {lhs, rhs}, {}, lhs.type());
}

// A float predicate: i1 result of the operand's dims.
Value Test(std::string_view op, Value operand) {
  CheckKind(op, "operand", operand, kFloatKind);
  return operand.builder().Emit1(op, {operand}, {}, {DType::kPred, operand.dims()});
}

// Numbers too large for f8E4M3FN, infinity among them, become its largest: PyTorch's conversion.
// The other float8 dtypes follow StableHLO's.
Value WithinFloat8E4M3FN(Value operand) {
  constexpr int64_t kLargest = 448;
  const DType dtype = operand.dtype();
  const bool wider = DTypeSize(dtype) > 1 || dtype == DType::kF8E5M2 || dtype == DType::kF8E5M2FNUZ;
  if (!wider) return operand;
  const auto limit = [&](int64_t value) { return constant(operand.builder(), value, {dtype, {}}); };
  return clamp(limit(KindOf(dtype) == kUnsignedKind ? 0 : -kLargest), operand, limit(kLargest));
}

}  // namespace

#define UNARY(name, kinds) \
  Value name(Value operand) { return Unary("stablehlo." #name, operand, kinds); }
UNARY(cbrt, kFloatOrComplex)
UNARY(ceil, kFloatKind)
UNARY(cosine, kFloatOrComplex)
UNARY(count_leading_zeros, kIntegerKind)
UNARY(exponential, kFloatOrComplex)
UNARY(exponential_minus_one, kFloatOrComplex)
UNARY(floor, kFloatKind)
UNARY(log, kFloatOrComplex)
UNARY(log_plus_one, kFloatOrComplex)
UNARY(logistic, kFloatOrComplex)
UNARY(negate, kNumber)
UNARY(popcnt, kIntegerKind)
UNARY(round_nearest_afz, kFloatKind)
UNARY(round_nearest_even, kFloatKind)
UNARY(rsqrt, kFloatOrComplex)
UNARY(sign, kSignedKind | kFloatOrComplex)
UNARY(sine, kFloatOrComplex)
UNARY(sqrt, kFloatOrComplex)
UNARY(tan, kFloatOrComplex)
UNARY(tanh, kFloatOrComplex)
#undef UNARY

Value abs(Value operand) {
  constexpr std::string_view kOp = "stablehlo.abs";
  CheckKind(kOp, "operand", operand, kSignedKind | kFloatOrComplex);
  return operand.builder().Emit1(kOp, {operand}, {}, {RealType(operand.dtype()), operand.dims()});
}

Value not_(Value operand) { return Unary("stablehlo.not", operand, kPredKind | kIntegerKind); }

Value is_finite(Value operand) { return Test("stablehlo.is_finite", operand); }

Value real(Value operand) {
  if (IsFloat(operand.dtype())) return operand;
  CheckKind("stablehlo.real", "operand", operand, kFloatOrComplex);
  return operand.builder().Emit1("stablehlo.real", {operand}, {},
                                 {RealType(operand.dtype()), operand.dims()});
}

Value imag(Value operand) {
  if (IsFloat(operand.dtype())) return constant(operand.builder(), 0, operand.type());
  CheckKind("stablehlo.imag", "operand", operand, kFloatOrComplex);
  return operand.builder().Emit1("stablehlo.imag", {operand}, {},
                                 {RealType(operand.dtype()), operand.dims()});
}

Value convert(Value operand, DType dtype) {
  if (operand.dtype() == dtype) return operand;
  KindOf(dtype);
  if (IsComplex(operand.dtype()) && !IsComplex(dtype)) {
    // StableHLO has no conversion from complex. PyTorch's drops the imaginary part, except to bool.
    if (dtype == DType::kPred) {
      Builder& b = operand.builder();
      return compare(operand, constant(b, 0, operand.type()), Direction::kNe);
    }
    return convert(real(operand), dtype);
  }
  // Before a flattening of the operand: a reshape of the result can then undo it.
  const Dims dims = operand.dims();
  if (Value whole = Unreshaped(operand); MergedDims(whole.dims(), dims)) operand = whole;
  if (dtype == DType::kF8E4M3FN) operand = WithinFloat8E4M3FN(operand);
  return reshape(
      operand.builder().Emit1("stablehlo.convert", {operand}, {}, {dtype, operand.dims()}), dims);
}

Value bitcast_convert(Value operand, DType dtype) {
  constexpr std::string_view kOp = "stablehlo.bitcast_convert";
  if (operand.dtype() == dtype) return operand;
  CheckKind(kOp, "operand", operand, kAnyKind & ~kPredKind);
  if (dtype == DType::kPred || IsComplex(dtype) != IsComplex(operand.dtype())) {
    Fail(kOp, operand.type().ToString() + " cannot be reinterpreted as " +
                  std::string(DTypeName(dtype)));
  }
  TensorType result{dtype, operand.dims()};
  int64_t from = DTypeSize(operand.dtype()), to = DTypeSize(dtype);
  if (from > to) result.dims.push_back(from / to);
  if (from < to) {
    if (operand.rank() == 0 || operand.dim(-1) != to / from) {
      Fail(kOp, "the last dimension must be " + std::to_string(to / from) + " to become " +
                    std::string(DTypeName(dtype)) + ", got " + operand.type().ToString());
    }
    result.dims.pop_back();
  }
  return operand.builder().Emit1(kOp, {operand}, {}, std::move(result));
}

Value reduce_precision(Value operand, int exponent_bits, int mantissa_bits) {
  constexpr std::string_view kOp = "stablehlo.reduce_precision";
  CheckKind(kOp, "operand", operand, kFloatKind);
  if (exponent_bits < 1 || mantissa_bits < 0) {
    Fail(kOp, "needs at least 1 exponent bit and 0 mantissa bits, got " +
                  std::to_string(exponent_bits) + " and " + std::to_string(mantissa_bits));
  }
  return operand.builder().Emit1(kOp, {operand},
                                 {{"exponent_bits", std::to_string(exponent_bits) + " : i32"},
                                  {"mantissa_bits", std::to_string(mantissa_bits) + " : i32"}},
                                 operand.type());
}

#define UNARY(name, kinds) \
  Value name(Value operand) { return Unary("chlo." #name, operand, kinds); }
UNARY(acos, kFloatOrComplex)
UNARY(acosh, kFloatOrComplex)
UNARY(asin, kFloatOrComplex)
UNARY(asinh, kFloatOrComplex)
UNARY(atan, kFloatOrComplex)
UNARY(atanh, kFloatOrComplex)
UNARY(bessel_i1e, kFloatKind)
UNARY(cosh, kFloatOrComplex)
UNARY(digamma, kFloatKind)
UNARY(erf, kFloatKind)
UNARY(erf_inv, kFloatKind)
UNARY(erfc, kFloatKind)
UNARY(lgamma, kFloatKind)
UNARY(sinh, kFloatOrComplex)
#undef UNARY

Value is_inf(Value operand) { return Test("chlo.is_inf", operand); }
Value is_neg_inf(Value operand) { return Test("chlo.is_neg_inf", operand); }
Value is_pos_inf(Value operand) { return Test("chlo.is_pos_inf", operand); }

#define BINARY(name, kinds) \
  Value name(Value lhs, Value rhs) { return Binary("stablehlo." #name, lhs, rhs, kinds); }
BINARY(add, kAnyKind)
BINARY(atan2, kFloatOrComplex)
BINARY(divide, kNumber)
BINARY(maximum, kAnyKind & ~kComplexKind)
BINARY(minimum, kAnyKind & ~kComplexKind)
BINARY(multiply, kAnyKind)
BINARY(power, kNumber)
BINARY(remainder, kIntegerKind | kFloatKind)
BINARY(subtract, kNumber)
BINARY(shift_left, kIntegerKind)
BINARY(shift_right_arithmetic, kIntegerKind)
BINARY(shift_right_logical, kIntegerKind)
#undef BINARY

Value and_(Value lhs, Value rhs) {
  return Binary("stablehlo.and", lhs, rhs, kPredKind | kIntegerKind);
}
Value or_(Value lhs, Value rhs) {
  return Binary("stablehlo.or", lhs, rhs, kPredKind | kIntegerKind);
}
Value xor_(Value lhs, Value rhs) {
  return Binary("stablehlo.xor", lhs, rhs, kPredKind | kIntegerKind);
}
Value next_after(Value lhs, Value rhs) { return Binary("chlo.next_after", lhs, rhs, kFloatKind); }
Value polygamma(Value n, Value x) { return Binary("chlo.polygamma", n, x, kFloatKind); }
Value zeta(Value x, Value q) { return Binary("chlo.zeta", x, q, kFloatKind); }

Value complex(Value re, Value im) {
  constexpr std::string_view kOp = "stablehlo.complex";
  CheckSameType(kOp, re, im);
  DType dtype = ComplexType(re.dtype());
  if (dtype == DType::kInvalid)
    Fail(kOp, "operands must be f32 or f64, got " + re.type().ToString());
  return re.builder().Emit1(kOp, {re, im}, {}, {dtype, re.dims()});
}

Value compare(Value lhs, Value rhs, Direction direction, bool total_order) {
  constexpr std::string_view kOp = "stablehlo.compare";
  constexpr std::string_view kNames[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  CheckSameType(kOp, lhs, rhs);
  bool ordered = direction != Direction::kEq && direction != Direction::kNe;
  if (IsComplex(lhs.dtype()) && ordered)
    Fail(kOp, "complex numbers have no order, got " + lhs.type().ToString());
  std::string_view type = "UNSIGNED";
  if (IsSigned(lhs.dtype())) type = "SIGNED";
  if (IsFloat(lhs.dtype()) || IsComplex(lhs.dtype())) type = "FLOAT";
  if (total_order) {
    CheckKind(kOp, "operands of a total order", lhs, kFloatKind);
    type = "TOTALORDER";
  }
  return lhs.builder().Emit1(
      kOp, {lhs, rhs},
      {{"comparison_direction",
        EnumText("comparison_direction", kNames[static_cast<int>(direction)])},
       {"compare_type", EnumText("comparison_type", type)}},
      {DType::kPred, lhs.dims()});
}

Value select(Value pred, Value on_true, Value on_false) {
  constexpr std::string_view kOp = "stablehlo.select";
  CheckSameType(kOp, on_true, on_false);
  if (pred.dtype() != DType::kPred || (pred.rank() != 0 && pred.dims() != on_true.dims())) {
    Fail(kOp, "pred must be i1 of rank 0 or of dims " + DimsToString(on_true.dims()) + ", got " +
                  pred.type().ToString());
  }
  return pred.builder().Emit1(kOp, {pred, on_true, on_false}, {}, on_true.type());
}

Value clamp(Value min, Value operand, Value max) {
  constexpr std::string_view kOp = "stablehlo.clamp";
  CheckKind(kOp, "operand", operand, kAnyKind & ~kComplexKind);
  for (Value bound : {min, max}) {
    if (bound.dtype() != operand.dtype() || (bound.rank() != 0 && bound.dims() != operand.dims())) {
      Fail(kOp, "bounds of " + operand.type().ToString() +
                    " must have its element type and rank 0 or its dims, got " +
                    bound.type().ToString());
    }
  }
  return operand.builder().Emit1(kOp, {min, operand, max}, {}, operand.type());
}

}  // namespace torch_tpu::shlo
