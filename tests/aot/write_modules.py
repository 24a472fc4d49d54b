# Writes one StableHLO module for every operator and dtype of interest to a TPU, for the sweep.
"""`python tests/aot/write_modules.py FOLDER`: captures the first case of every operator of tests/ops
in each of DTYPES, and prints which lowerings no case reaches. Nothing is executed or compiled."""

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
from cases import DEV, FLOATS, Case, P, T
from torch_tpu import _C
from torch_tpu.aot import capture

DTYPES = (torch.float32, torch.bfloat16, torch.int32, torch.bool)
SHORT = {torch.float32: "f32", torch.bfloat16: "bf16", torch.int32: "s32", torch.bool: "pred"}


# tests/ops/test_random.py judges these by their distribution, so that they are no cases there.
RANDOM = [
    Case("aten::bernoulli", P(3, 4, high=0.9)),
    Case("aten::bernoulli_.float", T(3, 4), 0.3, backward=False),
    Case("aten::bernoulli.p", T(3, 4), 0.3, backward=False),
    Case("aten::bernoulli_.Tensor", T(3, 4), P(3, 4, high=0.9), backward=False),
    Case("aten::uniform_", T(3, 4), backward=False),
    Case("aten::normal_", T(3, 4), backward=False),
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
    Case("rrelu", T(3, 4), fn=lambda x: torch.nn.functional.rrelu(x, training=True)),
]


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
    """Lowerings that none of these overloads uses."""
    names = {name for name, _, _ in _C._lowerings()}
    used = set()
    for operator in operators:
        base = operator.partition(".")[0]
        for form in (operator, base, base.removesuffix("_"), base.replace("_foreach_", "")):
            used |= {form} & names
    return sorted(names - used)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    operators: set[str] = set()
    left_out: list[str] = []
    written = 0
    for case, dtype, backward in chosen([*all_cases(), *RANDOM]):
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
