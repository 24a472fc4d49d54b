// Scaled dot product attention and its gradient, each as one program.
//
// Query heads may be a multiple of the key heads (grouped-query attention): a group of query heads
// that shares a key head is folded into one dim, so tensors are [batch, key head, group, position,
// feature] and nothing is repeated.
#include <cmath>

#include "ops/matmul.h"

namespace torch_tpu::ops {
namespace {

struct Attention {
  Value query;       // [b, h, g, sq, d]
  Value key, value;  // [b, h, sk, d]
  Dims scores;       // [b, h, g, sq, sk]
  DType dtype;       // of the scores
};

// Tensors of rank 3 have no batch.
Value WithBatch(Value x) { return x.rank() == 3 ? shlo::unsqueeze(x, 0) : x; }

// query, key and value from argument `first` on.
Attention ReadAttention(const Call& c, int first) {
  Attention a;
  Value q = WithBatch(c.tensor(first));
  a.key = WithBatch(c.tensor(first + 1));
  a.value = WithBatch(c.tensor(first + 2));
  const int64_t heads = a.key.dim(1);
  if (heads == 0 || q.dim(1) % heads != 0) {
    throw shlo::BuildError("expected the number of query heads (" + std::to_string(q.dim(1)) +
                           ") to be a multiple of the number of key heads (" +
                           std::to_string(heads) + ")");
  }
  const int64_t group = q.dim(1) / heads;
  a.query = shlo::reshape(q, {q.dim(0), heads, group, q.dim(2), q.dim(3)});
  a.scores = {q.dim(0), heads, group, q.dim(2), a.key.dim(2)};
  a.dtype = shlo::opmath_dtype(q.dtype());
  return a;
}

// Products of a [b, h, g, s, x] with per-head tensors. Half factors accumulate in float32.
Value TimesHead(const Call& c, Value grouped, Value per_head, Side side) {
  const Dims& d = grouped.dims();
  Value folded = shlo::reshape(grouped, {d[0], d[1], d[2] * d[3], d[4]});
  Value y = MatMul(c, folded, Side::kPlain, per_head, side);
  return shlo::reshape(y, {d[0], d[1], d[2], d[3], y.dim(-1)});
}

// sum over group and position: a[b, h, g, s, x], b[b, h, g, s, y] to [b, h, x, y].
Value SumOverQueries(const Call& c, Value lhs, Value rhs) {
  return Dot(c, lhs, rhs, {{0, 1}, {0, 1}, {2, 3}, {2, 3}});
}

// The mask or bias of dims that broadcast to [b, h * g, sq, sk], as [b, h, g, sq, sk].
Value SpreadBias(Value bias, const Attention& a) {
  const Dims& s = a.scores;
  return shlo::reshape(shlo::broadcast_to(bias, {s[0], s[1] * s[2], s[3], s[4]}), s);
}

Value ScaleOf(const Call& c, int scale, const Attention& a) {
  if (c.has(scale)) return shlo::convert(c.number(scale), a.dtype);
  return shlo::scalar(c.builder(), 1 / std::sqrt(static_cast<double>(a.query.dim(4))), a.dtype);
}

struct Softmax {
  Value probabilities;  // rows without an allowed position are 0
  Value logsumexp;      // [b, h, g, sq]
};

Softmax Probabilities(const Call& c, const Attention& a, std::optional<Value> bias, bool causal,
                      int scale) {
  Value s = TimesHead(c, a.query, a.key, Side::kTransposed) * ScaleOf(c, scale, a);
  Value lowest = shlo::min_value(c.builder(), a.dtype);
  if (bias) {
    Value spread = SpreadBias(*bias, a);
    s = bias->dtype() == DType::kPred ? shlo::where(spread, s, lowest)
                                      : s + shlo::convert(spread, a.dtype);
  }
  if (causal) s = shlo::where(shlo::index_like(s, 3) >= shlo::index_like(s, 4), s, lowest);
  Value max = shlo::reduce_max(s, {4}, true);
  // Only a mask can leave a row empty: a causal row always has position 0.
  if (bias) max = shlo::where(max == lowest, 0.0, max);
  Value e = shlo::exponential(s - shlo::broadcast_to(max, a.scores));
  Value sum = shlo::reduce_sum(e, {4}, true);
  Value divisor = bias ? shlo::where(sum == 0.0, 1.0, sum) : sum;
  return {e / shlo::broadcast_to(divisor, a.scores), shlo::squeeze(shlo::log(sum) + max, 4)};
}

// What dropout multiplies probabilities by: 0 or 1 / (1 - p), the same for the same state.
Value DropoutFactor(Value state, Value p, const Attention& a) {
  Value bits = shlo::rng_bit_generator(state, {DType::kU32, a.scores}).second;
  Value high = shlo::shift_right_logical(bits, shlo::full_like(bits, 8));
  Value uniform = shlo::convert(shlo::convert(high, DType::kS32), DType::kF32) * 0x1p-24;
  Value drop = shlo::convert(p, DType::kF32);
  Value factor = shlo::convert(1.0 / (1.0 - drop), a.dtype);
  return shlo::where(uniform >= drop, factor, 0.0);
}

// Bits of one word of a ui64[2] state as int64 of rank 0, and back.
Value StateWord(Value state, int64_t i) {
  return shlo::reshape(shlo::bitcast_convert(shlo::slice_dim(state, 0, i, i + 1), DType::kS64), {});
}
Value StateOf(Value seed, Value offset) {
  const Value words[] = {shlo::reshape(seed, {1}), shlo::reshape(offset, {1})};
  return shlo::bitcast_convert(shlo::concatenate(words, 0), DType::kU64);
}

// query, key, value, attn_bias, dropout_p, is_causal, return_debug_mask, scale -> output,
// logsumexp, cum_seq_q, cum_seq_k, philox_seed, philox_offset, debug_attn_mask (the integers max_q
// and max_k are no tensors)
Results Forward(Call& c) {
  const Attention a = ReadAttention(c, 0);
  const Softmax s = Probabilities(c, a, c.opt_tensor(3), c.boolean(5), 7);
  Value p = s.probabilities;
  Value seed = shlo::scalar(c.builder(), int64_t{0}, DType::kS64), offset = seed;
  if (!c.number_is(4, 0)) {
    Value state = c.rng_state();
    seed = StateWord(state, 0);
    offset = StateWord(state, 1);
    p = p * DropoutFactor(state, c.number(4), a);
  }
  Value y = TimesHead(c, shlo::convert(p, a.value.dtype()), a.value, Side::kPlain);
  Dims lse = {a.scores[0], a.scores[1] * a.scores[2], a.scores[3]};
  return {shlo::reshape(y, c.out().dims),
          shlo::reshape(s.logsumexp, lse),
          Value(),
          Value(),
          seed,
          offset,
          Value()};
}

// Sums over the dims that broadcasting a tensor of `dims` to g stretched.
Value SumToDims(Value g, const Dims& dims) {
  const int64_t extra = g.rank() - static_cast<int64_t>(dims.size());
  Dims summed;
  for (int64_t i = 0; i < g.rank(); ++i) {
    if (i < extra || (dims[static_cast<size_t>(i - extra)] == 1 && g.dim(i) != 1))
      summed.push_back(i);
  }
  return shlo::reshape(shlo::reduce_sum(g, summed), dims);
}

// grad_out, query, key, value, attn_bias, grad_input_mask, out, logsumexp, cum_seq_q, cum_seq_k,
// max_q, max_k, dropout_p, is_causal, philox_seed, philox_offset, scale -> grads of query, key,
// value, attn_bias
Results Backward(Call& c) {
  const Attention a = ReadAttention(c, 1);
  const DType half = a.query.dtype();
  Value dy = shlo::reshape(WithBatch(c.tensor(0)),
                           {a.scores[0], a.scores[1], a.scores[2], a.scores[3], a.value.dim(3)});
  Value p = Probabilities(c, a, c.opt_tensor(4), c.boolean(13), 16).probabilities;
  Value kept = p;
  Value dp = TimesHead(c, dy, a.value, Side::kTransposed);
  if (!c.number_is(12, 0)) {
    Value factor = DropoutFactor(StateOf(c.tensor(14), c.tensor(15)), c.number(12), a);
    kept = p * factor;
    dp = dp * factor;
  }
  Value row = shlo::reduce_sum(dp * p, {4}, true);
  Value ds = p * (dp - shlo::broadcast_to(row, a.scores));
  Value scaled = shlo::convert(ds * ScaleOf(c, 16, a), half);
  Results grads(4);
  grads[0] = shlo::reshape(TimesHead(c, scaled, a.key, Side::kPlain), c.tensor(1).dims());
  grads[1] = shlo::reshape(SumOverQueries(c, scaled, a.query), c.tensor(2).dims());
  grads[2] = shlo::reshape(SumOverQueries(c, shlo::convert(kept, half), dy), c.tensor(3).dims());
  if (c.has(4) && c.out(3).dtype != DType::kInvalid) {
    const Dims& s = a.scores;
    grads[3] = SumToDims(shlo::reshape(ds, {s[0], s[1] * s[2], s[3], s[4]}), c.tensor(4).dims());
  }
  return grads;
}

// PyTorch's operator for the CPU, without dropout: query, key, value, dropout_p, is_causal,
// attn_mask, scale -> output, logsumexp
Results CpuFlash(Call& c) {
  const Attention a = ReadAttention(c, 0);
  const Softmax s = Probabilities(c, a, c.opt_tensor(5), c.boolean(4), 6);
  Value y = TimesHead(c, shlo::convert(s.probabilities, a.value.dtype()), a.value, Side::kPlain);
  return {shlo::reshape(y, c.out(0).dims), shlo::reshape(s.logsumexp, c.out(1).dims)};
}

// grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, attn_mask, scale -> grads of
// query, key, value
Results CpuFlashBackward(Call& c) {
  Call inner(c.builder(), c.name());
  inner.dot_precision = c.precision();
  inner.args.resize(17);
  for (int i = 0; i < 4; ++i) inner.args[static_cast<size_t>(i)] = c.args[static_cast<size_t>(i)];
  if (c.has(8)) inner.args[4] = c.args[8];
  inner.args[12].v = Number{DType::kF64, 0.0, {}};
  inner.args[13] = c.args[7];
  if (c.has(9)) inner.args[16] = c.args[9];
  inner.outs = {c.out(0), c.out(1), c.out(2), {}};
  Results grads = Backward(inner);
  grads.resize(3);
  return grads;
}

LOWER("aten::_scaled_dot_product_flash_attention_for_cpu", CpuFlash, {.precision = true});
LOWER("aten::_scaled_dot_product_flash_attention_for_cpu_backward", CpuFlashBackward,
      {.precision = true});
LOWER("aten::_scaled_dot_product_fused_attention_overrideable", Forward,
      {.random = true, .precision = true, .zero_draws_nothing = 4});
LOWER("aten::_scaled_dot_product_fused_attention_overrideable_backward", Backward,
      {.precision = true});

}  // namespace
}  // namespace torch_tpu::ops
