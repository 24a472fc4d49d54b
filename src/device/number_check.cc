// Conditions of the random operators, by position.
#include "device/number_check.h"

#include <cmath>
#include <limits>

namespace torch_tpu::device {
namespace {

using Args = c10::ArrayRef<c10::IValue>;

// Argument i as a number; NaN, which no condition below refuses, for anything else.
double Number(Args args, size_t i) {
  if (i >= args.size() || !args[i].isScalar()) return std::numeric_limits<double>::quiet_NaN();
  return args[i].toScalar().toDouble();
}

bool EndBeforeStart(Args args) { return Number(args, 1) > Number(args, 2); }  // uniform
bool NegativeDeviation(Args args) { return Number(args, 2) < 0; }             // normal
bool NoPositiveDeviation(Args args) { return Number(args, 2) <= 0; }          // cauchy, log_normal
bool NoPositiveRate(Args args) { return Number(args, 1) <= 0; }               // exponential
bool NoProbability(Args args) { return Number(args, 1) < 0 || Number(args, 1) > 1; }  // bernoulli
bool NoInnerProbability(Args args) { return Number(args, 1) <= 0 || Number(args, 1) >= 1; }

// random_(from, to) and random_(to): an empty range.
bool EmptyRange(Args args) {
  if (args.size() > 3) return Number(args, 1) >= Number(args, 2);
  return Number(args, 1) <= 0;
}

struct Row {
  std::string_view name;
  NumberCheck check;
};
constexpr Row kRows[] = {
    {"aten::uniform", EndBeforeStart},       {"aten::normal", NegativeDeviation},
    {"aten::cauchy", NoPositiveDeviation},   {"aten::log_normal", NoPositiveDeviation},
    {"aten::exponential", NoPositiveRate},   {"aten::bernoulli", NoProbability},
    {"aten::geometric", NoInnerProbability}, {"aten::random", EmptyRange},
};

}  // namespace

NumberCheck FindNumberCheck(std::string_view base_name) {
  if (base_name.ends_with("_")) base_name.remove_suffix(1);
  for (const Row& row : kRows) {
    if (row.name == base_name) return row.check;
  }
  return nullptr;
}

}  // namespace torch_tpu::device
