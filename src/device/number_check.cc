// Conditions of the random operators and of segment lengths, by position.
#include "device/number_check.h"

#include <ATen/core/Tensor.h>

#include <cmath>
#include <limits>

#include "device/tracer.h"

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

// multinomial(self, num_samples): none, or of more categories than a float32 counts.
bool NoSamplesOrTooMany(Args args) {
  constexpr int64_t kCategories = int64_t{1} << 24;
  if (Number(args, 1) <= 0) return true;
  if (!args[0].isTensor() || args[0].toTensor().dim() == 0) return false;
  TORCH_CHECK(args[0].toTensor().size(-1) <= kCategories,
              "number of categories cannot exceed 2^24");
  return false;
}

// segment_reduce(data, reduce, lengths, indices, offsets, axis, unsafe, initial): lengths that do
// not fill the axis. Reads them, as the other devices do unless told that they are right.
bool WrongLengths(Args args) {
  if (!args[2].isTensor() || args[6].toBool() || Tracer::Current() != nullptr) return false;
  const at::Tensor lengths = args[2].toTensor();
  const at::Tensor& data = args[0].toTensor();
  const int64_t axis = args[5].toInt();
  if (lengths.numel() == 0 || axis != lengths.dim() - 1 || axis >= data.dim()) return false;
  const at::Tensor host = lengths.cpu();
  TORCH_CHECK(host.min().item<int64_t>() >= 0, "lengths contains negative value!");
  TORCH_CHECK(host.sum(-1).eq(data.size(axis)).all().item<bool>(),
              "segment_reduce(): Expected all rows of lengths along axis to sum to "
              "data.size(lengths.dim()-1) when !unsafe.");
  return false;
}

struct Row {
  std::string_view name;
  NumberCheck check;
};
constexpr Row kRows[] = {
    {"aten::uniform", EndBeforeStart},         {"aten::normal", NegativeDeviation},
    {"aten::cauchy", NoPositiveDeviation},     {"aten::log_normal", NoPositiveDeviation},
    {"aten::exponential", NoPositiveRate},     {"aten::bernoulli", NoProbability},
    {"aten::geometric", NoInnerProbability},   {"aten::random", EmptyRange},
    {"aten::multinomial", NoSamplesOrTooMany}, {"aten::segment_reduce", WrongLengths},
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
