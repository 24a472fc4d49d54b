# Writes one StableHLO module for every operator and dtype of interest to a TPU, for the sweep.
"""`python tests/aot/write_modules.py FOLDER`: captures the first case of every operator of
tests/ops in each of DTYPES; exit status 1 when a lowering is in none. Nothing is executed or
compiled."""

import argparse
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from torch.utils._pytree import tree_leaves, tree_map

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "ops")]

import harness
from cases import DEV, FLOATS, Case, I, P, T, V
from torch_tpu import _C
from torch_tpu.aot import capture

DTYPES = (torch.float32, torch.bfloat16, torch.int32, torch.bool)
FLOAT, LONG = torch.float32, torch.int64
SHORT = {torch.float32: "f32", torch.bfloat16: "bf16", torch.int32: "s32", torch.bool: "pred"}


# tests/ops/test_random.py judges these by their distribution, so that they are no cases there.
RANDOM = [
    Case("aten::bernoulli", P(3, 4, high=0.9)),
    Case("aten::bernoulli_.float", T(3, 4), 0.3, backward=False),
    Case("aten::bernoulli.p", T(3, 4), 0.3, backward=False),
    Case("aten::bernoulli_.Tensor", T(3, 4), P(3, 4, high=0.9), backward=False),
    Case("aten::uniform_", T(3, 4), backward=False),
    Case("aten::normal_", T(3, 4), backward=False),
    Case("aten::normal_functional", T(3, 4), backward=False),
    Case("aten::normal.Tensor_Tensor", T(3, 4), P(3, 4), backward=False),
    Case("aten::cauchy_", T(3, 4), backward=False),
    Case("aten::exponential_", T(3, 4), backward=False),
    Case("aten::geometric_", T(3, 4), 0.5, backward=False),
    Case("aten::log_normal_", T(3, 4), backward=False),
    Case("aten::random_", T(3, 4), backward=False),
    Case("aten::random_.to", T(3, 4), 100, backward=False),
    Case("aten::random_.from", T(3, 4), 1, 100, backward=False),
    Case("aten::multinomial", P(3, 4), 2, backward=False),
    Case("aten::native_dropout", T(3, 4), 0.3, True),
    Case("aten::randperm", 10, kwargs={"device": DEV}, dtypes=FLOATS[:1]),
    Case("aten::rrelu_with_noise_functional", T(3, 4), T(3, 4), 0.1, 0.3, True, backward=False),
    Case("aten::poisson", P(3, 4), dtypes=FLOATS[:1], backward=False),
    Case("aten::binomial", P(3, 4), P(3, 4, high=0.9), dtypes=FLOATS[:1], backward=False),
    Case("aten::_standard_gamma", P(3, 4), dtypes=FLOATS[:1], backward=False),
    Case("aten::_sample_dirichlet", P(3, 4), dtypes=FLOATS[:1], backward=False),
    Case("rrelu", T(3, 4), fn=lambda x: torch.nn.functional.rrelu(x, training=True)),
]


def batch_norm_of_shards(x, weight, seed):
    """The parts of synchronized batch norm, as one process calls them."""
    mean, invstd = torch.batch_norm_stats(x, 1e-5)
    count = torch.ones_like(mean[:1])
    mean, invstd = torch.batch_norm_gather_stats_with_counts(
        x, mean[None], invstd[None], None, None, 0.1, 1e-5, count
    )
    y = torch.batch_norm_elemt(x, weight, None, mean, invstd, 1e-5)
    sum_dy, sum_dy_xmu, *grads = torch.batch_norm_backward_reduce(
        seed, x, mean, invstd, weight, True, True, True
    )
    dx = torch.batch_norm_backward_elemt(
        seed, x, mean, invstd, weight, sum_dy, sum_dy_xmu, count.to(torch.int32)
    )
    return y, dx, *grads


def running_extremes(x, values, indices):
    """cummax and cummin into given tensors."""
    torch.ops.aten._cummax_helper(x, values, indices, 1)
    largest = values.clone()
    torch.ops.aten._cummin_helper(x, values, indices, 1)
    return largest, values, indices


def scaled_products(a, b):
    """Both forms of it, over eight bits: one scale a tensor."""
    eight, scale = torch.float8_e4m3fn, a.new_ones((), dtype=torch.float32)
    a, b = a.to(eight), b.to(eight).t()
    one = ([scale], [0], [0])
    v2 = torch.ops.aten._scaled_mm_v2(a, b, *one, *one, None, torch.bfloat16)
    return torch._scaled_mm(a, b, scale, scale, out_dtype=torch.bfloat16), v2


CONVOLUTION = ([1, 1], [1, 1], [1, 1], False, [0, 0], 1)
ENCODER = [T(24, 8), T(24), T(8, 8), T(8), False, False, 1e-5, T(8), T(8), T(8), T(8)]

# Operators that tests/ops tests without Case, or that PyTorch calls only inside of others.
INNER = [
    Case("aten::_embedding_bag_dense_backward", T(2, 3), I(4, high=5), V([0, 0, 1, 1], dtype=LONG),
         V([2, 2], dtype=LONG), V([], dtype=LONG), 5, False, 0, None, backward=False),
    Case("aten::embedding_renorm_", T(5, 3), I(4, high=5), 1.0, 2.0, backward=False),
    Case("aten::_fused_adagrad.tensor_lr", [T(3)], [T(3)], [P(3)], [V(2.0, dtype=FLOAT)],
         kwargs={"lr": V(0.1, dtype=FLOAT), "lr_decay": 0.01, "weight_decay": 0.1, "eps": 1e-10,
                 "maximize": False}, dtypes=FLOATS[:1], backward=False),
    Case("aten::_fused_rms_norm_backward", T(3, 4), T(3, 4), [4], P(3, 1, dtype=FLOAT), T(4),
         [True, True], backward=False),
    Case("aten::_int_mm", T(32, 16), T(16, 8), dtypes=(torch.int8,)),
    Case("aten::addmm.dtype", T(3, 5, dtype=FLOAT), T(3, 4), T(4, 5), FLOAT,
         dtypes=(torch.bfloat16,), backward=False),
    Case("aten::baddbmm.dtype", T(2, 3, 5, dtype=FLOAT), T(2, 3, 4), T(2, 4, 5), FLOAT,
         dtypes=(torch.bfloat16,), backward=False),
    Case("aten::_logcumsumexp", T(3, 5), 1, backward=False),
    Case("aten::_native_batch_norm_legit_no_training", T(4, 3, 5), T(3), T(3), T(3), P(3), 0.1,
         1e-5, backward=False),
    Case("batch norm of shards", T(4, 3, 5), T(3), T(4, 3, 5), fn=batch_norm_of_shards,
         backward=False),
    Case("aten::_native_multi_head_attention", *[T(2, 3, 8)] * 3, 8, 2, *ENCODER[:4],
         backward=False),
    Case("aten::_transformer_encoder_layer_fwd", T(2, 3, 8), 8, 2, *ENCODER, T(16, 8), T(16),
         T(8, 16), T(8), backward=False),
    Case("aten::_stack", [T(3, 4), T(3, 4)], 1, backward=False),
    Case("aten::_thnn_fused_gru_cell", T(2, 12), T(2, 12), T(2, 4), T(12), T(12), backward=False),
    Case("aten::_thnn_fused_gru_cell_backward", T(2, 4), T(2, 20), True, backward=False),
    Case("aten::_thnn_fused_lstm_cell", T(2, 16), T(2, 16), T(2, 4), T(16), T(16),
         backward=False),
    Case("aten::_thnn_fused_lstm_cell_backward_impl", *[T(2, 4)] * 4, T(2, 16), True,
         backward=False),
    Case("aten::convolution_overrideable", T(2, 3, 6, 6), T(4, 3, 3, 3), T(4), *CONVOLUTION,
         backward=False),
    Case("aten::convolution_backward_overrideable", T(2, 4, 6, 6), T(2, 3, 6, 6), T(4, 3, 3, 3),
         *CONVOLUTION, [True, True, True], backward=False),
    Case("aten::conj_physical_", T(3, 4), dtypes=(torch.complex64,), backward=False),
    Case("aten::div.Scalar_mode", T(3, 4), 2, kwargs={"rounding_mode": "floor"}, backward=False),
    Case("aten::norm.ScalarOpt_dim_dtype", T(3, 4), 3, [1], True, kwargs={"dtype": FLOAT},
         dtypes=(torch.bfloat16,), backward=False),
    Case("silu backward", T(3, 4), T(3, 4), fn=lambda g, x: torch.ops.aten.silu_backward.grad_input(
        g, x, grad_input=torch.empty_like(x)), backward=False),
    Case("aten::triangular_solve", T(4, 2), T(4, 4), backward=False),
    Case("aten::_standard_gamma_grad", P(3, 4), P(3, 4), dtypes=FLOATS[:1], backward=False),
    Case("aten::_dirichlet_grad", P(3, 4, high=0.9), P(3, 4), P(3, 4, low=4, high=9),
         dtypes=FLOATS[:1], backward=False),
    Case("running extremes", T(3, 4), T(3, 4), I(3, 4, high=4), fn=running_extremes,
         backward=False),
    Case("aten::fractional_max_pool2d_backward", T(1, 2, 3, 3), T(1, 2, 9, 10), [2, 3], [3, 3],
         I(1, 2, 3, 3, high=90), backward=False),
    Case("aten::fractional_max_pool3d_backward", T(1, 2, 2, 2, 2), T(1, 2, 5, 5, 5), [2, 2, 2],
         [2, 2, 2], I(1, 2, 2, 2, 2, high=125), backward=False),
    Case("scaled products", T(16, 32), T(16, 32), fn=scaled_products, backward=False),
]  # fmt: skip

# Lowerings that no module can have.
UNREACHED = {
    **dict.fromkeys(
        (
            "_fused_rms_norm",
            "_unsafe_index",
            "isfinite",
            "mish_backward",
            "positive",
            "where.Scalar",
        ),
        "PyTorch composes it of other operators before the device is asked",
    ),
    **dict.fromkeys(("where.ScalarOther", "where.ScalarSelf"), "as where.Scalar"),
    **dict.fromkeys(("fill", "fill_", "zero_"), "a fill is folded into the program as a constant"),
    "masked_select": "captured as nonzero and index, whose results stay as long as can be",
}


def all_cases() -> list[Case]:
    """Cases of every file of tests/ops, in order."""
    found: list[Case] = []
    harness.cases_to_tests = found.extend
    for path in sorted((TESTS / "ops").glob("test_*.py")):
        if path.stem != "test_harness":
            importlib.import_module(path.stem)
    return found


def chosen(cases: list[Case]) -> Iterator[tuple[Case, torch.dtype, bool]]:
    """The first case of each operator for each dtype, forward and backward; a case without one of
    DTYPES in its own first."""
    met = set()
    for case in cases:
        if case.raises:
            continue
        for dtype in [d for d in DTYPES if d in case.dtypes] or case.dtypes[:1]:
            for backward in (False, True):
                if backward and not (case.backward and dtype.is_floating_point and case.specs()):
                    continue
                if (case.op, dtype, backward) not in met:
                    met.add((case.op, dtype, backward))
                    yield case, dtype, backward


def on_device(value):
    return torch.device("tpu") if value == torch.device("cpu") else value


def captured(case: Case, dtype: torch.dtype, backward: bool):
    """The case's call over placeholders, or its gradients."""

    def call(args, kwargs):
        return case.call(tree_map(on_device, args), tree_map(on_device, kwargs))

    def gradients(args, kwargs):
        leaves = [x for x in tree_leaves((args, kwargs)) if is_floating(x)]
        with torch.enable_grad():
            for x in leaves:
                x.requires_grad_()
            outputs = [x for x in tree_leaves(call(args, kwargs)) if is_floating(x)]
            outputs = [x for x in outputs if x.requires_grad]
            seeds = [torch.ones_like(x) for x in outputs]
            return torch.autograd.grad(outputs, leaves, seeds, allow_unused=True)

    run = gradients if backward else call
    return capture(run, case.inputs(dtype, "cpu"), padded=True, name=case.op)


def is_floating(x) -> bool:
    return isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())


# What PyTorch or `capture` says where there is nothing to differentiate.
NO_GRADIENT = ("at least one tensor", "cannot be empty", "is not implemented")


def missing_lowerings(operators: set[str]) -> list[str]:
    """Lowerings that none of these overloads uses and that UNREACHED does not explain."""
    names = {name for name, _, _ in _C._lowerings()}
    used = {f"aten::{name}" for name in UNREACHED}
    for operator in operators:
        base, dot, overload = operator.partition(".")
        for form in (base, base.removesuffix("_"), base.replace("_foreach_", ""), f"{base}_"):
            used |= {form, form + dot + overload}
    return sorted(names - used)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("[0-9]*.mlir"):
        old.unlink()
    operators: set[str] = set()
    left_out: list[str] = []
    written = 0
    for case, dtype, backward in chosen([*all_cases(), *RANDOM, *INNER]):
        short = SHORT.get(dtype, str(dtype).removeprefix("torch."))
        name = f"{case.op} {short}{' backward' if backward else ''}"
        try:
            program = captured(case, dtype, backward)
        except (RuntimeError, TypeError) as error:
            if backward and any(why in str(error) for why in NO_GRADIENT):
                continue
            left_out.append(f"{name}: {str(error).splitlines()[0][:100]}")
            continue
        operators.update(program.operators)
        file = f"{written:04d}.mlir"
        (folder / file).write_text(f"// {name}\n{program.text}", encoding="utf-8")
        written += 1
    print(f"{written} modules written")
    print(f"{len(left_out)} left out:", *left_out, sep="\n  ")
    unreached = missing_lowerings(operators)
    print(f"{len(unreached)} lowerings that no module has:", *unreached, sep="\n  ")
    return 1 if unreached else 0


if __name__ == "__main__":
    sys.exit(main())
