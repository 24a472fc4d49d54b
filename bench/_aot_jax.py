"""The models of tests/models written in JAX, lowered for a TPU to StableHLO text.

Runs in an environment of its own that has JAX and no PyTorch: `python _aot_jax.py FOLDER` reads
cases as JSON from standard input and writes FOLDER/<case>.mlir for each. A case has the shapes of a
PyTorch module's parameters and buffers by name and of its inputs; arrays have PyTorch's layouts.
"""

import json
import sys
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
from jax import lax
from jax.nn import elu, leaky_relu, log_softmax, relu, sigmoid, silu, softmax, softplus
from jax.scipy.special import erf


def linear(p, name, x):
    y = x @ p[f"{name}.weight"].T
    return y + p[f"{name}.bias"] if f"{name}.bias" in p else y


def gelu(x):
    return 0.5 * x * (1 + erf(x * 0.5**0.5))


def gelu_tanh(x):
    return 0.5 * x * (1 + jnp.tanh((2 / jnp.pi) ** 0.5 * (x + 0.044715 * x**3)))


def layer_norm(p, name, x):
    mean = x.mean(-1, keepdims=True)
    var = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * p[f"{name}.weight"] + p[f"{name}.bias"]


def channels(v):
    return v[:, None, None]


def conv(p, name, x, stride=1, pad=0, groups=1):
    pads = [(pad, pad)] * 2
    w = p[f"{name}.weight"]
    y = lax.conv_general_dilated(x, w, (stride, stride), pads, feature_group_count=groups)
    return y + channels(p[f"{name}.bias"]) if f"{name}.bias" in p else y


def conv_transpose(p, name, x, stride=1, pad=0, extra=0):
    w = jnp.flip(p[f"{name}.weight"], (2, 3)).swapaxes(0, 1)
    reach = w.shape[2] - 1 - pad
    pads = [(reach, reach + extra)] * 2
    y = lax.conv_general_dilated(x, w, (1, 1), pads, lhs_dilation=(stride, stride))
    return y + channels(p[f"{name}.bias"])


def group_norm(p, name, x, groups):
    g = x.reshape(x.shape[0], groups, -1)
    mean = g.mean(-1, keepdims=True)
    var = jnp.square(g - mean).mean(-1, keepdims=True)
    g = ((g - mean) * lax.rsqrt(var + 1e-5)).reshape(x.shape)
    return g * channels(p[f"{name}.weight"]) + channels(p[f"{name}.bias"])


def batch_norm(p, buffers, name, x, training):
    if training:
        mean = x.mean((0, 2, 3))
        var = jnp.square(x - channels(mean)).mean((0, 2, 3))
        count = x.size // x.shape[1]
        for key, value in (("running_mean", mean), ("running_var", var * count / (count - 1))):
            old = buffers[f"{name}.{key}"]
            buffers[f"{name}.{key}"] = 0.9 * old + 0.1 * lax.stop_gradient(value)
        buffers[f"{name}.num_batches_tracked"] += 1
    else:
        mean, var = (buffers[f"{name}.running_{key}"] for key in ("mean", "var"))
    scale = lax.rsqrt(var + 1e-5) * p[f"{name}.weight"]
    return (x - channels(mean)) * channels(scale) + channels(p[f"{name}.bias"])


def attention(q, k, v, causal):
    scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    if causal:
        seen = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        scores = jnp.where(seen, scores, -jnp.inf)
    return softmax(scores, -1) @ v


def heads_of(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def joined(x):
    x = x.swapaxes(1, 2)
    return x.reshape(*x.shape[:2], -1)


def mlp(p, buffers, config, x):
    return linear(p, "4", jnp.tanh(linear(p, "2", gelu(linear(p, "0", x)))))


def resnet(p, buffers, config, x):
    norm = partial(batch_norm, p, buffers, training=config["training"])
    x = relu(norm("stem.1", conv(p, "stem.0", x, 2, 3)))
    pads = ((0, 0), (0, 0), (1, 1), (1, 1))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), pads)
    for i in range(config["depth"]):
        name, stride = f"layers.{i}", 1 if i == 0 else 2
        identity = x
        if f"{name}.downsample.0.weight" in p:
            identity = norm(f"{name}.downsample.1", conv(p, f"{name}.downsample.0", x, stride))
        y = relu(norm(f"{name}.bn1", conv(p, f"{name}.conv1", x, stride, 1)))
        x = relu(norm(f"{name}.bn2", conv(p, f"{name}.conv2", y, 1, 1)) + identity)
    return linear(p, "fc", x.mean((2, 3)))


def gpt(p, buffers, config, ids):
    x = p["wte.weight"][ids] + p["wpe.weight"][jnp.arange(ids.shape[1])]
    for i in range(config["depth"]):
        name = f"blocks.{i}"
        qkv = jnp.split(linear(p, f"{name}.attn.c_attn", layer_norm(p, f"{name}.ln_1", x)), 3, -1)
        y = attention(*(heads_of(t, config["heads"]) for t in qkv), causal=True)
        x = x + linear(p, f"{name}.attn.c_proj", joined(y))
        y = gelu_tanh(linear(p, f"{name}.mlp.0", layer_norm(p, f"{name}.ln_2", x)))
        x = x + linear(p, f"{name}.mlp.2", y)
    return layer_norm(p, "ln_f", x) @ p["wte.weight"].T


def lstm(p, buffers, config, ids):
    x = p["embedding.weight"][ids].swapaxes(0, 1)
    for layer in range(config["depth"]):
        w = {k: p[f"lstm.{k}_l{layer}"] for k in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
        inputs = x @ w["weight_ih"].T + w["bias_ih"]

        def cell(carry, row, w=w):
            h, c = carry
            i, f, g, o = jnp.split(row + h @ w["weight_hh"].T + w["bias_hh"], 4, -1)
            c = sigmoid(f) * c + sigmoid(i) * jnp.tanh(g)
            h = sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        start = jnp.zeros((x.shape[1], w["weight_hh"].shape[1]))
        # Costs count a loop's body once; PyTorch's recurrence is unrolled, so this one is too.
        _, x = lax.scan(cell, (start, start), inputs, unroll=True)
    return linear(p, "decoder", x.swapaxes(0, 1))


def vit(p, buffers, config, images):
    x = conv(p, "patches", images, config["patch"])
    x = x.reshape(*x.shape[:2], -1).swapaxes(1, 2)
    cls = jnp.broadcast_to(p["cls"], (x.shape[0], 1, x.shape[2]))
    x = jnp.concatenate([cls, x], 1) + p["positions"]
    for i in range(config["depth"]):
        name = f"layers.{i}"
        y = layer_norm(p, f"{name}.norm1", x)
        y = y @ p[f"{name}.attention.in_proj_weight"].T + p[f"{name}.attention.in_proj_bias"]
        y = attention(*(heads_of(t, config["heads"]) for t in jnp.split(y, 3, -1)), causal=False)
        x = x + linear(p, f"{name}.attention.out_proj", joined(y))
        y = gelu(linear(p, f"{name}.mlp.0", layer_norm(p, f"{name}.norm2", x)))
        x = x + linear(p, f"{name}.mlp.2", y)
    return linear(p, "head", layer_norm(p, "norm", x)[:, 0])


def autoencoder(p, buffers, config, x):
    x = leaky_relu(conv(p, "encoder.0", x, 2, 1), 0.1)
    x = silu(group_norm(p, "encoder.3", conv(p, "encoder.2", x, 2, 1, groups=4), 2))
    x = elu(conv_transpose(p, "decoder.0", x, 2, 1, extra=1))
    x = jnp.repeat(jnp.repeat(x, 2, 2), 2, 3)
    x = softplus(conv_transpose(p, "decoder.3", x, pad=1))
    return sigmoid(conv(p, "decoder.5", x))


def cross_entropy(scores, labels, smoothing=0.0):
    scores = log_softmax(scores.reshape(-1, scores.shape[-1]), -1)
    loss = -jnp.take_along_axis(scores, labels.reshape(-1, 1), 1).mean()
    return (1 - smoothing) * loss - smoothing * scores.mean() if smoothing else loss


def mse_and_bce(out, x):
    logs = jnp.maximum(jnp.log(out), -100), jnp.maximum(jnp.log1p(-out), -100)
    entropy = -(x * logs[0] + (1 - x) * logs[1]).mean()
    return jnp.square(out - x).mean() + 0.1 * entropy


def adamw(p, g, state):
    lr, first, second, step = 1e-3, 0.9, 0.999, 2
    m, v = state
    p = p * (1 - lr * 0.01)
    m = first * m + (1 - first) * g
    v = second * v + (1 - second) * g * g
    size = lr / (1 - first**step)
    return p - size * m / (jnp.sqrt(v) / (1 - second**step) ** 0.5 + 1e-8), (m, v)


def sgd(p, g, state):
    (momentum,) = state
    momentum = 0.9 * momentum + (g + 1e-4 * p)
    return p - 0.05 * momentum, (momentum,)


MODELS = {f.__name__: f for f in (mlp, resnet, gpt, lstm, vit, autoencoder)}
LOSSES = {
    "cross_entropy": cross_entropy,
    "smooth_cross_entropy": partial(cross_entropy, smoothing=0.1),
    "mse_and_bce": mse_and_bce,
}
OPTIMIZERS = {"adamw": (adamw, 2), "sgd": (sgd, 1)}


def forward(case):
    """Function of parameters, buffers and inputs, and the positions that it may overwrite."""
    model = MODELS[case["model"]]
    return lambda p, buffers, inputs: model(p, dict(buffers), case, *inputs), ()


def training_step(case):
    """The same for a step: loss, new parameters, buffers and optimizer state; all are donated."""
    model, loss = MODELS[case["model"]], LOSSES[case["loss"]]
    update, _ = OPTIMIZERS[case["optimizer"]]

    def loss_of(p, buffers, inputs):
        buffers = dict(buffers)
        return loss(model(p, buffers, case, inputs[0]), inputs[-1]), buffers

    def step(p, buffers, inputs, states):
        (value, buffers), grads = jax.value_and_grad(loss_of, has_aux=True)(p, buffers, inputs)
        done = {name: update(p[name], grads[name], states[name]) for name in p}
        new_p, new_states = ({name: pair[i] for name, pair in done.items()} for i in range(2))
        return value, new_p, buffers, new_states

    return step, (0, 1, 3)


def shapes(named):
    """Arrays without memory; integers as JAX makes them, of 32 bits."""
    return {
        k: jax.ShapeDtypeStruct(shape, dtype.replace("int64", "int32"))
        for k, (shape, dtype) in named.items()
    }


def lowered(case):
    """StableHLO text of a case."""
    p, buffers = shapes(case["parameters"]), shapes(case["buffers"])
    arguments = [p, buffers, tuple(shapes(case["inputs"]).values())]
    function, donated = (training_step if case["training"] else forward)(case)
    if case["training"]:
        count = OPTIMIZERS[case["optimizer"]][1]
        arguments.append({name: (leaf,) * count for name, leaf in p.items()})
    traced = jax.jit(function, donate_argnums=donated).trace(*arguments)
    return traced.lower(lowering_platforms=("tpu",)).as_text()


def main():
    """Reads the cases, writes their modules."""
    for name, case in json.load(sys.stdin).items():
        Path(sys.argv[1], f"{name}.mlir").write_text(lowered(case))


if __name__ == "__main__":
    main()
