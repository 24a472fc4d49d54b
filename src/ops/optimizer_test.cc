// Programs of the fused optimizer steps.
#include <gtest/gtest.h>

#include "ops/test_call.h"

namespace torch_tpu::ops {
namespace {

const std::vector<TensorType> kPair = {{DType::kF32, {3}}, {DType::kBF16, {2}}};
const std::vector<TensorType> kSteps = {{DType::kF32, {}}, {DType::kF32, {}}};

TEST(OptimizerTest, AdamsNumbersAreOperands) {
  TestCall c("aten::_fused_adam");
  c.Tensors(kPair).Tensors(kPair).Tensors(kPair).Tensors(kPair).Tensors({}).Tensors(kSteps);
  c.Number().Number().Number().Number().Number().Bool(false).Bool(false).None().None();
  const std::string text = c.Text();
  EXPECT_EQ(c.outs().size(), 8u) << "four lists of two";
  // Ten tensors, then lr, beta1, beta2, weight_decay and eps.
  EXPECT_TRUE(Contains(text, "%arg14: tensor<f64>")) << text;
  EXPECT_TRUE(Contains(text, "stablehlo.power")) << text;
}

TEST(OptimizerTest, NoWeightDecayCostsNothing) {
  std::string ops[2];
  for (int i = 0; i < 2; ++i) {
    TestCall c("aten::_fused_sgd");
    c.Tensors({kPair[0]}).Tensors({kPair[0]}).Tensors({});
    (i == 0 ? c.Constant(0) : c.Number()).Constant(0).Number().Constant(0);
    c.Bool(false).Bool(false).Bool(false).None().None().Out(DType::kF32, {3}).Out(DType::kF32, {3});
    ops[i] = c.Ops();
  }
  EXPECT_EQ(ops[0], "convert broadcast_in_dim multiply subtract");
  EXPECT_NE(ops[0], ops[1]);
}

TEST(OptimizerTest, FoundInfKeepsTheOldValues) {
  TestCall c("aten::_fused_sgd");
  c.Tensors({kPair[0]})
      .Tensors({kPair[0]})
      .Tensors({})
      .Constant(0)
      .Constant(0)
      .Number()
      .Constant(0);
  c.Bool(false)
      .Bool(false)
      .Bool(false)
      .None()
      .Tensor(DType::kF32, {})
      .Out(DType::kF32, {3})
      .Out(DType::kF32, {3});
  EXPECT_TRUE(Contains(c.Ops(), "select"));
}

}  // namespace
}  // namespace torch_tpu::ops
