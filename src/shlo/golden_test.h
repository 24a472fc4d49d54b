// For tests: the text of the operations that a function makes, and the refusals that it meets.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "shlo/sugar.h"

namespace torch_tpu::shlo {

using Args = std::span<const Value>;
using Make = std::function<void(Builder& b, Args a)>;

// The lines of @main's body, without func.return and with two levels of indentation taken off.
inline std::string BodyText(const std::vector<TensorType>& arguments, const Make& make) {
  Builder b;
  std::vector<Value> values;
  for (const TensorType& t : arguments) values.push_back(b.Argument(t));
  make(b, values);
  const std::string text = b.Finish({});
  const size_t begin = text.find("-> () {\n") + 8, end = text.find("    \"func.return\"");
  std::string out;
  for (size_t at = begin; at < end;) {
    const size_t line_end = text.find('\n', at);
    out += text.substr(at + 4, line_end - at - 3);
    at = line_end + 1;
  }
  return out;
}

// One op: what makes it and its exact line.
struct Golden {
  std::string line;
  Make make;
};

inline void ExpectGolden(const std::vector<TensorType>& arguments,
                         const std::vector<Golden>& cases) {
  for (const Golden& c : cases) EXPECT_EQ(BodyText(arguments, c.make), c.line + "\n");
}

// Expects BuildError with exactly this message.
inline void ExpectRefusal(const std::vector<TensorType>& arguments, const std::string& message,
                          const Make& make) {
  try {
    BodyText(arguments, make);
    ADD_FAILURE() << "was accepted; expected: " << message;
  } catch (const BuildError& e) {
    EXPECT_EQ(e.what(), message);
  }
}

}  // namespace torch_tpu::shlo
