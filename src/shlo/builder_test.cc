// The module text, names, regions, locations and the refusals of the builder itself.
#include "shlo/builder.h"

#include "shlo/golden_test.h"

namespace torch_tpu::shlo {
namespace {

const TensorType kF{DType::kF32, {2, 3}};

std::string MessageOf(const std::function<void()>& f) {
  try {
    f();
  } catch (const BuildError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(BuilderTest, WholeModule) {
  Builder b("step");
  b.SetModuleAttribute("mhlo.num_partitions", "1 : i32");
  b.SetModuleAttribute("mhlo.num_partitions", "2 : i32");
  Value x = b.Argument(kF, {.aliasing_output = 0, .memory_kind = "pinned_host", .sharding = ""});
  Value y = b.Argument({DType::kS64, {}});
  b.SetArgumentAttributes(
      1, {.aliasing_output = {}, .memory_kind = "", .sharding = "#sdy.sharding<@mesh, []>"});
  b.SetLocation("aten::add.Tensor");
  std::vector<Value> results = {add(x, x), y};
  EXPECT_EQ(b.Finish(results),
            R"(module @step attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 0 : i32, mhlo.memory_kind = "pinned_host"}, %arg1: tensor<i64> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<2x3xf32>, tensor<i64>) {
    %0 = "stablehlo.add"(%arg0, %arg0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("aten::add.Tensor")
    "func.return"(%0, %arg1) : (tensor<2x3xf32>, tensor<i64>) -> ()
  }
}
)");
}

TEST(BuilderTest, OddModuleNamesAndLocationsAreQuoted) {
  Builder b("aten::add");
  Value x = b.Argument(kF);
  b.SetLocation("a\"b\\c\n");
  Value y = negate(x);
  b.SetLocation("");
  Value z = negate(y);
  const std::string text = b.Finish(std::span(&z, 1));
  EXPECT_NE(text.find("module @\"aten::add\" {"), std::string::npos) << text;
  EXPECT_NE(
      text.find(
          R"(%0 = "stablehlo.negate"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("a\22b\5Cc\0A"))"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("%1 = \"stablehlo.negate\"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"),
            std::string::npos);
}

TEST(BuilderTest, SeveralResultsAndNestedRegions) {
  EXPECT_EQ(
      BodyText({{DType::kPred, {}}, {DType::kF32, {}}},
               [](Builder& b, Args a) {
                 int inner_region = -1;
                 auto yield = [&](std::span<const Value> v) {
                   return std::vector<Value>(v.begin(), v.end());
                 };
                 int outer = b.Region({a[1].type()}, [&](std::span<const Value> v) {
                   inner_region = b.Region({a[1].type()}, yield);
                   auto inner =
                       b.Emit("test.inner", v, {}, {v[0].type(), v[0].type()}, {inner_region});
                   return std::vector<Value>{add(inner[1], a[1])};
                 });
                 EXPECT_EQ(b.region_results(outer), (std::vector<TensorType>{{DType::kF32, {}}}));
                 auto out = b.Emit("test.outer", {}, {{"k", "1 : i64"}}, {}, {outer});
                 EXPECT_TRUE(out.empty());
                 EXPECT_EQ(b.num_ops(), 5);
               }),
      R"("test.outer"() ({
^bb0(%0: tensor<f32>):
  %2:2 = "test.inner"(%0) ({
  ^bb0(%1: tensor<f32>):
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %3 = "stablehlo.add"(%2#1, %arg1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "stablehlo.return"(%3) : (tensor<f32>) -> ()
}) {k = 1 : i64} : () -> ()
)");
}

TEST(BuilderTest, TypesStayValidWhileValuesAreAdded) {
  Builder b;
  Value x = b.Argument(kF);
  const TensorType& type = x.type();
  for (int i = 0; i < 1000; ++i) negate(x);
  EXPECT_EQ(&type, &x.type());
  EXPECT_EQ(x.dim(-1), 3);
  EXPECT_EQ(b.num_ops(), 1000);
}

TEST(BuilderTest, SplatsAreRemembered) {
  Builder b;
  Value x = b.Argument(kF);
  EXPECT_EQ(b.SplatConstant(x), std::nullopt);
  EXPECT_EQ(b.SplatConstant(full_like(x, 0.5)), 0.5);
  EXPECT_EQ(b.SplatConstant(broadcast_to(scalar(b, int64_t{3}, DType::kS32), {4})), 3.0);
  EXPECT_EQ(b.SplatConstant(scalar(b, (int64_t{1} << 60) + 1, DType::kS64)), std::nullopt);
}

TEST(BuilderTest, MisuseIsRefused) {
  Builder b, other;
  Value x = b.Argument(kF), y = other.Argument(kF);
  EXPECT_EQ(MessageOf([&] { b.Emit1("test.op", {Value()}, {}, kF); }),
            "test.op: an operand is empty");
  EXPECT_EQ(MessageOf([&] { add(x, y); }), "stablehlo.add: an operand belongs to another program");
  EXPECT_EQ(MessageOf([] { Value().dtype(); }), "the type of an empty value was asked for");
  EXPECT_EQ(MessageOf([&] { x.dim(2); }), "dimension 2 was asked of tensor<2x3xf32>");
  EXPECT_EQ(MessageOf([&] { x.dim(-3); }), "dimension -3 was asked of tensor<2x3xf32>");
  EXPECT_EQ(MessageOf([&] { b.SetArgumentAttributes(1, {}); }), "there is no entry argument 1");
  Builder c;
  Value z = c.Argument(kF);
  c.Finish(std::span(&z, 1));
  EXPECT_EQ(MessageOf([&] { negate(z); }), "stablehlo.negate: the program is already finished");
  EXPECT_EQ(MessageOf([&] { c.Finish({}); }), "func.return: the program is already finished");
}

TEST(BuilderTest, ValuesDoNotLeaveTheirRegion) {
  Value leaked;
  ExpectRefusal({{DType::kPred, {}}, kF},
                "stablehlo.negate: operand %0 was made inside a region that has ended",
                [&](Builder&, Args a) {
                  auto branch = [&] { return std::vector<Value>{leaked = negate(a[1])}; };
                  if_(a[0], branch, [&] { return std::vector<Value>{a[1]}; });
                  negate(leaked);
                });
  ExpectRefusal({{DType::kPred, {}}, kF},
                "stablehlo.negate: operand %0 was made inside a region that has ended",
                [&](Builder&, Args a) {
                  auto branch = [&] { return std::vector<Value>{leaked = negate(a[1])}; };
                  if_(a[0], branch, [&] { return std::vector<Value>{negate(leaked)}; });
                });
}

TEST(BuilderTest, AliasesMustFitTheirOutput) {
  auto finish = [](int output) {
    Builder b;
    Value x = b.Argument(kF, {.aliasing_output = output, .memory_kind = "", .sharding = ""});
    Value y = scalar(b, 1.0, DType::kF32);
    std::vector<Value> results = {x, y};
    b.Finish(results);
  };
  EXPECT_EQ(MessageOf([&] { finish(0); }), "accepted");
  EXPECT_EQ(MessageOf([&] { finish(1); }),
            "argument 0 of type tensor<2x3xf32> cannot alias output 1 of type tensor<f32>");
  EXPECT_EQ(MessageOf([&] { finish(2); }),
            "argument 0 of type tensor<2x3xf32> cannot alias output 2");
}

}  // namespace
}  // namespace torch_tpu::shlo
