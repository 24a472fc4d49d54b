// Golden text and refusals of the ops with regions or effects.
#include "shlo/golden_test.h"

namespace torch_tpu::shlo {
namespace {

const TensorType kF{DType::kF32, {3}};
const TensorType kI{DType::kS32, {}};
const TensorType kP{DType::kPred, {}};

TEST(ControlTest, Sort) {
  EXPECT_EQ(BodyText({kF, {DType::kS32, {3}}},
                     [](Builder&, Args a) { sort(a, 0, [](Args v) { return v[0] < v[1]; }); }),
            R"(%5:2 = "stablehlo.sort"(%arg0, %arg1) ({
^bb0(%0: tensor<f32>, %1: tensor<f32>, %2: tensor<i32>, %3: tensor<i32>):
  %4 = "stablehlo.compare"(%0, %1) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  "stablehlo.return"(%4) : (tensor<i1>) -> ()
}) {dimension = 0 : i64, is_stable = true} : (tensor<3xf32>, tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi32>)
)");
}

TEST(ControlTest, While) {
  EXPECT_EQ(BodyText({kI, kP},
                     [](Builder&, Args a) {
                       while_(
                           a.subspan(0, 1), [&](Args) { return a[1]; },
                           [](Args v) { return std::vector<Value>{v[0] + v[0]}; });
                     }),
            R"(%3 = "stablehlo.while"(%arg0) ({
^bb0(%0: tensor<i32>):
  "stablehlo.return"(%arg1) : (tensor<i1>) -> ()
}, {
^bb0(%1: tensor<i32>):
  %2 = "stablehlo.add"(%1, %1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  "stablehlo.return"(%2) : (tensor<i32>) -> ()
}) : (tensor<i32>) -> tensor<i32>
)");
}

TEST(ControlTest, If) {
  EXPECT_EQ(BodyText({kP, kI},
                     [](Builder&, Args a) {
                       if_(
                           a[0], [&] { return std::vector<Value>{a[1]}; },
                           [&] { return std::vector<Value>{negate(a[1])}; });
                     }),
            R"(%1 = "stablehlo.if"(%arg0) ({
  "stablehlo.return"(%arg1) : (tensor<i32>) -> ()
}, {
  %0 = "stablehlo.negate"(%arg1) : (tensor<i32>) -> tensor<i32>
  "stablehlo.return"(%0) : (tensor<i32>) -> ()
}) : (tensor<i1>) -> tensor<i32>
)");
}

TEST(ControlTest, OneLiners) {
  ExpectGolden(
      {{DType::kU64, {2}}, kF},
      {{R"(%0:2 = "stablehlo.rng_bit_generator"(%arg0) {rng_algorithm = #stablehlo<rng_algorithm DEFAULT>} : )"
        R"((tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>))",
        [](Builder&, Args a) { rng_bit_generator(a[0], {DType::kU32, {5}}); }},
       {R"(%0 = "stablehlo.custom_call"(%arg1) {call_target_name = "Sharding", has_side_effect = false, )"
        R"(api_version = 4 : i32, backend_config = {}} : (tensor<3xf32>) -> tensor<3xf32>)",
        [](Builder& b, Args a) {
          custom_call(b, "Sharding", a.subspan(1), {kF}, {{"backend_config", "{}"}});
        }},
       {R"("stablehlo.custom_call"() {call_target_name = "log", has_side_effect = true, api_version = 2 : i32} : () -> ())",
        [](Builder& b, Args) { custom_call(b, "log", {}, {}, {}, true, 2); }},
       {R"(%0 = "stablehlo.optimization_barrier"(%arg1) : (tensor<3xf32>) -> tensor<3xf32>)",
        [](Builder&, Args a) { optimization_barrier(a[1]); }}});
}

TEST(ControlTest, Refusals) {
  ExpectRefusal({kF}, "stablehlo.sort: dimension 1 is out of range for tensor<3xf32>",
                [](Builder&, Args a) { sort(a, 1, [](Args v) { return v[0] < v[1]; }); });
  ExpectRefusal({kF}, "stablehlo.sort: the comparator must return tensor<i1>, got tensor<f32>",
                [](Builder&, Args a) { sort(a, 0, [](Args v) { return v[0]; }); });
  ExpectRefusal(
      {kF, {DType::kS32, {4}}},
      "stablehlo.sort: operands must have equal dims, got tensor<3xf32> and tensor<4xi32>",
      [](Builder&, Args a) { sort(a, 0, [](Args v) { return v[0] < v[1]; }); });
  ExpectRefusal(
      {kI}, "stablehlo.while: the condition must return tensor<i1>, got tensor<i32>",
      [](Builder&, Args a) {
        while_(a, [](Args v) { return v[0]; }, [](Args v) { return std::vector<Value>{v[0]}; });
      });
  ExpectRefusal({kI}, "stablehlo.while: the body must return tensor<i32>, got tensor<f32>",
                [](Builder&, Args a) {
                  while_(
                      a, [](Args v) { return v[0] > 0.0; },
                      [](Args v) { return std::vector<Value>{convert(v[0], DType::kF32)}; });
                });
  ExpectRefusal({kI}, "stablehlo.if: pred must be tensor<i1>, got tensor<i32>",
                [](Builder&, Args a) {
                  auto branch = [&] { return std::vector<Value>{a[0]}; };
                  if_(a[0], branch, branch);
                });
  ExpectRefusal({kP, kI}, "stablehlo.if: the false branch must return tensor<i32>, got tensor<i1>",
                [](Builder&, Args a) {
                  if_(
                      a[0], [&] { return std::vector<Value>{a[1]}; },
                      [&] { return std::vector<Value>{a[0]}; });
                });
  ExpectRefusal({kI}, "stablehlo.rng_bit_generator: state must be tensor<2xui64>, got tensor<i32>",
                [](Builder&, Args a) { rng_bit_generator(a[0], {DType::kU32, {5}}); });
  ExpectRefusal({{DType::kU64, {2}}},
                "stablehlo.rng_bit_generator: bits must be unsigned integers, got tensor<3xf32>",
                [](Builder&, Args a) { rng_bit_generator(a[0], kF); });
  ExpectRefusal({}, "stablehlo.custom_call: needs the name of its target",
                [](Builder& b, Args) { custom_call(b, "", {}, {}, {}); });
}

}  // namespace
}  // namespace torch_tpu::shlo
