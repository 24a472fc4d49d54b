"""What a compiler says of a program: memory, work, time estimates, collectives, text, binary."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch_tpu.aot.captured import Captured
from torch_tpu.aot.topology import generation_of


@dataclass(frozen=True)
class Memory:
    """Bytes on one device, as the compiler counts them; `host_*` are in host memory."""

    argument: int = 0
    output: int = 0
    alias: int = 0
    """Part of `output` that lies in donated arguments."""
    temp: int = 0
    generated_code: int = 0
    peak: int = 0
    """Most bytes in use at one time. On TPUs it counts on-chip vector memory too."""
    host_argument: int = 0
    host_output: int = 0
    host_alias: int = 0
    host_temp: int = 0
    host_generated_code: int = 0
    total: int = 0
    total_allocation: int = 0
    indefinite_allocation: int = 0
    peak_unpadded_heap: int = 0

    @property
    def hbm(self) -> int:
        """What the program needs of HBM: arguments, outputs, temporaries and code."""
        return self.argument + self.output - self.alias + self.temp + self.generated_code


@dataclass(frozen=True)
class Origin:
    """The instruction of the optimised module behind a figure, and where it comes from."""

    instruction: str = ""
    opcode: str = ""
    op_name: str = ""
    """Operator, "aten::mm", where the module's locations name one."""
    source_file: str = ""
    source_line: int = 0

    @property
    def operator(self) -> str:
        """Operator, or the opcode where none is known."""
        return self.op_name or self.opcode

    @property
    def source(self) -> str:
        """ "model.py:12", "line 7 of the module" without Python locations, or empty."""
        if self.source_file == "-":
            return f"line {self.source_line} of the module"
        return f"{self.source_file}:{self.source_line}" if self.source_file else ""


@dataclass(frozen=True)
class Buffer(Origin):
    """A buffer that is alive when most memory is in use (an estimate from the schedule)."""

    bytes: int = 0
    kind: str = ""
    """ "argument", "output", "temporary" or "constant"."""
    shape: str = ""
    """With layout: "bf16[8,128]{1,0:T(8,128)(2,1)}"."""
    parameter: int = -1
    computation: str = ""


@dataclass(frozen=True)
class Collective(Origin):
    """A collective operation and its place in the schedule."""

    shape: str = ""
    bytes: int = 0
    """Of its operands, on one device."""
    replica_groups: str = ""
    computation: str = ""
    """It runs in; a loop body runs many times."""
    start: int = 0
    done: int = 0
    length: int = 0
    """Of the schedule."""

    @property
    def overlap(self) -> int:
        """Instructions that are scheduled between its start and its end; 0 when synchronous."""
        return max(0, self.done - self.start - 1)


@dataclass(frozen=True)
class Report:
    """Result of compiling one program for a topology. `print(report)`, `report.to_html()`."""

    name: str
    topology: str
    compiled: bool
    status: str
    """ "OK", or the name of the compiler's error code."""
    message: str = ""
    """Why it did not compile."""
    failed_at: str = ""
    """Operator and line that the message points at, where known."""
    num_devices: int = 1
    """That the program runs on."""
    topology_devices: int = 1
    fast: bool = False
    compile_seconds: float = 0.0
    compiler: str = ""
    device_kind: str = ""
    hbm_limit: int = 0
    """Bytes of HBM of one device; 0 where not known."""
    memory: Memory = Memory()
    costs: Mapping[str, float] = field(default_factory=dict)
    """Everything of the compiler's cost analysis; loop bodies count once."""
    instructions: int = 0
    fusions: int = 0
    estimated_cycles: int = 0
    """Sum of the compiler's estimates; loop bodies count once."""
    unknown_cycles: int = 0
    """Instructions whose estimate is missing from that sum."""
    custom_calls: int = 0
    custom_call_targets: tuple[str, ...] = ()
    collectives: tuple[Collective, ...] = ()
    live_peak: int = 0
    """Estimated bytes of HBM in use at the fullest moment of the schedule."""
    live_peak_at: Origin = Origin()
    buffers: tuple[Buffer, ...] = ()
    """Alive at that moment, largest first."""
    other_buffers: int = 0
    """Bytes of those that are too many to list."""
    generated_code_bytes: int = 0
    fingerprint: str = ""
    hlo: str = ""
    """The optimised module as text."""
    executable: bytes = field(default=b"", repr=False)
    """To be loaded by a process with such a TPU and the same libtpu."""
    captured: Captured | None = None

    @property
    def fits(self) -> bool | None:
        """Whether it fits a device's HBM; None where the limit is not known."""
        if not self.compiled:
            return False if self.status == "RESOURCE_EXHAUSTED" else None
        return self.memory.hbm <= self.hbm_limit if self.hbm_limit else None

    @property
    def flops(self) -> float:
        """Floating-point operations on one device."""
        return self.costs.get("flops", 0.0)

    @property
    def bytes_accessed(self) -> float:
        """Bytes read and written by all instructions on one device."""
        return self.costs.get("bytes accessed", 0.0)

    @property
    def optimal_seconds(self) -> float | None:
        """The compiler's roofline as it stands: each custom call of unknown cost counts -1."""
        return self.costs.get("optimal_seconds")

    @property
    def uncosted_calls(self) -> int:
        """Custom calls whose cost the compiler does not know.

        Found from the sum: the number that lifts it to about what flops and bytes take alone, and
        to no less than nothing.
        """
        if self.optimal_seconds is None:
            return 0
        missing = max(
            math.ceil(-self.optimal_seconds), round(self._least_seconds() - self.optimal_seconds)
        )
        return max(0, min(self.custom_calls, missing))

    @property
    def roofline_seconds(self) -> float | None:
        """ESTIMATE of the least time of one run: roofline, no interconnect, loop bodies once.

        None where the compiler gives none. Calls of unknown cost count as nothing.
        """
        if self.optimal_seconds is None:
            return None
        return max(0.0, self.optimal_seconds + self.uncosted_calls)

    def _least_seconds(self) -> float:
        generation = generation_of(self.topology)
        by_flops = self.flops / generation.peak_flops if generation.peak_flops else 0.0
        by_bytes = self.bytes_accessed / generation.peak_bytes if generation.peak_bytes else 0.0
        return max(by_flops, by_bytes)

    def memory_by_operator(self) -> dict[str, int]:
        """Estimated bytes alive at the fullest moment, by operator; arguments under their name."""
        grouped: dict[str, int] = {}
        for buffer in self.buffers:
            key = self.buffer_label(buffer)
            grouped[key] = grouped.get(key, 0) + buffer.bytes
        if self.other_buffers:
            grouped["(smaller buffers)"] = self.other_buffers
        return dict(sorted(grouped.items(), key=lambda item: -item[1]))

    def buffer_label(self, buffer: Buffer) -> str:
        """Operator of a buffer, or the name of the argument that it is."""
        if buffer.kind != "argument":
            return buffer.operator
        inputs = self.captured.inputs if self.captured else []
        if 0 <= buffer.parameter < len(inputs):
            return f"argument {inputs[buffer.parameter].name}"
        return f"argument {buffer.op_name or buffer.parameter}"

    def to_dict(self) -> dict[str, Any]:
        """Everything but texts and binary, for JSON."""
        plain = dataclasses.asdict(self)
        for name in ("hlo", "executable", "captured"):
            del plain[name]
        return plain

    def to_html(self) -> str:
        """One page that needs no other file."""
        from torch_tpu.aot.html import page

        return page(self)

    def __str__(self) -> str:
        from torch_tpu.aot.terminal import text

        return text(self)

    @classmethod
    def from_result(
        cls, result: Mapping[str, Any], described: Mapping[str, Any], **known: Any
    ) -> Report:
        """From the helper's result.json and what it said of the topology."""
        analysis = result.get("analysis", {})
        live = analysis.get("live_peak", {})
        devices = described.get("devices", [])
        attributes = described.get("attributes", {})
        limit = attributes.get("device_memory_bytes_limit", 0)
        return cls(
            name=result["name"],
            compiled=result["status"] == "OK",
            status=result["status"],
            message=result.get("message", ""),
            compile_seconds=result.get("compile_seconds", 0.0),
            compiler=" ".join(described.get("platform_version", "").split()),
            device_kind=devices[0]["kind"] if devices else "",
            topology_devices=len(devices),
            hbm_limit=int(limit),
            memory=_make(Memory, result.get("memory", {})),
            costs=dict(result.get("costs", {})),
            custom_call_targets=tuple(analysis.get("custom_call_targets", ())),
            collectives=tuple(_make(Collective, c) for c in analysis.get("collectives", ())),
            live_peak=live.get("bytes", 0),
            live_peak_at=_make(Origin, live.get("at", {})),
            buffers=tuple(_make(Buffer, b) for b in live.get("buffers", ())),
            other_buffers=live.get("other_buffers_bytes", 0),
            generated_code_bytes=result.get("generated_code_bytes", 0),
            fingerprint=result.get("fingerprint", ""),
            **{key: analysis.get(key, 0) for key in _COUNTS},
            **known,
        )


_COUNTS = ("instructions", "fusions", "estimated_cycles", "unknown_cycles", "custom_calls")


def _make(kind: Any, values: Mapping[str, Any]) -> Any:
    """An object of a dataclass from those values that it has fields for."""
    names = {f.name for f in dataclasses.fields(kind)}
    return kind(**{k: v for k, v in values.items() if k in names})
