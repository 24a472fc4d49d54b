"""What can be said of a program's memory before it is compiled."""

from __future__ import annotations

import math

import torch

from torch_tpu.aot.captured import Captured, Value
from torch_tpu.aot.report import Buffer, Memory, Report
from torch_tpu.aot.topology import generation_of
from torch_tpu.aot.units import size

_NAMED = 10


def bytes_of(value: Value) -> int:
    """Bytes of a dense value; the device may pad it to more."""
    dtype: torch.dtype = getattr(torch, value.dtype)
    return math.prod(value.shape) * dtype.itemsize


def too_large(captured: Captured, name: str, topology: str) -> Report | None:
    """A report that a program does not fit, when its arguments alone do not; else None.

    `topology` is a resolved name. The largest arguments are named in the message and are the
    report's buffers. Nothing is said of generations whose HBM is not known.
    """
    limit = generation_of(topology).hbm
    needs = [bytes_of(value) for value in captured.inputs]
    if limit is None or sum(needs) <= limit:
        return None
    order = sorted(range(len(needs)), key=lambda i: -needs[i])
    shapes = [f"{v.dtype}[{','.join(map(str, v.shape))}]" for v in captured.inputs]
    lines = [
        f"does not fit: the arguments alone need {size(sum(needs))} of a device's {size(limit)} of "
        "HBM.",
        "Spread it over more devices or use smaller dtypes. The largest arguments:",
    ]
    lines += [
        f"{size(needs[i]):>12}  {captured.inputs[i].name}  {shapes[i]}" for i in order[:_NAMED]
    ]
    if len(order) > _NAMED:
        rest = sum(needs[i] for i in order[_NAMED:])
        lines.append(f"{size(rest):>12}  in {len(order) - _NAMED} more")
    buffers = [Buffer(bytes=needs[i], kind="argument", shape=shapes[i], parameter=i) for i in order]
    return Report(
        name=name,
        topology=topology,
        compiled=False,
        status="RESOURCE_EXHAUSTED",
        message="\n".join(lines),
        hbm_limit=limit,
        memory=Memory(argument=sum(needs)),
        buffers=tuple(buffers),
        captured=captured,
    )
