// Ops with structure (shapes, regions, products, indices) compile on the plugin and compute what
// their names say.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "graph/program_runner_test.h"

namespace torch_tpu::graph {
namespace {

using shlo::Builder;
using shlo::TensorType;
using shlo::Value;
using Args = std::span<const Value>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// first, first + 1, ... as f32 of the given dims.
TestTensor Counting(Dims dims, double first = 0) {
  std::vector<double> values(NumElements(dims));
  std::iota(values.begin(), values.end(), first);
  return {{DType::kF32, std::move(dims)}, std::move(values)};
}

TestTensor Integers(Dims dims, std::vector<double> values) {
  return {{DType::kS32, std::move(dims)}, std::move(values)};
}

// --- constants ----------------------------------------------------------------------------------

TEST(ShloConstantTest, EveryTypePrintsAndReadsBack) {
  auto results = RunProgram({}, [](Builder& b, Args) {
    std::vector<Value> out;
    for (DType d : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64, DType::kF8E4M3FN,
                    DType::kF8E5M2, DType::kF8E4M3FNUZ, DType::kF8E5M2FNUZ}) {
      for (double v : {1.5, -0.0, 1e-3, kNan, 240.0})
        out.push_back(shlo::convert(shlo::scalar(b, v, d), DType::kF64));
    }
    return out;
  });
  const double kThousandths[] = {
      0.0010004043579101562, 0.00099945068359375, 0.0010000000474974513, 0.001,
      0.001953125,           0.0009765625,        0.0009765625,          0.0009765625};
  for (int d = 0; d < 8; ++d) {
    EXPECT_EQ(results[5 * d].values[0], 1.5) << d;
    EXPECT_EQ(results[5 * d + 1].values[0], 0) << d;
    EXPECT_TRUE(std::signbit(results[5 * d + 1].values[0]) || d >= 6)
        << d;  // the FNUZ types have no -0
    EXPECT_EQ(results[5 * d + 2].values[0], kThousandths[d]) << d;
    EXPECT_TRUE(std::isnan(results[5 * d + 3].values[0])) << d;
  }
  EXPECT_EQ(results[4].values[0], 240);
  EXPECT_EQ(results[24].values[0], 240) << "f8E4M3FN";
}

TEST(ShloConstantTest, LimitsOfEveryType) {
  const std::vector<DType> types = {DType::kPred, DType::kS8,  DType::kS16, DType::kS32,
                                    DType::kU8,   DType::kU16, DType::kU32, DType::kF16,
                                    DType::kBF16, DType::kF32, DType::kF64};
  auto results = RunProgram({}, [&](Builder& b, Args) {
    std::vector<Value> out;
    for (DType d : types) {
      out.push_back(shlo::convert(shlo::max_value(b, d), DType::kF64));
      out.push_back(shlo::convert(shlo::min_value(b, d), DType::kF64));
    }
    out.push_back(shlo::max_value(b, DType::kU64) ==
                  shlo::scalar(b, 18446744073709551615.0 - 2048, DType::kU64));
    out.push_back(shlo::convert(
        shlo::max_value(b, DType::kS64) + shlo::scalar(b, int64_t{1}, DType::kS64), DType::kF64));
    out.push_back(shlo::max_value(b, DType::kU64) + shlo::scalar(b, int64_t{2}, DType::kU64));
    return out;
  });
  const double kExpected[] = {
      1,    0,     127,   -128,  32767,        -32768, 2147483647, -2147483648.0,
      255,  0,     65535, 0,     4294967295.0, 0,      kInf,       -kInf,
      kInf, -kInf, kInf,  -kInf, kInf,         -kInf};
  for (size_t i = 0; i < std::size(kExpected); ++i)
    EXPECT_EQ(results[i].values[0], kExpected[i]) << i;
  EXPECT_EQ(results[22].values[0], 0);
  EXPECT_EQ(results[23].values[0], -0x1p63);
  EXPECT_EQ(results[24].values[0], 1);
}

TEST(ShloConstantTest, FloatsAreExact) {
  const std::vector<float> values = {0.1f,        1e-45f, 1.17549435e-38f, 3.4028235e38f,
                                     16777217.0f, 1e10f,  -2.5e-7f,        123456.789f};
  auto results = RunProgram({}, [&](Builder& b, Args) {
    std::vector<Value> out;
    for (float v : values) {
      out.push_back(shlo::bitcast_convert(shlo::scalar(b, double{v}, DType::kF32), DType::kU32));
      out.push_back(shlo::scalar(b, std::sqrt(double{v} * double{v} + 1.0) / 3, DType::kF64));
    }
    return out;
  });
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(results[2 * i].values[0], std::bit_cast<uint32_t>(values[i])) << values[i];
    EXPECT_EQ(results[2 * i + 1].values[0],
              std::sqrt(double{values[i]} * double{values[i]} + 1.0) / 3);
  }
}

TEST(ShloConstantTest, ComplexTablesAndIota) {
  auto results = RunProgram({}, [](Builder& b, Args) {
    const int64_t integers[] = {3, -1};
    const double floats[] = {0.5, kInf};
    return std::vector<Value>{shlo::constant(b, std::complex<double>(1, -kInf), {DType::kC64, {2}}),
                              shlo::constant(b, integers, DType::kS64),
                              shlo::constant(b, floats, DType::kF32),
                              shlo::constant(b, std::span<const int64_t>(), DType::kS32),
                              shlo::constant(b, 7, {DType::kF32, {0, 2}}),
                              shlo::iota(b, 1, {DType::kS32, {2, 3}}),
                              shlo::constant(b, 1, {DType::kPred, {2}})};
  });
  ExpectValues(results[0].values, {1, -kInf, 1, -kInf}, 0, "complex");
  ExpectValues(results[1].values, {3, -1}, 0, "integers");
  ExpectValues(results[2].values, {0.5, kInf}, 0, "floats");
  ExpectValues(results[3].values, {}, 0, "no integers");
  EXPECT_EQ(results[4].type.dims, (Dims{0, 2}));
  ExpectValues(results[5].values, {0, 1, 2, 0, 1, 2}, 0, "iota");
  ExpectValues(results[6].values, {1, 1}, 0, "bool");
}

// --- shape --------------------------------------------------------------------------------------

TEST(ShloShapeTest, MovesElements) {
  auto results = RunProgram({Counting({2, 3})}, [](Builder& b, Args a) {
    Value zero = shlo::scalar(b, 9.0, DType::kF32);
    Value one = shlo::scalar(b, int64_t{1}, DType::kS64);
    std::vector<Value> starts = {one, one}, pair = {a[0], a[0]};
    return std::vector<Value>{
        shlo::broadcast_to(shlo::slice_dim(a[0], 0, 1, 2), {2, 2, 3}),
        shlo::reshape(a[0], {3, 2}),
        shlo::transpose(a[0], {1, 0}),
        shlo::slice(a[0], {0, 0}, {2, 3}, {1, 2}),
        shlo::dynamic_slice(a[0], starts, {1, 2}),
        shlo::dynamic_update_slice(a[0], shlo::constant(b, 9, {DType::kF32, {1, 2}}), starts),
        shlo::pad(a[0], zero, {1, -1}, {0, 1}, {0, 1}),
        shlo::concatenate(pair, 1),
        shlo::reverse(a[0], {1})};
  });
  ExpectValues(results[0].values, {3, 4, 5, 3, 4, 5, 3, 4, 5, 3, 4, 5}, 0, "broadcast");
  ExpectValues(results[1].values, {0, 1, 2, 3, 4, 5}, 0, "reshape");
  EXPECT_EQ(results[1].type.dims, (Dims{3, 2}));
  ExpectValues(results[2].values, {0, 3, 1, 4, 2, 5}, 0, "transpose");
  ExpectValues(results[3].values, {0, 2, 3, 5}, 0, "slice");
  ExpectValues(results[4].values, {4, 5}, 0, "dynamic_slice");
  ExpectValues(results[5].values, {0, 1, 2, 3, 9, 9}, 0, "dynamic_update_slice");
  ExpectValues(results[6].values, {9, 9, 9, 9, 9, 9, 1, 9, 2, 9, 9, 4, 9, 5, 9}, 0, "pad");
  ExpectValues(results[7].values, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}, 0, "concatenate");
  ExpectValues(results[8].values, {2, 1, 0, 5, 4, 3}, 0, "reverse");
}

TEST(ShloShapeTest, RankZeroAndZeroSizes) {
  auto results =
      RunProgram({Counting({}), Counting({0, 3}), Counting({2, 3})}, [](Builder& b, Args a) {
        Value seven = shlo::scalar(b, 7.0, DType::kF32);
        shlo::DotDims contract{{}, {}, {0}, {0}};
        shlo::ConvDims no_space{0, 1, {}, 1, 0, {}, 0, 1, {}};
        return std::vector<Value>{
            shlo::transpose(shlo::reshape(a[0], {1, 1}), {1, 0}),
            shlo::pad(a[1], seven, {1, 0}, {1, 0}, {0, 0}), shlo::dot_general(a[1], a[1], contract),
            shlo::convolution(a[2], a[2], no_space, {}),
            shlo::sort(a.subspan(1, 1), 0, [](Args v) { return v[0] < v[1]; })[0]};
      });
  ExpectValues(results[0].values, {0}, 0, "one element");
  ExpectValues(results[1].values, {7, 7, 7, 7, 7, 7}, 0, "pad of nothing");
  ExpectValues(results[2].values, std::vector<double>(9, 0), 0, "sum over nothing");
  ExpectValues(results[3].values, {5, 14, 14, 50}, 0, "convolution without space is a product");
  EXPECT_EQ(results[4].type.dims, (Dims{0, 3}));
}

// --- reductions ---------------------------------------------------------------------------------

TEST(ShloReductionTest, OverDims) {
  auto results = RunProgram({Counting({2, 3}, 1)}, [](Builder&, Args a) {
    return std::vector<Value>{shlo::reduce_sum(a[0], {0}),       shlo::reduce_prod(a[0], {-1}),
                              shlo::reduce_max(a[0], {0, 1}),    shlo::reduce_min(a[0], {1}, true),
                              shlo::reduce_any(a[0] > 5.0, {1}), shlo::reduce_all(a[0] > 1.0, {1}),
                              shlo::reduce_sum(a[0], {})};
  });
  ExpectValues(results[0].values, {5, 7, 9}, 0, "sum");
  ExpectValues(results[1].values, {6, 120}, 0, "prod");
  ExpectValues(results[2].values, {6}, 0, "max");
  ExpectValues(results[3].values, {1, 4}, 0, "min");
  EXPECT_EQ(results[3].type.dims, (Dims{2, 1}));
  ExpectValues(results[4].values, {0, 1}, 0, "any");
  ExpectValues(results[5].values, {0, 1}, 0, "all");
  EXPECT_EQ(results[6].type.dims, (Dims{2, 3}));
}

TEST(ShloReductionTest, OfNothingGiveTheIdentity) {
  auto results = RunProgram({Counting({0, 2})}, [](Builder&, Args a) {
    return std::vector<Value>{shlo::reduce_sum(a[0], {0}), shlo::reduce_prod(a[0], {0}),
                              shlo::reduce_max(a[0], {0}), shlo::reduce_min(a[0], {0}),
                              shlo::reduce_any(a[0], {0}), shlo::reduce_all(a[0], {0})};
  });
  const double kExpected[] = {0, 1, -kInf, kInf, 0, 1};
  for (int i = 0; i < 6; ++i)
    ExpectValues(results[i].values, {kExpected[i], kExpected[i]}, 0, std::to_string(i));
}

TEST(ShloReductionTest, MaxAndMinKeepNanWhereverItStands) {
  std::vector<TestTensor> inputs;
  for (int64_t n : {5, 300}) {
    for (int64_t at : {int64_t{0}, n - 1}) {
      inputs.push_back(Vector(std::vector<double>(n, 1)));
      inputs.back().values[at] = kNan;
    }
  }
  for (DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    auto results = RunProgram(inputs, [&](Builder&, Args a) {
      std::vector<Value> out;
      for (Value argument : a) {
        Value v = shlo::convert(argument, dtype);
        Value rows = shlo::broadcast_to(shlo::unsqueeze(v, 1), {v.dim(0), 9});
        for (Value r :
             {shlo::reduce_max(v, {0}), shlo::reduce_min(v, {0}), shlo::reduce_max(rows, {0})}) {
          out.push_back(shlo::convert(r, DType::kF32));
        }
      }
      return out;
    });
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string what = std::string(DTypeName(dtype)) + " " + std::to_string(i);
      ExpectValues(results[i].values, std::vector<double>(results[i].values.size(), kNan), 0, what);
    }
  }
}

TEST(ShloReductionTest, SeveralOperandsAndOuterValues) {
  // argmax: the body compares values and carries positions; `zero` comes from outside the region.
  auto results = RunProgram({Vector({3, 8, 8, 1})}, [](Builder& b, Args a) {
    Value zero = shlo::scalar(b, 0.0, DType::kF32);
    std::vector<Value> operands = {a[0], shlo::index_like(a[0], 0, DType::kS32)};
    std::vector<Value> inits = {shlo::min_value(b, DType::kF32),
                                shlo::scalar(b, int64_t{0}, DType::kS32)};
    return shlo::reduce(operands, inits, {0}, [&](Args v) {
      Value better = (v[2] + zero) > v[0];
      return std::vector<Value>{shlo::where(better, v[2], v[0]), shlo::where(better, v[3], v[1])};
    });
  });
  ExpectValues(results[0].values, {8}, 0, "largest");
  ExpectValues(results[1].values, {1}, 0, "where it stands first");
}

TEST(ShloReductionTest, Windows) {
  auto results = RunProgram({Counting({4})}, [](Builder& b, Args a) {
    Value zero = shlo::scalar(b, 0.0, DType::kF32);
    shlo::Window cumulative{{4}, {1}, {1}, {1}, {3}, {0}}, pairs{{2}, {2}, {1}, {1}, {0}, {0}};
    Value sums = shlo::reduce_window(a[0], zero, cumulative, shlo::add);
    Value source = shlo::constant(b, 5, {DType::kF32, {2}});
    return std::vector<Value>{
        sums, shlo::reduce_window(a[0], shlo::min_value(b, DType::kF32), pairs, shlo::maximum),
        shlo::select_and_scatter(
            a[0], source, zero, pairs, [](Value a, Value b) { return a >= b; }, shlo::add)};
  });
  ExpectValues(results[0].values, {0, 1, 3, 6}, 0, "running sum");
  ExpectValues(results[1].values, {1, 3}, 0, "max pool");
  ExpectValues(results[2].values, {0, 5, 0, 5}, 0, "its gradient");
}

// --- control ------------------------------------------------------------------------------------

TEST(ShloControlTest, SortIsStableAndCarriesOperands) {
  auto results = RunProgram({Vector({2, 1, 2, 0})}, [](Builder&, Args a) {
    std::vector<Value> operands = {a[0], shlo::index_like(a[0], 0, DType::kS32)};
    return shlo::sort(operands, 0, [](Args v) { return v[0] < v[1]; });
  });
  ExpectValues(results[0].values, {0, 1, 2, 2}, 0, "values");
  ExpectValues(results[1].values, {3, 1, 0, 2}, 0, "positions");
}

TEST(ShloControlTest, WhileIfAndBarrier) {
  auto results = RunProgram({Integers({}, {10})}, [](Builder& b, Args a) {
    Value zero = shlo::scalar(b, int64_t{0}, DType::kS32);
    std::vector<Value> init = {zero, zero};
    auto loop = shlo::while_(
        init, [&](Args v) { return v[0] < a[0]; },
        [&](Args v) { return std::vector<Value>{v[0] + 1.0, v[1] + v[0]}; });
    auto branch = shlo::if_(
        loop[1] > 40.0, [&] { return std::vector<Value>{loop[1], a[0]}; },
        [&] { return std::vector<Value>{zero, zero}; });
    return std::vector<Value>{loop[1], branch[0], branch[1], shlo::optimization_barrier(a[0])};
  });
  EXPECT_EQ(results[0].values[0], 45);
  EXPECT_EQ(results[1].values[0], 45);
  EXPECT_EQ(results[2].values[0], 10);
  EXPECT_EQ(results[3].values[0], 10);
}

TEST(ShloControlTest, RandomBitsDependOnTheStateOnly) {
  // The three states are arguments: with equal ones inside the program there would be nothing to
  // compare.
  TestTensor state{{DType::kU64, {2}}, {7, 1}}, other{{DType::kU64, {2}}, {7, 2}};
  const std::vector<DType> types = {DType::kU8, DType::kU16, DType::kU32, DType::kU64};
  auto results = RunProgram({state, state, other}, [&](Builder&, Args a) {
    std::vector<Value> out;
    for (DType dtype : types) {
      for (Value s : a) {
        auto [next, bits] = shlo::rng_bit_generator(s, {dtype, {64}});
        out.insert(out.end(), {next, bits});
      }
    }
    return out;
  });
  for (size_t i = 0; i < types.size(); ++i) {
    const TestTensor *next = &results[6 * i], *bits = next + 1;
    EXPECT_NE(next[0].values, state.values);
    EXPECT_EQ(bits[0].values, bits[2].values);
    int equal = 0;
    for (int k = 0; k < 64; ++k) equal += bits[0].values[k] == bits[4].values[k];
    EXPECT_LT(equal, 8) << DTypeName(types[i]);
  }
}

// --- products and linear algebra ----------------------------------------------------------------

TEST(ShloDotTest, BatchesAndAccumulationType) {
  auto results = RunProgram({Counting({2, 2, 3}), Counting({2, 3, 1}, 1)}, [](Builder&, Args a) {
    shlo::DotDims dims{{0}, {0}, {2}, {1}};
    Value l = shlo::convert(a[0], DType::kBF16), r = shlo::convert(a[1], DType::kBF16);
    Value li = shlo::convert(a[0], DType::kS32), ri = shlo::convert(a[1], DType::kS32);
    shlo::DotDims outer{{}, {}, {0}, {0}};
    return std::vector<Value>{shlo::dot_general(a[0], a[1], dims, shlo::Precision::kHighest),
                              shlo::dot_general(l, r, dims, shlo::Precision::kDefault, DType::kF32),
                              shlo::dot_general(li, ri, dims),
                              shlo::dot_general(a[0], a[1], outer)};
  });
  for (int i = 0; i < 3; ++i)
    ExpectValues(results[i].values, {8, 26, 107, 152}, 0, std::to_string(i));
  EXPECT_EQ(results[3].type.dims, (Dims{2, 3, 3, 1}));
}

TEST(ShloDotTest, Convolution) {
  auto results = RunProgram({Counting({1, 2, 4}), Counting({2, 1, 2}, 1)}, [](Builder&, Args a) {
    shlo::ConvDims dims{0, 1, {2}, 1, 0, {2}, 0, 1, {2}};
    shlo::ConvWindow window{{2}, {1}, {1}, {1}, {1}, {}};
    shlo::ConvWindow flipped{{1}, {0}, {0}, {1}, {2}, {true}};
    return std::vector<Value>{shlo::convolution(a[0], a[1], dims, window, 2),
                              shlo::convolution(a[0], a[1], dims, flipped, 2)};
  });
  ExpectValues(results[0].values, {0, 5, 3, 16, 39, 21}, 0, "strided, padded, depthwise");
  ExpectValues(results[1].values, {2, 5, 34, 41}, 0, "dilated, reversed");
}

TEST(ShloLinalgTest, FftCholeskySolve) {
  TestTensor spd{{DType::kF32, {2, 2}}, {4, 2, 2, 5}};
  auto results = RunProgram({Vector({1, 2, 3, 4}), spd, Counting({2, 1}, 2)}, [](Builder&, Args a) {
    Value spectrum = shlo::fft(a[0], shlo::FftKind::kRfft, {4});
    Value z = shlo::convert(a[0], DType::kC64);
    Value lower = shlo::cholesky(a[1], true);
    Value x = shlo::triangular_solve(lower, a[2], true, true, false, false);
    return std::vector<Value>{
        spectrum,
        shlo::fft(spectrum, shlo::FftKind::kIrfft, {4}),
        shlo::fft(shlo::fft(z, shlo::FftKind::kFft, {4}), shlo::FftKind::kIfft, {4}),
        shlo::where(shlo::index_like(lower, 0) >= shlo::index_like(lower, 1), lower, 0.0),
        x,
        shlo::triangular_solve(lower, x, true, true, false, true)};
  });
  ExpectValues(results[0].values, {10, 0, -2, 2, -2, 0}, 1e-6, "rfft");
  ExpectValues(results[1].values, {1, 2, 3, 4}, 1e-6, "irfft");
  ExpectValues(results[2].values, {1, 0, 2, 0, 3, 0, 4, 0}, 1e-6, "ifft of fft");
  ExpectValues(results[3].values, {2, 0, 1, 2}, 1e-6, "cholesky");
  ExpectValues(results[4].values, {1, 1}, 1e-6, "solve");
  ExpectValues(results[5].values, {0.25, 0.5}, 1e-6, "solve with the transpose");
}

// --- gather and scatter -------------------------------------------------------------------------

TEST(ShloGatherTest, RowsPointsAndBatches) {
  auto results = RunProgram({Counting({3, 2}), Integers({2}, {2, 7}), Integers({3, 1}, {1, 0, 1})},
                            [](Builder&, Args a) {
                              shlo::GatherDims rows{{1}, {0}, {}, {}, {0}, 1};
                              shlo::GatherDims along{{}, {1}, {0}, {0}, {1}, 1};
                              return std::vector<Value>{shlo::gather(a[0], a[1], rows, {1, 2}),
                                                        shlo::gather(a[0], a[2], along, {1, 1})};
                            });
  ExpectValues(results[0].values, {4, 5, 4, 5}, 0, "rows, out of range clamps");
  ExpectValues(results[1].values, {1, 2, 5}, 0, "one element a row");
}

TEST(ShloScatterTest, AddsUpAndSkipsOutOfRange) {
  auto results = RunProgram(
      {Counting({3}), Integers({4, 1}, {0, 2, 0, 9}), Counting({4}, 10)}, [](Builder&, Args a) {
        shlo::ScatterDims dims{{}, {0}, {}, {}, {0}, 1};
        std::vector<Value> inputs = {a[0], a[0]}, updates = {a[2], a[2] * 2.0};
        auto both = shlo::scatter(inputs, a[1], updates, dims, [](Args v) {
          return std::vector<Value>{shlo::max(v[0], v[2]), v[1] + v[3]};
        });
        return std::vector<Value>{shlo::scatter(a[0], a[1], a[2], dims, shlo::add), both[0],
                                  both[1]};
      });
  ExpectValues(results[0].values, {22, 1, 13}, 0, "add");
  ExpectValues(results[1].values, {12, 1, 11}, 0, "max");
  ExpectValues(results[2].values, {44, 1, 24}, 0, "second operand");
}

TEST(ShloScatterTest, Batches) {
  auto values =
      RunOne({Counting({2, 3}), Integers({2, 1}, {2, 0}), Vector({7, 8})}, [](Builder&, Args a) {
        shlo::ScatterDims dims{{}, {1}, {0}, {0}, {1}, 1};
        return shlo::scatter(a[0], a[1], a[2], dims, [](Value, Value update) { return update; });
      });
  ExpectValues(values, {0, 1, 7, 8, 4, 5}, 0, "one element a row");
}

// --- modules ------------------------------------------------------------------------------------

TEST(ShloModuleTest, LocationsAttributesAndOddNamesCompile) {
  auto results = RunProgram({Vector({1})}, [](Builder& b, Args a) {
    b.SetLocation("aten::add.Tensor \"quoted\"");
    b.SetModuleAttribute("mhlo.num_partitions", "1 : i32");
    b.SetArgumentAttributes(0, {.aliasing_output = 0, .memory_kind = "", .sharding = ""});
    return std::vector<Value>{shlo::reduce_sum(a[0] + a[0], {0}, true)};
  });
  ExpectValues(results[0].values, {2}, 0, "sum");
}

TEST(ShloModuleTest, ArgumentsMayBeReturnedTwiceAndNothingToo) {
  auto results = RunProgram({Vector({1}), Vector({2})},
                            [](Builder&, Args a) { return std::vector<Value>{a[1], a[1], a[0]}; });
  ExpectValues(results[1].values, {2}, 0, "argument");
  EXPECT_TRUE(
      RunProgram({Vector({1})}, [](Builder&, Args) { return std::vector<Value>{}; }).empty());
}

}  // namespace
}  // namespace torch_tpu::graph
