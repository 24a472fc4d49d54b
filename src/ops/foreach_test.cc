// The rule that makes foreach operators of base operators.
#include "ops/foreach.h"

#include <gtest/gtest.h>

namespace torch_tpu::ops {
namespace {

std::string Form(std::string_view overload) {
  auto form = ForeachOf(overload);
  return form.ok() ? form->ToString() : form.status().ToString();
}

TEST(ForeachTest, NamesDecide) {
  EXPECT_EQ(Form("aten::_foreach_abs"), "aten::abs(e0)");
  EXPECT_EQ(Form("aten::_foreach_mul.Scalar"), "aten::mul.Scalar(e0, s1)");
  EXPECT_EQ(Form("aten::_foreach_mul.ScalarList"), "aten::mul.Scalar(e0, e1)");
  EXPECT_EQ(Form("aten::_foreach_div.List"), "aten::div.Tensor(e0, e1)");
  EXPECT_EQ(Form("aten::_foreach_div.Tensor"), "aten::div.Tensor(e0, s1)");
  EXPECT_EQ(Form("aten::_foreach_clamp_min.List"), "aten::clamp_min.Tensor(e0, e1)");
}

TEST(ForeachTest, ExceptionsDecideFirst) {
  EXPECT_EQ(Form("aten::_foreach_add.Scalar"), "aten::add.Scalar(e0, s1, 1)");
  EXPECT_EQ(Form("aten::_foreach_add.Tensor"), "aten::add.Tensor(e0, s1, s2)");
  EXPECT_EQ(Form("aten::_foreach_addcdiv.Tensor"), "aten::addcdiv(e0, e1, e2, t3)");
  EXPECT_EQ(Form("aten::_foreach_pow.ScalarAndTensor"), "aten::pow.Scalar(s0, e1)");
  EXPECT_EQ(Form("aten::_foreach_maximum.Scalar"), "aten::clamp_min(e0, s1)");
  EXPECT_EQ(Form("aten::_foreach_norm.Scalar"),
            "aten::linalg_vector_norm(e0, s1, None, false, s2)");
}

TEST(ForeachTest, AllFormsOfAnOperatorAgree) {
  const std::string lerp = "aten::lerp.Scalar(e0, e1, s2)";
  EXPECT_EQ(Form("aten::_foreach_lerp.Scalar"), lerp);
  EXPECT_EQ(Form("aten::_foreach_lerp_.Scalar"), lerp);
  EXPECT_EQ(Form("aten::_foreach_lerp.Scalar_out"), lerp);
  EXPECT_EQ(Form("aten::_foreach_abs_"), "aten::abs(e0)");
  EXPECT_EQ(Form("aten::_foreach_abs.out"), "aten::abs(e0)");
}

TEST(ForeachTest, ArgumentsCarryTheirMeaning) {
  auto form = ForeachOf("aten::_foreach_norm.Scalar");
  ASSERT_TRUE(form.ok());
  ASSERT_EQ(form->args.size(), 5u);
  EXPECT_EQ(form->args[0], (ForeachArg{ForeachArg::kElement, 0, 0}));
  EXPECT_EQ(form->args[2], ForeachArg{});
  EXPECT_EQ(form->args[3], (ForeachArg{ForeachArg::kBool, -1, 0}));
  EXPECT_EQ(form->args[4], (ForeachArg{ForeachArg::kShared, 2, 0}));
}

TEST(ForeachTest, OtherNamesAreRefused) {
  EXPECT_EQ(Form("aten::add.Tensor"), "NOT_FOUND: aten::add.Tensor is no foreach operator");
  EXPECT_EQ(Form("aten::_foreach_frob.Odd"),
            "NOT_FOUND: no rule says what aten::_foreach_frob.Odd applies to each element");
}

}  // namespace
}  // namespace torch_tpu::ops
