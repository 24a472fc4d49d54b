// The fused cells that recurrent layers call once a step, and their gradients.
//
// The workspace that forward leaves for backward is our own: activated gates for the LSTM; reset,
// input and new gates, the old hidden state and the hidden part of the new gate for the GRU.
#include "ops/call.h"

namespace torch_tpu::ops {
namespace {

// Gates of argument `gates` plus the bias at `bias`, if any, in the computation's dtype.
Value BiasedGates(const Call& c, int gates, int bias) {
  Value g = shlo::opmath(c.tensor(gates));
  if (!c.has(bias)) return g;
  return g + shlo::broadcast_to(shlo::convert(c.tensor(bias), g.dtype()), g.dims());
}

// Part i of n equal parts of the last dim.
Value Chunk(Value x, int64_t i, int64_t n) {
  const int64_t size = x.dim(-1) / n;
  return shlo::slice_dim(x, x.rank() - 1, i * size, (i + 1) * size);
}

Value Join(std::initializer_list<Value> parts) {
  const std::vector<Value> all(parts);
  return shlo::concatenate(all, all[0].rank() - 1);
}

// d/dx of logistic and tanh at output y, times dy.
Value LogisticBackward(Value dy, Value y) { return dy * y * (1.0 - y); }
Value TanhBackward(Value dy, Value y) { return dy * (1.0 - y * y); }

// input_gates, hidden_gates, cx, input_bias, hidden_bias -> hy, cy, workspace. Gates: input,
// forget, cell, output.
Results LstmCell(Call& c) {
  Value gates = BiasedGates(c, 0, 3) + BiasedGates(c, 1, 4);
  Value in = shlo::logistic(Chunk(gates, 0, 4)), forget = shlo::logistic(Chunk(gates, 1, 4));
  Value cell = shlo::tanh(Chunk(gates, 2, 4)), out = shlo::logistic(Chunk(gates, 3, 4));
  Value cy = forget * shlo::opmath(c.tensor(2)) + in * cell;
  return {out * shlo::tanh(cy), cy, Join({in, forget, cell, out})};
}

// PyTorch's Meta kernel refuses a cell without biases.
std::vector<TensorType> LstmCellShape(const Call& c) {
  const TensorType cell = c.tensor(2).type();
  return {cell, cell, c.tensor(0).type()};
}

// grad_hy, grad_cy, cx, cy, workspace, has_bias -> grad_gates, grad_cx, grad_bias
Results LstmCellBackward(Call& c) {
  if (!c.has(0) && !c.has(1)) return Results(3);
  Value cx = shlo::opmath(c.tensor(2)), cy = shlo::opmath(c.tensor(3));
  Value gates = shlo::opmath(c.tensor(4));
  Value in = Chunk(gates, 0, 4), forget = Chunk(gates, 1, 4);
  Value cell = Chunk(gates, 2, 4), out = Chunk(gates, 3, 4);
  Value tanh_cy = shlo::tanh(cy);
  Value dc = c.has(1) ? shlo::opmath(c.tensor(1)) : shlo::full_like(cx, 0);
  Value dout = shlo::full_like(cx, 0);
  if (c.has(0)) {
    Value dh = shlo::opmath(c.tensor(0));
    dc = dc + TanhBackward(dh * out, tanh_cy);
    dout = LogisticBackward(dh * tanh_cy, out);
  }
  Value dgates = Join({LogisticBackward(dc * cell, in), LogisticBackward(dc * cx, forget),
                       TanhBackward(dc * in, cell), dout});
  Results grads = {dgates, dc * forget, Value()};
  if (c.boolean(5)) grads[2] = shlo::reduce_sum(dgates, {0});
  return grads;
}

// input_gates, hidden_gates, hx, input_bias, hidden_bias -> hy, workspace. Gates: reset, input,
// new.
Results GruCell(Call& c) {
  Value x = BiasedGates(c, 0, 3), h = BiasedGates(c, 1, 4), hx = shlo::opmath(c.tensor(2));
  Value reset = shlo::logistic(Chunk(x, 0, 3) + Chunk(h, 0, 3));
  Value in = shlo::logistic(Chunk(x, 1, 3) + Chunk(h, 1, 3));
  Value hidden_new = Chunk(h, 2, 3);
  Value fresh = shlo::tanh(Chunk(x, 2, 3) + reset * hidden_new);
  return {fresh + in * (hx - fresh), Join({reset, in, fresh, hx, hidden_new})};
}

std::vector<TensorType> GruCellShape(const Call& c) {
  const TensorType h = c.tensor(2).type();
  TensorType workspace = h;
  workspace.dims.back() *= 5;
  return {h, workspace};
}

// grad_hy, workspace, has_bias -> grads of input_gates, hidden_gates, hx, input_bias, hidden_bias
Results GruCellBackward(Call& c) {
  Value dh = shlo::opmath(c.tensor(0)), workspace = shlo::opmath(c.tensor(1));
  Value reset = Chunk(workspace, 0, 5), in = Chunk(workspace, 1, 5);
  Value fresh = Chunk(workspace, 2, 5), hx = Chunk(workspace, 3, 5);
  Value hidden_new = Chunk(workspace, 4, 5);
  Value din = LogisticBackward(dh * (hx - fresh), in);
  Value dfresh = TanhBackward(dh * (1.0 - in), fresh);
  Value dreset = LogisticBackward(dfresh * hidden_new, reset);
  Value dx = Join({dreset, din, dfresh}), dhidden = Join({dreset, din, dfresh * reset});
  Results grads = {dx, dhidden, dh * in, Value(), Value()};
  if (c.boolean(2)) {
    grads[3] = shlo::reduce_sum(dx, {0});
    grads[4] = shlo::reduce_sum(dhidden, {0});
  }
  return grads;
}

std::vector<TensorType> GruCellBackwardShape(const Call& c) {
  const TensorType h = c.tensor(0).type();
  TensorType gates = h, bias = h;
  gates.dims.back() *= 3;
  bias.dims = {gates.dims.back()};
  if (!c.boolean(2)) bias = {};
  return {gates, gates, h, bias, bias};
}

LOWER("aten::_thnn_fused_lstm_cell", LstmCell, {.shape = LstmCellShape});
LOWER("aten::_thnn_fused_lstm_cell_backward_impl", LstmCellBackward);
LOWER("aten::_thnn_fused_gru_cell", GruCell, {.shape = GruCellShape});
LOWER("aten::_thnn_fused_gru_cell_backward", GruCellBackward, {.shape = GruCellBackwardShape});

}  // namespace
}  // namespace torch_tpu::ops
