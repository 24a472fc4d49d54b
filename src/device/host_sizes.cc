// Operators whose sizes the host must know before a program can be chosen: bincount reads the
// largest number, repeat_interleave the sum, jagged tensors their last offset, and ctc_loss has
// lengths that are lists.
#include <ATen/Functions.h>
#include <torch/library.h>

#include <algorithm>
#include <bit>

#include "device/boxed.h"
#include "device/make_entry.h"

namespace torch_tpu::device {
namespace {

OpInfo& Info(const char* name, const char* overload) {
  return InfoOf(c10::Dispatcher::singleton().findSchemaOrThrow(name, overload));
}

// Raises what the CPU says of these arguments, or `message` when it has nothing against them.
void Refuse(const OpInfo& info, const torch::jit::Stack& arguments, const char* message) {
  RaiseAsCpuWould(info, arguments);
  TORCH_CHECK(false, message);
}

// The result is a view of as many bins as the next power of two, so that new maxima seldom need new
// programs.
at::Tensor Bincount(const at::Tensor& self, const std::optional<at::Tensor>& weights,
                    c10::SymInt minlength) {
  const int64_t at_least = minlength.expect_int();
  TORCH_CHECK(at_least >= 0, "minlength should be >= 0");
  const bool weighted = weights && weights->defined();
  const auto dtype = !weighted                              ? at::kLong
                     : weights->scalar_type() == at::kFloat ? at::kFloat
                                                            : at::kDouble;
  if (self.dim() == 1 && self.numel() == 0)
    return at::zeros({at_least}, self.options().dtype(at::kLong));
  if (self.dim() != 1 || !at::isIntegralType(self.scalar_type(), false)) {
    Refuse(Info("aten::bincount", ""), {self, weights, at_least},
           "bincount only supports 1-d non-negative integral inputs.");
  }
  TORCH_CHECK(!weighted || (weights->dim() == 1 && weights->size(0) == self.size(0)),
              "weights should be 1-d and have the same length as input");
  const auto [low, high] = at::aminmax(self);
  TORCH_CHECK(low.item<int64_t>() >= 0, "bincount only supports 1-d non-negative integral inputs.");
  const int64_t bins = std::max(high.item<int64_t>() + 1, at_least);
  const auto room = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(bins)));
  at::Tensor counts = at::zeros({room}, self.options().dtype(dtype));
  const at::Tensor amounts = weighted ? weights->to(dtype) : at::ones({1}, counts.options());
  return counts.scatter_add_(0, self.to(at::kLong), amounts.expand({self.size(0)}))
      .narrow(0, 0, bins);
}

// How many rows the jagged tensor has is the last offset.
at::Tensor PaddedToJagged(const at::Tensor& dense, at::TensorList offsets,
                          std::optional<c10::SymInt> total) {
  TORCH_CHECK(offsets.size() == 1,
              "_padded_dense_to_jagged_forward: expected one tensor of offsets");
  const int64_t rows = total ? total->expect_int() : offsets[0].select(0, -1).item<int64_t>();
  torch::jit::Stack stack = {dense, offsets.vec(), rows};
  CallBoxed(Info("aten::_padded_dense_to_jagged_forward", ""), &stack);
  return stack[0].toTensor();
}

// The size of the result is the sum of `repeats`; the program fills as much as the next power of
// two, so that new sums seldom need new ones.
at::Tensor RepeatInterleave(const at::Tensor& repeats, std::optional<c10::SymInt> output_size) {
  OpInfo& info = Info("aten::repeat_interleave", "Tensor");
  const auto call = [&](int64_t size) {
    torch::jit::Stack stack = {repeats, size};
    CallBoxed(info, &stack);
    return stack[0].toTensor();
  };
  if (output_size) return call(output_size->expect_int());
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK(repeats.scalar_type() == at::kLong || repeats.scalar_type() == at::kInt,
              "repeats has to be Long or Int tensor");
  if (repeats.numel() == 0) return at::empty_like(repeats);
  const at::Tensor told = at::stack({repeats.min().to(at::kLong), repeats.sum()}).cpu();
  const int64_t least = told[0].item<int64_t>(), total = told[1].item<int64_t>();
  TORCH_CHECK(least >= 0, "repeats can not be negative");
  return call(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(total))))
      .narrow(0, 0, total);
}

// --- ctc_loss ----------------------------------------------------------------------------------

std::vector<int64_t> OnHost(const at::Tensor& lengths) {
  TORCH_CHECK(at::isIntegralType(lengths.scalar_type(), false),
              "input_lengths and target_lengths must be integral");
  const at::Tensor host = lengths.to(at::kCPU, at::kLong).contiguous();
  const int64_t* first = host.const_data_ptr<int64_t>();
  return {first, first + host.numel()};
}

at::Tensor OnDevice(at::IntArrayRef lengths, const at::Tensor& like) {
  return at::tensor(lengths, at::kLong).to(like.device());
}

// What the lowerings take of the targets: padded [batch, longest], from that or from all of them in
// one row.
at::Tensor Padded(const at::Tensor& targets, at::IntArrayRef lengths, int64_t longest) {
  if (targets.dim() == 2) return targets.narrow(1, 0, longest);
  const auto batch = static_cast<int64_t>(lengths.size());
  if (targets.numel() == 0) return targets.new_zeros({batch, longest});
  std::vector<int64_t> index;
  int64_t start = 0;
  for (int64_t length : lengths) {
    for (int64_t i = 0; i < longest; ++i) index.push_back(i < length ? start + i : 0);
    start += length;
  }
  return targets.index_select(0, OnDevice(index, targets)).view({batch, longest});
}

bool LengthsFit(const at::Tensor& log_probs, const at::Tensor& targets, at::IntArrayRef inputs,
                at::IntArrayRef lengths, int64_t blank) {
  if (log_probs.dim() != 3 || (targets.dim() != 1 && targets.dim() != 2)) return false;
  if (!at::isIntegralType(targets.scalar_type(), false)) return false;
  const auto batch = static_cast<size_t>(log_probs.size(1));
  if (inputs.size() != batch || lengths.size() != batch) return false;
  if (targets.dim() == 2 && targets.size(0) != log_probs.size(1)) return false;
  if (blank < 0 || blank >= log_probs.size(2)) return false;
  int64_t longest = 0, sum = 0;
  for (size_t i = 0; i < batch; ++i) {
    if (inputs[i] < 0 || inputs[i] > log_probs.size(0) || lengths[i] < 0) return false;
    longest = std::max(longest, lengths[i]);
    sum += lengths[i];
  }
  return targets.dim() == 2 ? longest <= targets.size(1) : sum == targets.size(0);
}

int64_t Longest(at::IntArrayRef lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

std::tuple<at::Tensor, at::Tensor> CtcLoss(const at::Tensor& log_probs, const at::Tensor& targets,
                                           at::IntArrayRef input_lengths,
                                           at::IntArrayRef target_lengths, int64_t blank,
                                           bool zero_infinity) {
  if (!LengthsFit(log_probs, targets, input_lengths, target_lengths, blank)) {
    Refuse(Info("aten::_ctc_loss", ""),
           {log_probs, targets, input_lengths, target_lengths, blank, zero_infinity},
           "ctc_loss: sizes of log_probs, targets and lengths do not fit");
  }
  torch::jit::Stack stack = {log_probs,
                             Padded(targets, target_lengths, Longest(target_lengths)),
                             OnDevice(input_lengths, log_probs),
                             OnDevice(target_lengths, log_probs),
                             blank,
                             zero_infinity};
  CallBoxed(Info("aten::_ctc_loss", "Tensor"), &stack);
  return {stack[0].toTensor(), stack[1].toTensor()};
}

std::tuple<at::Tensor, at::Tensor> CtcLossTensor(const at::Tensor& log_probs,
                                                 const at::Tensor& targets,
                                                 const at::Tensor& input_lengths,
                                                 const at::Tensor& target_lengths, int64_t blank,
                                                 bool zero_infinity) {
  return CtcLoss(log_probs, targets, OnHost(input_lengths), OnHost(target_lengths), blank,
                 zero_infinity);
}

at::Tensor CtcLossBackward(const at::Tensor& grad, const at::Tensor& log_probs,
                           const at::Tensor& targets, at::IntArrayRef input_lengths,
                           at::IntArrayRef target_lengths, const at::Tensor& neg_log_likelihood,
                           const at::Tensor& log_alpha, int64_t blank, bool zero_infinity) {
  torch::jit::Stack stack = {grad,
                             log_probs,
                             Padded(targets, target_lengths, Longest(target_lengths)),
                             OnDevice(input_lengths, log_probs),
                             OnDevice(target_lengths, log_probs),
                             neg_log_likelihood,
                             log_alpha,
                             blank,
                             zero_infinity};
  CallBoxed(Info("aten::_ctc_loss_backward", "Tensor"), &stack);
  return stack[0].toTensor();
}

at::Tensor CtcLossBackwardTensor(const at::Tensor& grad, const at::Tensor& log_probs,
                                 const at::Tensor& targets, const at::Tensor& input_lengths,
                                 const at::Tensor& target_lengths,
                                 const at::Tensor& neg_log_likelihood, const at::Tensor& log_alpha,
                                 int64_t blank, bool zero_infinity) {
  return CtcLossBackward(grad, log_probs, targets, OnHost(input_lengths), OnHost(target_lengths),
                         neg_log_likelihood, log_alpha, blank, zero_infinity);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("bincount", TORCH_FN(Bincount));
  m.impl("repeat_interleave.Tensor", TORCH_FN(RepeatInterleave));
  m.impl("_padded_dense_to_jagged_forward", TORCH_FN(PaddedToJagged));
  m.impl("_ctc_loss", TORCH_FN(CtcLoss));
  m.impl("_ctc_loss.Tensor", TORCH_FN(CtcLossTensor));
  m.impl("_ctc_loss_backward", TORCH_FN(CtcLossBackward));
  m.impl("_ctc_loss_backward.Tensor", TORCH_FN(CtcLossBackwardTensor));
}

}  // namespace torch_tpu::device
