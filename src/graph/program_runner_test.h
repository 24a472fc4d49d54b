// For tests: builds a program with the StableHLO builder, runs it on the test plugin and gives its
// results as doubles.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "shlo/sugar.h"

namespace torch_tpu::graph {

// Row-major. Complex elements are two numbers, real then imaginary; everything else is one.
struct TestTensor {
  shlo::TensorType type;
  std::vector<double> values;
};

// A float32 vector.
TestTensor Vector(std::vector<double> values);

using TestProgram = std::function<std::vector<shlo::Value>(shlo::Builder& b,
                                                           std::span<const shlo::Value> arguments)>;

// Compiles on TORCH_TPU_TEST_PLUGIN (the CPU plugin of the build when unset) and executes once.
// Throws std::runtime_error with the plugin's message, followed by the program's text, on any
// failure.
std::vector<TestTensor> RunProgram(const std::vector<TestTensor>& inputs,
                                   const TestProgram& program);

// The values of the only result of `program` on `inputs`.
std::vector<double> RunOne(
    const std::vector<TestTensor>& inputs,
    const std::function<shlo::Value(shlo::Builder& b, std::span<const shlo::Value>)>& program);

// Expects equal values: NaN for NaN, infinities exactly, the others within `tolerance` times max(1,
// |expected|).
void ExpectValues(const std::vector<double>& got, const std::vector<double>& expected,
                  double tolerance, const std::string& what);

}  // namespace torch_tpu::graph
