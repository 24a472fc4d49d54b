// Golden text and refusals of the reductions.
#include "shlo/golden_test.h"

namespace torch_tpu::shlo {
namespace {

const TensorType kF{DType::kF32, {2, 4}};
const TensorType kScalar{DType::kF32, {}};
const Window kPairs{{1, 2}, {1, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};

TEST(ReductionTest, Reduce) {
  EXPECT_EQ(BodyText({kF, kScalar}, [](Builder&, Args a) { reduce(a[0], a[1], {1}, add); }),
            R"(%3 = "stablehlo.reduce"(%arg0, %arg1) ({
^bb0(%0: tensor<f32>, %1: tensor<f32>):
  %2 = "stablehlo.add"(%0, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%2) : (tensor<f32>) -> ()
}) {dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
)");
}

TEST(ReductionTest, ReduceSeveralOperands) {
  EXPECT_EQ(BodyText({kF, kScalar, {DType::kS32, {2, 4}}, {DType::kS32, {}}},
                     [](Builder&, Args a) {
                       std::vector<Value> operands = {a[0], a[2]}, inits = {a[1], a[3]};
                       auto out = reduce(operands, inits, {0, 1},
                                         [](Args v) { return std::vector<Value>{v[2], v[1]}; });
                       EXPECT_EQ(out[1].type(), (TensorType{DType::kS32, {}}));
                     }),
            R"(%4:2 = "stablehlo.reduce"(%arg0, %arg2, %arg1, %arg3) ({
^bb0(%0: tensor<f32>, %1: tensor<i32>, %2: tensor<f32>, %3: tensor<i32>):
  "stablehlo.return"(%2, %1) : (tensor<f32>, tensor<i32>) -> ()
}) {dimensions = array<i64: 0, 1>} : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
)");
}

TEST(ReductionTest, ReduceWindow) {
  const Window window{{1, 2}, {1, 2}, {1, 1}, {1, 2}, {0, 1}, {0, 0}};
  EXPECT_EQ(BodyText({kF, kScalar},
                     [&](Builder&, Args a) { reduce_window(a[0], a[1], window, maximum); }),
            R"(%3 = "stablehlo.reduce_window"(%arg0, %arg1) ({
^bb0(%0: tensor<f32>, %1: tensor<f32>):
  %2 = "stablehlo.maximum"(%0, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%2) : (tensor<f32>) -> ()
}) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>} : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x2xf32>
)");
}

TEST(ReductionTest, SelectAndScatter) {
  EXPECT_EQ(BodyText({kF, {DType::kF32, {2, 2}}, kScalar},
                     [](Builder&, Args a) {
                       select_and_scatter(
                           a[0], a[1], a[2], kPairs, [](Value x, Value y) { return x >= y; }, add);
                     }),
            R"(%6 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) ({
^bb0(%0: tensor<f32>, %1: tensor<f32>):
  %2 = "stablehlo.compare"(%0, %1) {comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%2) : (tensor<i1>) -> ()
}, {
^bb0(%3: tensor<f32>, %4: tensor<f32>):
  %5 = "stablehlo.add"(%3, %4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%5) : (tensor<f32>) -> ()
}) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>} : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
)");
}

TEST(ReductionTest, WindowsLargerThanTheOperandGiveNothing) {
  BodyText({kF, kScalar}, [](Builder&, Args a) {
    const Window window{{3, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
    EXPECT_EQ(reduce_window(a[0], a[1], window, add).dims(), (Dims{0, 4}));
    const Window spread{{1, 2}, {1, 1}, {1, 3}, {1, 2}, {0, -1}, {0, 2}};
    EXPECT_EQ(reduce_window(a[0], a[1], spread, add).dims(), (Dims{2, 9}));
  });
}

TEST(ReductionTest, Refusals) {
  ExpectRefusal({kF, kScalar},
                "stablehlo.reduce: dimensions must be distinct and within [0, 2), got [2]",
                [](Builder&, Args a) { reduce(a[0], a[1], {2}, add); });
  ExpectRefusal({kF, {DType::kF64, {}}},
                "stablehlo.reduce: an initial value must have the element type of tensor<2x4xf32>, "
                "got tensor<f64>",
                [](Builder&, Args a) { reduce(a[0], a[1], {0}, add); });
  ExpectRefusal(
      {kF, kScalar}, "stablehlo.reduce: the body must return tensor<f32>, got tensor<i1>",
      [](Builder&, Args a) { reduce(a[0], a[1], {0}, [](Value l, Value r) { return l < r; }); });
  ExpectRefusal({kF, kScalar},
                "stablehlo.reduce: needs one initial value for each operand, got 2 operands and 1 "
                "initial values",
                [](Builder&, Args a) {
                  std::vector<Value> operands = {a[0], a[0]};
                  reduce(operands, a.subspan(1), {0},
                         [](Args v) { return std::vector<Value>{v[0], v[1]}; });
                });
  ExpectRefusal({kF, kScalar},
                "stablehlo.reduce_window: window_strides must have 2 entries, got [1]",
                [](Builder&, Args a) {
                  Window window = kPairs;
                  window.strides = {1};
                  reduce_window(a[0], a[1], window, add);
                });
  ExpectRefusal({kF, kScalar},
                "stablehlo.reduce_window: window dimensions, strides and dilations must be at "
                "least 1, got [1, 2], "
                "[1, 0], [1, 1] and [1, 1]",
                [](Builder&, Args a) {
                  Window window = kPairs;
                  window.strides = {1, 0};
                  reduce_window(a[0], a[1], window, add);
                });
  ExpectRefusal({kF, kScalar},
                "stablehlo.select_and_scatter: source must have dims [2, 2], got tensor<2x4xf32>",
                [](Builder&, Args a) {
                  select_and_scatter(
                      a[0], a[0], a[1], kPairs, [](Value x, Value y) { return x >= y; }, add);
                });
  ExpectRefusal({kF, kScalar}, "stablehlo.select_and_scatter: has no window dilation, got [1, 2]",
                [](Builder&, Args a) {
                  Window window = kPairs;
                  window.window_dilations = {1, 2};
                  select_and_scatter(
                      a[0], a[0], a[1], window, [](Value x, Value y) { return x >= y; }, add);
                });
}

}  // namespace
}  // namespace torch_tpu::shlo
