"""Compiling for a TPU on a machine that has none.

`compile(model, (x,), topology="v5e:1x1")` gives a `Report`: whether a model compiles for a TPU and
fits it, what it should cost, and what the compiler made of it. Needs libtpu, which is found through
`TPU_LIBRARY_PATH` or the installed package `libtpu`; nothing runs and no TPU is touched.
"""

from torch_tpu.aot.captured import Captured, Value
from torch_tpu.aot.compiler import compile, compile_captured, compile_text
from torch_tpu.aot.helper import HelperFailed
from torch_tpu.aot.library import LibtpuNotFound, find_libtpu
from torch_tpu.aot.recording import capture
from torch_tpu.aot.report import Buffer, Collective, Memory, Origin, Report
from torch_tpu.aot.topology import UnknownTopology
from torch_tpu.aot.topology import resolve as resolve_topology

__all__ = [
    "Buffer",
    "Captured",
    "Collective",
    "HelperFailed",
    "LibtpuNotFound",
    "Memory",
    "Origin",
    "Report",
    "UnknownTopology",
    "Value",
    "capture",
    "compile",
    "compile_captured",
    "compile_text",
    "find_libtpu",
    "resolve_topology",
]
