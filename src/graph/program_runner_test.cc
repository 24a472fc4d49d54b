// The runner's implementation: one plugin and one client for the whole test process.
#include "graph/program_runner_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "base/env.h"
#include "pjrt/pjrt.h"

namespace torch_tpu::graph {
namespace {

void Require(const Status& status, const std::string& text) {
  if (!status.ok()) throw std::runtime_error(status.ToString() + "\n" + text);
}

template <typename T>
T Take(Result<T> result, const std::string& text = "") {
  Require(result.status(), text);
  return std::move(result).value();
}

const pjrt::Client& TestClient() {
  static const std::shared_ptr<const pjrt::Client> client = [] {
    std::string path = env::Get().test_plugin;
    if (path.empty()) path = TORCH_TPU_DEFAULT_TEST_PLUGIN;
    return Take(pjrt::Client::Create(Take(pjrt::Plugin::Load(path))));
  }();
  return *client;
}

// As Runtime compiles for CPU plugins: with fusion emitters off maximum and clamp lose NaN unless
// the second is given. Newer plugins do not know the first any more.
Result<std::unique_ptr<pjrt::LoadedExecutable>> Compile(const std::string& text) {
  pjrt::CompileOptions options;
  if (TestClient().platform_name() == "cpu") {
    options.overrides["xla_cpu_enable_fast_min_max"] = false;
    options.overrides["xla_cpu_use_fusion_emitters"] = false;
    auto executable = TestClient().Compile(text, options);
    const std::string failure = executable.status().message();
    if (failure.find("No such compile option") == std::string::npos) return executable;
    options.overrides.erase("xla_cpu_use_fusion_emitters");
  }
  return TestClient().Compile(text, options);
}

// Calls f with an element of the C++ type that holds `dtype` in memory.
template <typename F>
void WithElement(DType dtype, F f) {
  switch (dtype) {
    case DType::kPred:
      return f(bool{});
    case DType::kS8:
      return f(int8_t{});
    case DType::kS16:
      return f(int16_t{});
    case DType::kS32:
      return f(int32_t{});
    case DType::kS64:
      return f(int64_t{});
    case DType::kU8:
      return f(uint8_t{});
    case DType::kU16:
      return f(uint16_t{});
    case DType::kU32:
      return f(uint32_t{});
    case DType::kU64:
      return f(uint64_t{});
    case DType::kF32:
    case DType::kC64:
      return f(float{});
    case DType::kF64:
    case DType::kC128:
      return f(double{});
    default:
      throw std::runtime_error("convert " + std::string(DTypeName(dtype)) +
                               " to f32 inside the program");
  }
}

std::vector<char> Encode(const TestTensor& t) {
  std::vector<char> bytes;
  WithElement(t.type.dtype, [&](auto element) {
    for (double v : t.values) {
      element = static_cast<decltype(element)>(v);
      const char* p = reinterpret_cast<const char*>(&element);
      bytes.insert(bytes.end(), p, p + sizeof(element));
    }
  });
  bytes.reserve(1);  // zero elements still need an address
  return bytes;
}

std::vector<double> Decode(const std::vector<char>& bytes, DType dtype) {
  std::vector<double> values;
  WithElement(dtype, [&](auto element) {
    for (size_t at = 0; at + sizeof(element) <= bytes.size(); at += sizeof(element)) {
      std::memcpy(&element, bytes.data() + at, sizeof(element));
      values.push_back(static_cast<double>(element));
    }
  });
  return values;
}

TestTensor Fetch(PJRT_Buffer* raw, const std::string& text) {
  pjrt::Buffer buffer(TestClient().shared_from_this(), raw);
  TestTensor out{{Take(buffer.dtype(), text), Take(buffer.dims(), text)}, {}};
  std::vector<char> bytes(NumElements(out.type.dims) * DTypeSize(out.type.dtype));
  bytes.reserve(1);
  Require(Take(buffer.ToHost(bytes.data(), static_cast<int64_t>(bytes.size())), text).Await(),
          text);
  out.values = Decode(bytes, out.type.dtype);
  return out;
}

}  // namespace

TestTensor Vector(std::vector<double> values) {
  return {{DType::kF32, {static_cast<int64_t>(values.size())}}, std::move(values)};
}

std::vector<TestTensor> RunProgram(const std::vector<TestTensor>& inputs,
                                   const TestProgram& program) {
  shlo::Builder b;
  std::vector<shlo::Value> arguments;
  for (const TestTensor& t : inputs) arguments.push_back(b.Argument(t.type));
  std::string text = b.Finish(program(b, arguments));
  auto executable = Take(Compile(text), text);
  std::vector<pjrt::Buffer> buffers;
  std::vector<PJRT_Buffer*> raw;
  for (const TestTensor& t : inputs) {
    std::vector<char> bytes = Encode(t);
    buffers.push_back(
        Take(TestClient().BufferFromHost(bytes.data(), t.type.dtype, t.type.dims), text));
    raw.push_back(buffers.back().raw());
  }
  std::vector<PJRT_Buffer*> outputs(executable->num_outputs());
  Require(executable->Execute(raw, {}, outputs), text);
  std::vector<TestTensor> results;
  for (PJRT_Buffer* output : outputs) results.push_back(Fetch(output, text));
  return results;
}

std::vector<double> RunOne(
    const std::vector<TestTensor>& inputs,
    const std::function<shlo::Value(shlo::Builder& b, std::span<const shlo::Value>)>& program) {
  auto results = RunProgram(inputs, [&](shlo::Builder& b, std::span<const shlo::Value> a) {
    return std::vector<shlo::Value>{program(b, a)};
  });
  return results.at(0).values;
}

void ExpectValues(const std::vector<double>& got, const std::vector<double>& expected,
                  double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << what << " at " << i << ": " << got[i];
    } else if (std::isinf(expected[i]) || tolerance == 0) {
      EXPECT_EQ(got[i], expected[i]) << what << " at " << i;
    } else {
      EXPECT_NEAR(got[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i])))
          << what << " at " << i;
    }
  }
}

}  // namespace torch_tpu::graph
