// Golden text, shapes and refusals of gather and scatter.
#include "shlo/golden_test.h"

namespace torch_tpu::shlo {
namespace {

const TensorType kF{DType::kF32, {3, 4}};
const TensorType kRows{DType::kS64, {5}};
const GatherDims kTakeRows{{1}, {0}, {}, {}, {0}, 1};
const ScatterDims kPutRows{{1}, {0}, {}, {}, {0}, 1};

Value Second(Value, Value second) { return second; }

TEST(GatherScatterTest, Gather) {
  ExpectGolden(
      {kF, kRows, {DType::kS32, {3, 7, 1}}},
      {{R"(%0 = "stablehlo.gather"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], )"
        R"(collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>, )"
        R"(indices_are_sorted = true} : (tensor<3x4xf32>, tensor<5xi64>) -> tensor<5x4xf32>)",
        [](Builder&, Args a) { gather(a[0], a[1], kTakeRows, {1, 4}, true); }},
       {R"(%0 = "stablehlo.gather"(%arg0, %arg2) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], )"
        R"(operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], )"
        R"(index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false} : )"
        R"((tensor<3x4xf32>, tensor<3x7x1xi32>) -> tensor<3x7xf32>)",
        [](Builder&, Args a) { gather(a[0], a[2], {{}, {1}, {0}, {0}, {1}, 2}, {1, 1}); }}});
}

TEST(GatherScatterTest, GatherShapes) {
  BodyText({kF, {DType::kS32, {2, 5}}}, [](Builder&, Args a) {
    // Index vectors along dim 0; the window stands first and last in the result.
    EXPECT_EQ(gather(a[0], a[1], {{0, 2}, {}, {}, {}, {1, 0}, 0}, {2, 3}).dims(), (Dims{2, 5, 3}));
    EXPECT_EQ(gather(a[0], a[1], {{2}, {0}, {}, {}, {0}, 2}, {1, 4}).dims(), (Dims{2, 5, 4}));
  });
}

TEST(GatherScatterTest, Scatter) {
  EXPECT_EQ(
      BodyText({kF, kRows, {DType::kF32, {5, 4}}},
               [](Builder&, Args a) { scatter(a[0], a[1], a[2], kPutRows, Second, false, true); }),
      R"(%2 = "stablehlo.scatter"(%arg0, %arg1, %arg2) ({
^bb0(%0: tensor<f32>, %1: tensor<f32>):
  "stablehlo.return"(%1) : (tensor<f32>) -> ()
}) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = true} : (tensor<3x4xf32>, tensor<5xi64>, tensor<5x4xf32>) -> tensor<3x4xf32>
)");
}

TEST(GatherScatterTest, ScatterSeveralInputsBehindABarrier) {
  EXPECT_EQ(
      BodyText({{DType::kF32, {3, 4}}, {DType::kS32, {3, 1}}, {DType::kF32, {3}}},
               [](Builder&, Args a) {
                 std::vector<Value> inputs = {a[0], a[0]}, updates = {a[2], a[2]};
                 scatter(inputs, a[1], updates, {{}, {1}, {0}, {0}, {1}, 1},
                         [](Args v) { return std::vector<Value>{v[2], v[3]}; });
               }),
      R"(%4:2 = "stablehlo.optimization_barrier"(%arg0, %arg0) : (tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>)
%5:2 = "stablehlo.scatter"(%4#0, %4#1, %arg1, %arg2, %arg2) ({
^bb0(%0: tensor<f32>, %1: tensor<f32>, %2: tensor<f32>, %3: tensor<f32>):
  "stablehlo.return"(%2, %3) : (tensor<f32>, tensor<f32>) -> ()
}) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x1xi32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>)
)");
}

TEST(GatherScatterTest, GatherRefusals) {
  ExpectRefusal({kF, {DType::kF32, {5}}},
                "stablehlo.gather: indices must be integer, got tensor<5xf32>",
                [](Builder&, Args a) { gather(a[0], a[1], kTakeRows, {1, 4}); });
  ExpectRefusal({kF, kRows}, "stablehlo.gather: slice_sizes [2, 4] do not fit tensor<3x4xf32>",
                [](Builder&, Args a) { gather(a[0], a[1], kTakeRows, {2, 4}); });
  ExpectRefusal({kF, kRows}, "stablehlo.gather: slice_sizes must have 2 entries, got [1]",
                [](Builder&, Args a) { gather(a[0], a[1], kTakeRows, {1}); });
  ExpectRefusal({kF, kRows},
                "stablehlo.gather: index_vector_dim 2 is out of range for tensor<5xi64>",
                [](Builder&, Args a) { gather(a[0], a[1], {{1}, {0}, {}, {}, {0}, 2}, {1, 4}); });
  ExpectRefusal(
      {kF, kRows},
      "stablehlo.gather: the map from index components to dimensions must have 1 entries, got [0, "
      "1]",
      [](Builder&, Args a) { gather(a[0], a[1], {{1}, {0}, {}, {}, {0, 1}, 1}, {1, 4}); });
  ExpectRefusal({kF, kRows}, "stablehlo.gather: window dimensions must have 1 entries, got []",
                [](Builder&, Args a) { gather(a[0], a[1], {{}, {0}, {}, {}, {0}, 1}, {1, 4}); });
  ExpectRefusal({kF, {DType::kS32, {2, 7, 1}}},
                "stablehlo.gather: batches of tensor<3x4xf32> and indices tensor<2x7x1xi32> differ",
                [](Builder&, Args a) { gather(a[0], a[1], {{}, {1}, {0}, {0}, {1}, 2}, {1, 1}); });
}

TEST(GatherScatterTest, ScatterRefusals) {
  ExpectRefusal({kF, kRows, {DType::kF32, {4, 4}}},
                "stablehlo.scatter: update tensor<4x4xf32> does not fit input tensor<3x4xf32> at "
                "indices tensor<5xi64>",
                [](Builder&, Args a) { scatter(a[0], a[1], a[2], kPutRows, Second); });
  ExpectRefusal({kF, kRows, {DType::kF32, {5, 5}}},
                "stablehlo.scatter: update tensor<5x5xf32> does not fit input tensor<3x4xf32> at "
                "indices tensor<5xi64>",
                [](Builder&, Args a) { scatter(a[0], a[1], a[2], kPutRows, Second); });
  ExpectRefusal({kF, kRows, {DType::kF32, {5}}},
                "stablehlo.scatter: update tensor<5xf32> does not fit input tensor<3x4xf32> at "
                "indices tensor<5xi64>",
                [](Builder&, Args a) { scatter(a[0], a[1], a[2], kPutRows, Second); });
  ExpectRefusal({kF, kRows, {DType::kF64, {5, 4}}},
                "stablehlo.scatter: operands must have equal element types, got tensor<3x4xf32> "
                "and tensor<5x4xf64>",
                [](Builder&, Args a) { scatter(a[0], a[1], a[2], kPutRows, Second); });
  ExpectRefusal({kF, kRows, {DType::kF32, {5, 4}}},
                "stablehlo.scatter: the body must return tensor<f32>, got tensor<i1>",
                [](Builder&, Args a) {
                  scatter(a[0], a[1], a[2], kPutRows, [](Value l, Value r) { return l < r; });
                });
}

}  // namespace
}  // namespace torch_tpu::shlo
