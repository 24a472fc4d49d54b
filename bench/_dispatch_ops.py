"""Microseconds of eager operators on a device, as JSON: `python _dispatch_ops.py DEVICE`.

DEVICE is tpu (this project), cpu, or torch_tpu (Google's package, in its own environment). Stands
alone: it runs in environments that have nothing of this project.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

CALLS = 2000
REPEATS = 7


def cases(device: str) -> dict[str, Callable[[torch.Tensor, int], torch.Tensor]]:
    """Each takes the running value and the call's number and makes one call of the operator."""
    small = (torch.ones(16, 16) * 1e-4).to(device)
    weight, bias = torch.ones(16, 16).to(device) / 16, torch.zeros(16).to(device)
    one = torch.ones(16, 16).to(device)
    linear = torch.nn.functional.linear
    return {
        "add": lambda x, i: x + small,
        "mul": lambda x, i: x * one,
        "x[i]+b": lambda x, i: one[i % 16] + bias,
        "linear": lambda x, i: linear(x, weight, bias),
        "add_": lambda x, i: x.add_(small),
    }


def microseconds(
    call: Callable[[torch.Tensor, int], torch.Tensor], start: torch.Tensor, device: str
) -> float:
    """One round of calls, the last one waited for."""
    x = start
    begin = time.perf_counter()
    for i in range(CALLS):
        x = call(x, i)
    if device != "cpu":
        torch.accelerator.synchronize()
    x.cpu()
    return (time.perf_counter() - begin) / CALLS * 1e6


def empty_kernel_microseconds() -> float:
    """What the dispatcher and Python cost for a kernel that does nothing."""
    a = torch.ones(16, 16).to("tpu")
    empty = torch.ops.torch_tpu._empty.default
    rounds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        for _ in range(CALLS):
            empty(a, a)
        rounds.append((time.perf_counter() - begin) / CALLS * 1e6)
    return statistics.median(rounds)


PROGRAM = """module {{
  func.func public @main({arguments}) -> {result} {{ {body} return %r : {result} }}
}}"""
MATRIX = "tensor<16x16xf32>"
TWO = f"%a: {MATRIX}, %b: {MATRIX}"


def _binary(operator: str, attribute: str = "") -> str:
    return PROGRAM.format(
        arguments=f"%a: {MATRIX}{attribute}, %b: {MATRIX}",
        result=MATRIX,
        body=f"%r = stablehlo.{operator} %a, %b : {MATRIX}",
    )


# The program of each case, with whether its result is the next call's first operand.
PROGRAMS = {
    "add": (_binary("add"), True),
    "mul": (_binary("multiply"), True),
    "x[i]+b": (
        PROGRAM.format(
            arguments=f"%a: {MATRIX}, %f: tensor<f32>, %b: tensor<16xf32>",
            result="tensor<16xf32>",
            body=f"""
            %i = stablehlo.convert %f : (tensor<f32>) -> tensor<i64>
            %z = stablehlo.constant dense<0> : tensor<i64>
            %s = stablehlo.dynamic_slice %a, %i, %z, sizes = [1, 16]
              : ({MATRIX}, tensor<i64>, tensor<i64>) -> tensor<1x16xf32>
            %v = stablehlo.reshape %s : (tensor<1x16xf32>) -> tensor<16xf32>
            %r = stablehlo.add %v, %b : tensor<16xf32>""",
        ),
        False,
    ),
    "linear": (
        PROGRAM.format(
            arguments=f"{TWO}, %c: tensor<16xf32>",
            result=MATRIX,
            body=f"""
            %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1]
              : ({MATRIX}, {MATRIX}) -> {MATRIX}
            %e = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<16xf32>) -> {MATRIX}
            %r = stablehlo.add %d, %e : {MATRIX}""",
        ),
        True,
    ),
    "add_": (_binary("add", " {tf.aliasing_output = 0 : i32}"), True),
}


# Calls through the dispatcher, where a case makes more than one.
DISPATCHES = {"x[i]+b": 2}


def floors() -> dict[str, dict[str, float]]:
    """Bare executions of the same programs, and the empty kernel, in this process."""
    from torch_tpu import _C

    bare = {
        name: statistics.median(_C._bare_execute_us(text, CALLS, chained) for _ in range(REPEATS))
        for name, (text, chained) in PROGRAMS.items()
    }
    empty = empty_kernel_microseconds()
    return {"bare": bare, "empty": {name: empty * DISPATCHES.get(name, 1) for name in PROGRAMS}}


@torch.no_grad()
def measure(device: str) -> dict[str, Any]:
    """Medians by case; for this project also the floors."""
    results: dict[str, Any] = {}
    for name, call in cases(device).items():
        microseconds(call, torch.ones(16, 16).to(device), device)
        results[name] = statistics.median(
            microseconds(call, torch.ones(16, 16).to(device), device) for _ in range(REPEATS)
        )
    return results


def main(which: str) -> None:
    """Prints one JSON object on the last line."""
    device = which
    if which == "torch_tpu":
        import torch_tpu._loader as loader

        loader._init_device("tpu")
        device = "tpu"
    results: dict[str, Any] = {"us": measure(device)}
    if which == "tpu":
        results |= floors()
    print(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1])
