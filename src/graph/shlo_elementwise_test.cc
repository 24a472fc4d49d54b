// Every elementwise op compiles on the plugin and computes what its name says.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/program_runner_test.h"

namespace torch_tpu::graph {
namespace {

using shlo::Builder;
using shlo::TensorType;
using shlo::Value;
using Args = std::span<const Value>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct UnaryCase {
  const char* name;
  Value (*op)(Value);
  double (*reference)(double);
};

// Runs all cases in one program over `inputs` in f64 and compares with the C library.
void CheckUnary(const std::vector<UnaryCase>& cases, const std::vector<double>& inputs) {
  TestTensor in{{DType::kF64, {static_cast<int64_t>(inputs.size())}}, inputs};
  auto results = RunProgram({in}, [&](Builder&, Args a) {
    std::vector<Value> out;
    for (const UnaryCase& c : cases) out.push_back(c.op(a[0]));
    return out;
  });
  for (size_t k = 0; k < cases.size(); ++k) {
    std::vector<double> expected;
    for (double x : inputs) expected.push_back(cases[k].reference(x));
    ExpectValues(results[k].values, expected, 1e-6, cases[k].name);
  }
}

TEST(ShloElementwiseTest, UnaryFloatOps) {
  CheckUnary(
      {{"abs", shlo::abs, std::fabs},
       {"cbrt", shlo::cbrt, std::cbrt},
       {"ceil", shlo::ceil, std::ceil},
       {"cosine", shlo::cosine, std::cos},
       {"exponential", shlo::exponential, std::exp},
       {"exponential_minus_one", shlo::exponential_minus_one, std::expm1},
       {"floor", shlo::floor, std::floor},
       {"logistic", shlo::logistic, [](double x) { return 1 / (1 + std::exp(-x)); }},
       {"negate", shlo::negate, [](double x) { return -x; }},
       {"round_nearest_afz", shlo::round_nearest_afz, std::round},
       {"round_nearest_even", shlo::round_nearest_even, std::nearbyint},
       {"sign", shlo::sign, [](double x) { return std::isnan(x) ? x : double((x > 0) - (x < 0)); }},
       {"sine", shlo::sine, std::sin},
       {"tan", shlo::tan, std::tan},
       {"tanh", shlo::tanh, std::tanh},
       {"asinh", shlo::asinh, std::asinh},
       {"atan", shlo::atan, std::atan},
       {"cosh", shlo::cosh, std::cosh},
       {"erf", shlo::erf, std::erf},
       {"erfc", shlo::erfc, std::erfc},
       {"sinh", shlo::sinh, std::sinh}},
      {-2.5, -1.5, -0.5, 0, 0.3, 0.5, 2, kNan});
}

TEST(ShloElementwiseTest, UnaryFloatOpsOnPartOfTheLine) {
  CheckUnary({{"log", shlo::log, std::log},
              {"log_plus_one", shlo::log_plus_one, std::log1p},
              {"rsqrt", shlo::rsqrt, [](double x) { return 1 / std::sqrt(x); }},
              {"sqrt", shlo::sqrt, std::sqrt},
              {"lgamma", shlo::lgamma, std::lgamma}},
             {0.25, 1, 3.5, kInf, kNan});
  CheckUnary({{"acos", shlo::acos, std::acos},
              {"asin", shlo::asin, std::asin},
              {"atanh", shlo::atanh, std::atanh}},
             {-0.9, 0, 0.5, kNan});
  CheckUnary({{"acosh", shlo::acosh, std::acosh}}, {1, 1.5, 10, kNan});
}

TEST(ShloElementwiseTest, SpecialFunctionsAtKnownPoints) {
  auto results = RunProgram({Vector({1, 2}), Vector({0.5, 0.25})}, [](Builder& b, Args a) {
    Value one = shlo::full_like(a[0], 1);
    return std::vector<Value>{
        shlo::digamma(a[0]),
        shlo::erf_inv(a[1]),
        shlo::bessel_i1e(a[0]),
        shlo::zeta(a[0] + 1.0, one),
        shlo::polygamma(one, a[0]),
        shlo::next_after(a[0], shlo::scalar(b, 3.0, DType::kF32) + (a[0] * 0.0))};
  });
  ExpectValues(results[0].values, {-0.5772156649, 0.4227843351}, 1e-5, "digamma");
  ExpectValues(results[1].values, {0.4769362762, 0.2253120550}, 1e-5, "erf_inv");
  ExpectValues(results[2].values, {0.2079104154, 0.2152692893}, 1e-5, "bessel_i1e");
  ExpectValues(results[3].values, {1.6449340668, 1.2020569032}, 1e-5, "zeta");
  ExpectValues(results[4].values, {1.6449340668, 0.6449340668}, 1e-5, "polygamma");
  ExpectValues(results[5].values, {std::nextafter(1.0f, 3.0f), std::nextafter(2.0f, 3.0f)}, 0,
               "next_after");
}

TEST(ShloElementwiseTest, Predicates) {
  auto results = RunProgram({Vector({-kInf, kInf, kNan, 0})}, [](Builder&, Args a) {
    return std::vector<Value>{shlo::is_finite(a[0]), shlo::is_inf(a[0]), shlo::is_neg_inf(a[0]),
                              shlo::is_pos_inf(a[0]), shlo::is_nan(a[0])};
  });
  ExpectValues(results[0].values, {0, 0, 0, 1}, 0, "is_finite");
  ExpectValues(results[1].values, {1, 1, 0, 0}, 0, "is_inf");
  ExpectValues(results[2].values, {1, 0, 0, 0}, 0, "is_neg_inf");
  ExpectValues(results[3].values, {0, 1, 0, 0}, 0, "is_pos_inf");
  ExpectValues(results[4].values, {0, 0, 1, 0}, 0, "is_nan");
}

TEST(ShloElementwiseTest, BinaryFloatOps) {
  auto results = RunProgram({Vector({7, -7, 2}), Vector({2, 2, 0.5})}, [](Builder&, Args a) {
    return std::vector<Value>{a[0] + a[1],
                              a[0] - a[1],
                              a[0] * a[1],
                              a[0] / a[1],
                              shlo::atan2(a[0], a[1]),
                              shlo::power(a[0], a[1]),
                              shlo::remainder(a[0], a[1])};
  });
  ExpectValues(results[0].values, {9, -5, 2.5}, 0, "add");
  ExpectValues(results[1].values, {5, -9, 1.5}, 0, "subtract");
  ExpectValues(results[2].values, {14, -14, 1}, 0, "multiply");
  ExpectValues(results[3].values, {3.5, -3.5, 4}, 0, "divide");
  ExpectValues(results[4].values, {std::atan2(7, 2), std::atan2(-7, 2), std::atan2(2, 0.5)}, 1e-6,
               "atan2");
  ExpectValues(results[5].values, {49, 49, std::sqrt(2)}, 1e-6, "power");
  ExpectValues(results[6].values, {1, -1, 0}, 0, "remainder has the dividend's sign");
}

TEST(ShloElementwiseTest, IntegerOps) {
  TestTensor x{{DType::kS32, {3}}, {-8, 12, 5}}, y{{DType::kS32, {3}}, {1, 2, 3}};
  auto results = RunProgram({x, y}, [](Builder&, Args a) {
    return std::vector<Value>{shlo::shift_left(a[0], a[1]),
                              shlo::shift_right_arithmetic(a[0], a[1]),
                              shlo::shift_right_logical(a[0], a[1]),
                              a[0] & a[1],
                              a[0] | a[1],
                              a[0] ^ a[1],
                              shlo::not_(a[0]),
                              shlo::popcnt(a[1]),
                              shlo::count_leading_zeros(a[1]),
                              a[0] / a[1],
                              shlo::power(a[0], a[1]),
                              shlo::sign(a[0])};
  });
  ExpectValues(results[0].values, {-16, 48, 40}, 0, "shift_left");
  ExpectValues(results[1].values, {-4, 3, 0}, 0, "shift_right_arithmetic");
  ExpectValues(results[2].values, {2147483644, 3, 0}, 0, "shift_right_logical");
  ExpectValues(results[3].values, {0, 0, 1}, 0, "and");
  ExpectValues(results[4].values, {-7, 14, 7}, 0, "or");
  ExpectValues(results[5].values, {-7, 14, 6}, 0, "xor");
  ExpectValues(results[6].values, {7, -13, -6}, 0, "not");
  ExpectValues(results[7].values, {1, 1, 2}, 0, "popcnt");
  ExpectValues(results[8].values, {31, 30, 30}, 0, "count_leading_zeros");
  ExpectValues(results[9].values, {-8, 6, 1}, 0, "divide truncates");
  ExpectValues(results[10].values, {-8, 144, 125}, 0, "power");
  ExpectValues(results[11].values, {-1, 1, 1}, 0, "sign");
}

TEST(ShloElementwiseTest, ComplexNumbers) {
  TestTensor z{{DType::kC64, {2}}, {3, 4, 0, -1}};
  auto results = RunProgram({z}, [](Builder&, Args a) {
    return std::vector<Value>{shlo::abs(a[0]),
                              shlo::real(a[0]),
                              shlo::imag(a[0]),
                              shlo::complex(shlo::imag(a[0]), shlo::real(a[0])),
                              a[0] * a[0],
                              a[0] == a[0],
                              shlo::convert(a[0], DType::kF32),
                              shlo::convert(a[0], DType::kPred),
                              shlo::convert(a[0], DType::kC128)};
  });
  ExpectValues(results[0].values, {5, 1}, 0, "abs");
  ExpectValues(results[1].values, {3, 0}, 0, "real");
  ExpectValues(results[2].values, {4, -1}, 0, "imag");
  ExpectValues(results[3].values, {4, 3, -1, 0}, 0, "complex");
  ExpectValues(results[4].values, {-7, 24, -1, 0}, 0, "multiply");
  ExpectValues(results[5].values, {1, 1}, 0, "compare");
  ExpectValues(results[6].values, {3, 0}, 0, "to real");
  ExpectValues(results[7].values, {1, 1}, 0, "to bool");
  ExpectValues(results[8].values, {3, 4, 0, -1}, 0, "to complex<f64>");
}

TEST(ShloElementwiseTest, ComplexNanIsNan) {
  TestTensor z{{DType::kC64, {3}}, {kNan, 0, 0, kNan, 1, 1}};
  ExpectValues(RunOne({z}, [](Builder&, Args a) { return shlo::is_nan(a[0]); }), {1, 1, 0}, 0,
               "is_nan");
}

TEST(ShloElementwiseTest, Conversions) {
  auto results = RunProgram({Vector({kNan, -2.7, 0, 0.4})}, [](Builder&, Args a) {
    Value zero_nan = shlo::where(shlo::is_nan(a[0]), 0.0, a[0]);
    std::vector<Value> out = {shlo::convert(a[0], DType::kPred),
                              shlo::convert(zero_nan, DType::kS32)};
    for (DType d : {DType::kF16, DType::kBF16, DType::kF8E4M3FN, DType::kF8E5M2, DType::kF8E4M3FNUZ,
                    DType::kF8E5M2FNUZ}) {
      out.push_back(shlo::convert(shlo::convert(a[0], d), DType::kF32));
    }
    out.push_back(shlo::convert(shlo::convert(a[0], DType::kPred), DType::kF32));
    out.push_back(shlo::convert(a[0], DType::kC64));
    return out;
  });
  ExpectValues(results[0].values, {1, 1, 0, 1}, 0, "float to bool is x != 0, NaN true");
  ExpectValues(results[1].values, {0, -2, 0, 0}, 0, "float to int truncates");
  ExpectValues(results[2].values, {kNan, -2.69921875, 0, 0.39990234375}, 0, "f16");
  ExpectValues(results[3].values, {kNan, -2.703125, 0, 0.400390625}, 0, "bf16");
  ExpectValues(results[4].values, {kNan, -2.75, 0, 0.40625}, 0, "f8E4M3FN");
  ExpectValues(results[5].values, {kNan, -2.5, 0, 0.375}, 0, "f8E5M2");
  ExpectValues(results[6].values, {kNan, -2.75, 0, 0.40625}, 0, "f8E4M3FNUZ");
  ExpectValues(results[7].values, {kNan, -2.5, 0, 0.375}, 0, "f8E5M2FNUZ");
  ExpectValues(results[8].values, {1, 1, 0, 1}, 0, "bool to float");
  ExpectValues(results[9].values, {kNan, 0, -2.700000047683716, 0, 0, 0, 0.4000000059604645, 0}, 0,
               "to complex");
}

TEST(ShloElementwiseTest, BitsAndPrecision) {
  auto results = RunProgram({Vector({1, 2})}, [](Builder&, Args a) {
    Value bytes = shlo::bitcast_convert(a[0], DType::kU8);
    return std::vector<Value>{shlo::bitcast_convert(a[0], DType::kU32), bytes,
                              shlo::bitcast_convert(bytes, DType::kF32),
                              shlo::reduce_precision(a[0] + 0.001, 5, 2)};
  });
  ExpectValues(results[0].values, {1065353216, 1073741824}, 0, "as ui32");
  ExpectValues(results[1].values, {0, 0, 128, 63, 0, 0, 0, 64}, 0, "as bytes");
  EXPECT_EQ(results[1].type.dims, (Dims{2, 4}));
  ExpectValues(results[2].values, {1, 2}, 0, "back");
  ExpectValues(results[3].values, {1, 2}, 0, "reduce_precision");
}

TEST(ShloElementwiseTest, CompareSelectClamp) {
  auto results = RunProgram({Vector({1, kNan, 3}), Vector({2, 2, 3})}, [](Builder& b, Args a) {
    Value one = shlo::scalar(b, 1.5, DType::kF32), two = shlo::scalar(b, 2.5, DType::kF32);
    return std::vector<Value>{a[0] == a[1],
                              a[0] != a[1],
                              a[0]<a[1], a[0] <= a[1], a[0]>
                                  a[1],
                              a[0] >= a[1],
                              shlo::compare(a[0], a[1], shlo::Direction::kGt, true),
                              shlo::where(a[0] < a[1], a[0], a[1]),
                              shlo::clamp(one, a[0], two),
                              !(a[0] < a[1])};
  });
  ExpectValues(results[0].values, {0, 0, 1}, 0, "==");
  ExpectValues(results[1].values, {1, 1, 0}, 0, "!=");
  ExpectValues(results[2].values, {1, 0, 0}, 0, "<");
  ExpectValues(results[3].values, {1, 0, 1}, 0, "<=");
  ExpectValues(results[4].values, {0, 0, 0}, 0, ">");
  ExpectValues(results[5].values, {0, 0, 1}, 0, ">=");
  ExpectValues(results[6].values, {0, 1, 0}, 0, "total order puts NaN last");
  ExpectValues(results[7].values, {1, 2, 3}, 0, "where");
  ExpectValues(results[8].values, {1.5, kNan, 2.5}, 0, "clamp keeps NaN");
  ExpectValues(results[9].values, {0, 1, 1}, 0, "!");
}

// PyTorch keeps a NaN from either side, and so must scalars, short and long vectors of every float
// type.
TEST(ShloElementwiseTest, MaxAndMinKeepNan) {
  const std::vector<DType> types = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16,
                                    DType::kF8E5M2};
  for (int64_t n : {1, 3, 37}) {
    std::vector<double> x(n, 1), y(n, 2), expected(n, kNan);
    for (int64_t i = 0; i < n; ++i) (i % 2 == 0 ? x : y)[i] = kNan;
    auto results = RunProgram({Vector(x), Vector(y)}, [&](Builder&, Args a) {
      std::vector<Value> out;
      for (DType dtype : types) {
        Value l = shlo::convert(a[0], dtype), r = shlo::convert(a[1], dtype);
        for (Value v : {shlo::max(l, r), shlo::min(l, r), shlo::max(r, l), shlo::min(r, l)}) {
          out.push_back(shlo::convert(v, DType::kF32));
        }
      }
      return out;
    });
    for (size_t i = 0; i < results.size(); ++i) {
      ExpectValues(results[i].values, expected, 0,
                   std::string(DTypeName(types[i / 4])) + " " + std::to_string(i % 4));
    }
  }
}

TEST(ShloElementwiseTest, BoolMaxIsOrAndUnsignedOrderIsUnsigned) {
  TestTensor p{{DType::kPred, {2}}, {0, 1}}, q{{DType::kPred, {2}}, {0, 0}};
  TestTensor u{{DType::kU8, {2}}, {200, 3}}, w{{DType::kU8, {2}}, {100, 4}};
  auto results = RunProgram({p, q, u, w}, [](Builder&, Args a) {
    return std::vector<Value>{shlo::max(a[0], a[1]),
                              shlo::min(a[0], a[1]),
                              shlo::max(a[2], a[3]),
                              a[2] < a[3],
                              a[2] + a[3],
                              a[0] < a[1],
                              shlo::convert(a[0] + a[0], DType::kS32)};
  });
  ExpectValues(results[0].values, {0, 1}, 0, "max of bool");
  ExpectValues(results[1].values, {0, 0}, 0, "min of bool");
  ExpectValues(results[2].values, {200, 4}, 0, "max of ui8");
  ExpectValues(results[3].values, {0, 1}, 0, "< of ui8");
  ExpectValues(results[4].values, {44, 7}, 0, "ui8 wraps");
  ExpectValues(results[5].values, {0, 0}, 0, "< of bool");
  ExpectValues(results[6].values, {0, 1}, 0, "add of bool is or");
}

}  // namespace
}  // namespace torch_tpu::graph
