// The fused inference paths of nn.MultiheadAttention and nn.TransformerEncoderLayer.
#include <cmath>

#include "ops/matmul.h"
#include "ops/norm.h"

namespace torch_tpu::ops {
namespace {

// x[..., i] with weight[o, i] and bias[o], in x's dtype.
Value Linear(const Call& c, Value x, Value weight, Value bias) {
  Value y = Dot(c, x, weight, {{}, {}, {x.rank() - 1}, {1}});
  return shlo::convert(y + Like(shlo::convert(bias, y.dtype()), y), x.dtype());
}

struct Heads {
  int64_t embed_dim, count;
  Value weight, bias;  // of query, key and value, stacked
};

// Projection `part` (query, key, value) of x[b, l, embed], split into heads: [b, heads, l, d].
Value Project(const Call& c, Value x, const Heads& h, int64_t part) {
  const int64_t first = part * h.embed_dim, last = first + h.embed_dim;
  Value y = Linear(c, x, shlo::slice_dim(h.weight, 0, first, last),
                   shlo::slice_dim(h.bias, 0, first, last));
  Value split = shlo::reshape(y, {x.dim(0), x.dim(1), h.count, h.embed_dim / h.count});
  return shlo::transpose(split, {0, 2, 1, 3});
}

// Scores at masked positions (true, or any number but 0) become -inf. A mask of type 0 is [l, s],
// of type 1 [b, s] (padding of the keys), of type 2 it has the dims of the scores.
Value Masked(Value scores, Value mask, int64_t type) {
  if (mask.dtype() != DType::kPred) mask = mask != 0.0;
  if (type == 1) mask = shlo::reshape(mask, {mask.dim(0), 1, 1, mask.dim(1)});
  return shlo::where(shlo::broadcast_to(mask, scores.dims()),
                     shlo::min_value(scores.builder(), scores.dtype()), scores);
}

struct MultiHead {
  Value output;   // [b, l, embed]
  Value weights;  // [b, heads, l, s]
};

// Argument `mask` and its type at `mask_type`; the output's projection at `projection`.
MultiHead Attend(const Call& c, Value query, Value key, Value value, const Heads& h, int projection,
                 int mask, int mask_type) {
  Value q = Project(c, query, h, 0), k = Project(c, key, h, 1), v = Project(c, value, h, 2);
  const double scale = 1 / std::sqrt(static_cast<double>(q.dim(3)));
  Value s = MatMul(c, q, Side::kPlain, k, Side::kTransposed) * scale;
  if (c.has(mask)) s = Masked(s, c.tensor(mask), c.integer_or(mask_type, 2));
  Value e = shlo::exponential(s - Like(shlo::reduce_max(s, {3}, true), s));
  Value p = e / Like(shlo::reduce_sum(e, {3}, true), e);
  Value mixed = shlo::convert(MatMul(c, shlo::convert(p, v.dtype()), v), v.dtype());
  Value joined = shlo::reshape(shlo::transpose(mixed, {0, 2, 1, 3}), query.dims());
  return {Linear(c, joined, c.tensor(projection), c.tensor(projection + 1)), p};
}

// query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias, mask,
// need_weights, average_attn_weights, mask_type -> output, weights
Results MultiHeadAttention(Call& c) {
  const Heads h{c.integer(3), c.integer(4), c.tensor(5), c.tensor(6)};
  const MultiHead m = Attend(c, c.tensor(0), c.tensor(1), c.tensor(2), h, 7, 9, 12);
  if (!c.boolean(10)) return {m.output, Value()};
  if (!c.boolean(11)) return {m.output, m.weights};
  return {m.output, shlo::squeeze(MeanOver(m.weights, {1}), 1)};
}

std::vector<TensorType> MultiHeadAttentionShape(const Call& c) {
  const TensorType out = c.tensor(0).type();
  if (!c.boolean(10)) return {out, {}};
  Dims weights = {out.dims[0], out.dims[1], c.tensor(1).dim(1)};
  if (!c.boolean(11)) weights.insert(weights.begin() + 1, c.integer(4));
  return {out, {out.dtype, weights}};
}

// x normalised over its last dim; weight and bias at argument `first` and the next.
Value NormalizeLast(const Call& c, Value x, int first) {
  Value wide = shlo::opmath(x);
  const auto spread = [&](Value v) { return Like(shlo::convert(v, wide.dtype()), wide); };
  const Moments m = MomentsOver(wide, {x.rank() - 1});
  Value y = (wide - spread(m.mean)) * spread(shlo::rsqrt(m.variance + c.number(9)));
  y = y * spread(c.tensor(first)) + spread(c.tensor(first + 1));
  return shlo::convert(y, x.dtype());
}

Value FeedForward(const Call& c, Value x, bool gelu) {
  Value h = shlo::opmath(Linear(c, x, c.tensor(14), c.tensor(15)));
  if (gelu) {
    h = h * 0.5 * (shlo::erf(h * std::sqrt(0.5)) + 1.0);
  } else {
    h = shlo::max(h, shlo::full_like(h, 0));
  }
  return Linear(c, shlo::convert(h, x.dtype()), c.tensor(16), c.tensor(17));
}

// src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first,
// eps, norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1,
// ffn_weight_2, ffn_bias_2, mask, mask_type
Value TransformerEncoderLayer(Call& c) {
  const Heads h{c.integer(1), c.integer(2), c.tensor(3), c.tensor(4)};
  const bool gelu = c.boolean(7), norm_first = c.boolean(8);
  const auto attend = [&](Value x) { return Attend(c, x, x, x, h, 5, 18, 19).output; };
  Value x = c.tensor(0);
  if (norm_first) {
    x = x + attend(NormalizeLast(c, x, 10));
    return x + FeedForward(c, NormalizeLast(c, x, 12), gelu);
  }
  x = NormalizeLast(c, x + attend(x), 10);
  return NormalizeLast(c, x + FeedForward(c, x, gelu), 12);
}

// qkv[b, l, 3 * embed], qkv_bias[3 * embed], num_heads -> query (scaled), key and value, each
// [b, heads, l, d]
Results TransformBiasRescale(Call& c) {
  Value x = shlo::opmath(c.tensor(0));
  const TensorType out = c.out();
  if (NumElements(out.dims) == 0) return Results(3, shlo::constant(c.builder(), 0, out));
  x = x + Like(shlo::convert(c.tensor(1), x.dtype()), x);
  x = shlo::reshape(x, {x.dim(0), x.dim(1), 3, c.integer(2), out.dims[3]});
  x = shlo::transpose(x, {2, 0, 3, 1, 4});
  const auto part = [&](int64_t i) { return shlo::squeeze(shlo::slice_dim(x, 0, i, i + 1), 0); };
  return {part(0) / std::sqrt(static_cast<double>(out.dims[3])), part(1), part(2)};
}

std::vector<TensorType> TransformBiasRescaleShape(const Call& c) {
  const TensorType qkv = c.tensor(0).type();
  const int64_t heads = c.integer(2);
  if (qkv.dims.size() != 3 || heads <= 0 || qkv.dims[2] % (3 * heads) != 0)
    throw shlo::BuildError(c.name() + ": expected qkv of [batch, length, 3 * embed]");
  const TensorType part = {qkv.dtype, {qkv.dims[0], heads, qkv.dims[1], qkv.dims[2] / 3 / heads}};
  return {part, part, part};
}

std::vector<TensorType> LikeFirst(const Call& c) { return {c.tensor(0).type()}; }

LOWER("aten::_native_multi_head_attention", MultiHeadAttention,
      {.precision = true, .shape = MultiHeadAttentionShape});
LOWER("aten::_transform_bias_rescale_qkv", TransformBiasRescale,
      {.shape = TransformBiasRescaleShape});
LOWER("aten::_transformer_encoder_layer_fwd", TransformerEncoderLayer,
      {.precision = true, .shape = LikeFirst});

}  // namespace
}  // namespace torch_tpu::ops
