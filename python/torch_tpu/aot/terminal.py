"""A report as text of at most 100 columns."""

from __future__ import annotations

import textwrap

from torch_tpu.aot.report import Collective, Report
from torch_tpu.aot.units import count, duration, size

_OPERATORS = 10
_BUFFERS = 5
_BAR = 24
_WIDTH = 100
_LEAST_SOURCE = 12


def text(report: Report) -> str:
    """What `print(report)` shows."""
    head = f"{report.name} on {report.topology}"
    if report.device_kind:
        head += f" ({report.num_devices} of {report.topology_devices} x {report.device_kind})"
    if not report.compiled:
        return "\n".join([head, *_failure(report)])
    parts = [head, *_summary(report), *_memory(report), *_collectives(report)]
    return "\n".join(parts)


def _failure(report: Report) -> list[str]:
    lines = [f"  did not compile: {report.status}"]
    if report.failed_at:
        lines.append(f"  at               {report.failed_at}")
    return lines + [f"  {line}" for line in report.message.splitlines()]


def verdict(report: Report) -> str:
    """Whether it fits, in words."""
    if report.fits is None:
        return "HBM limit not known"
    share = report.memory.hbm / report.hbm_limit
    return f"{'fits' if report.fits else 'DOES NOT FIT'}: {share:.1%} of {size(report.hbm_limit)}"


def facts(report: Report) -> list[tuple[str, str]]:
    """The figures that both forms of a report show, as label and value."""
    memory = report.memory
    mode = "fast mode" if report.fast else "default optimisation"
    rows = [
        ("compiled", f"in {duration(report.compile_seconds)}, {mode}"),
        ("HBM needed", f"{size(memory.hbm)}  ({verdict(report)})"),
        ("compiler's peak", f"{size(memory.peak)}, on-chip vector memory included"),
        ("flops", count(report.flops)),
        ("bytes accessed", size(report.bytes_accessed)),
    ]
    if report.roofline_seconds is not None:
        estimate = f"{duration(report.roofline_seconds)}  (ESTIMATE: roofline, no interconnect)"
        if report.uncosted_calls:
            estimate += f", without {report.uncosted_calls} custom calls of unknown cost"
        rows.append(("time", estimate))
    cycles = (
        f"{count(report.estimated_cycles)}  (ESTIMATE: sum over instructions, loop bodies once)"
    )
    if report.unknown_cycles:
        cycles += f", {report.unknown_cycles} instructions without"
    rows += [
        ("cycles", cycles),
        ("instructions", f"{report.instructions}, {report.fusions} of them fusions"),
        ("generated code", size(report.generated_code_bytes)),
        ("executable", size(len(report.executable))),
    ]
    if report.custom_call_targets:
        rows.append(("custom calls", ", ".join(report.custom_call_targets)))
    return rows


def memory_rows(report: Report) -> list[tuple[str, int]]:
    """Parts of the memory that are not zero."""
    m = report.memory
    parts = [
        ("arguments", m.argument),
        ("outputs", m.output),
        ("of them in donated arguments", m.alias),
        ("temporaries", m.temp),
        ("code", m.generated_code),
        ("arguments on the host", m.host_argument),
        ("outputs on the host", m.host_output),
        ("temporaries on the host", m.host_temp),
    ]
    return [(label, value) for label, value in parts if value]


def placement(collective: Collective) -> str:
    """Where a collective stands in the schedule, in words."""
    where = f"{collective.start + 1} of {collective.length} in {collective.computation}"
    if collective.done == collective.start:
        return f"synchronous, {where}"
    return f"asynchronous over {collective.overlap} instructions, from {where}"


def _clipped(text: str, source: str) -> str:
    """Text and a source line within the width; of the two the source gives way, at its front."""
    text = text[:_WIDTH]
    room = _WIDTH - len(text) - 1
    if len(source) > room:
        source = f"...{source[3 - room :]}" if room > _LEAST_SOURCE else ""
    return f"{text} {source}".rstrip()


def _summary(report: Report) -> list[str]:
    lines = []
    for label, value in facts(report):
        first, *more = textwrap.wrap(value, _WIDTH - 19)
        lines += [f"  {label:<17}{first}", *(f"{'':19}{line}" for line in more)]
    return lines


def _memory(report: Report) -> list[str]:
    lines = ["memory"]
    lines += [f"  {label:<30}{size(value):>12}" for label, value in memory_rows(report)]
    grouped = report.memory_by_operator()
    if grouped:
        lines.append(
            f"memory by operator at the fullest moment (ESTIMATE, {size(report.live_peak)})"
        )
        at = report.live_peak_at
        lines.append(_clipped(f"  at {at.operator}", at.source))
        largest = max(grouped.values())
        for label, value in list(grouped.items())[:_OPERATORS]:
            bar = "#" * max(1, round(_BAR * value / largest))
            lines.append(f"  {label[:38]:<38}{size(value):>12} {bar}")
        if len(grouped) > _OPERATORS:
            lines.append(f"  and {len(grouped) - _OPERATORS} more")
        lines.append("largest buffers")
        for b in report.buffers[:_BUFFERS]:
            lines.append(
                _clipped(f"  {size(b.bytes):>12} {b.kind:<10} {report.buffer_label(b)}", "")
            )
            lines.append(_clipped(f"{'':16}{b.shape}", b.source))
    return lines


def _collectives(report: Report) -> list[str]:
    if not report.collectives:
        return []
    lines = ["collectives"]
    for c in report.collectives:
        groups = f" {c.replica_groups}" if c.replica_groups else ""
        lines.append(f"  {c.opcode} {size(c.bytes)}{groups}  {c.op_name} {c.source}".rstrip())
        lines.append(f"      {placement(c)}")
    return lines
