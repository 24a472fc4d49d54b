"""A report as one HTML page: tables, a bar chart of memory by operator, the optimised module."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from torch_tpu.aot.report import Report
from torch_tpu.aot.terminal import facts, memory_rows, placement
from torch_tpu.aot.units import size

_BARS = 20
_BUFFERS = 40
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --bar: #4878d0; --bad: #c0392b; --good: #2e7d32 }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem; margin-bottom: .2rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top }
td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
code, pre { font: 13px/1.4 ui-monospace, monospace } pre { overflow: auto; max-height: 40rem }
.wide { overflow-x: auto } .good { color: var(--good) } .bad { color: var(--bad) }
.bars td:nth-child(3) { width: 45% }
.bar { background: var(--bar); height: .9rem; border-radius: 2px; min-width: 2px }
.note { opacity: .75 }
"""


def page(report: Report) -> str:
    """The whole page."""
    body = _failure(report) if not report.compiled else _success(report)
    title = escape(f"{report.name} on {report.topology}")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>{title}</h1>\n{body}\n</body></html>\n"
    )


def _failure(report: Report) -> str:
    at = f"<p>At <code>{escape(report.failed_at)}</code></p>" if report.failed_at else ""
    return (
        f'<p class="bad">Did not compile: {escape(report.status)}</p>{at}'
        f"<pre>{escape(report.message)}</pre>"
    )


def _success(report: Report) -> str:
    fits = {True: ("good", "fits"), False: ("bad", "does not fit"), None: ("", "limit not known")}
    style, word = fits[report.fits]
    lead = (
        f'<p class="note">{report.num_devices} of {report.topology_devices} devices, '
        f"{escape(report.device_kind)}. {escape(report.compiler)}</p>"
        f'<p class="{style}"><strong>Compiled, {word}.</strong></p>'
    )
    parts = [
        lead,
        _table(("figure", "value"), [(a, escape(b)) for a, b in facts(report)]),
        "<h2>Memory on one device</h2>",
        _table(("part", "bytes"), [(a, _number(size(b))) for a, b in memory_rows(report)]),
        _bars(report),
        _buffers(report),
        _collectives(report),
    ]
    if report.hlo:
        parts.append(
            f"<h2>Optimised module</h2><details><summary>{report.hlo.count(chr(10))} lines"
            f"</summary><pre>{escape(report.hlo)}</pre></details>"
        )
    return "\n".join(part for part in parts if part)


def _number(text: str) -> str:
    return f"\0{escape(text)}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], style: str = "") -> str:
    """Cells are HTML; one that starts with NUL is a number."""
    cells = []
    for row in rows:
        columns = (f'<td class="n">{c[1:]}</td>' if c[:1] == "\0" else f"<td>{c}</td>" for c in row)
        cells.append(f"<tr>{''.join(columns)}</tr>")
    heads = "".join(f"<th>{escape(h)}</th>" for h in head)
    return (
        f'<div class="wide"><table class="{style}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(cells)}</tbody></table></div>"
    )


def _bars(report: Report) -> str:
    grouped = report.memory_by_operator()
    if not grouped:
        return ""
    largest = max(grouped.values()) or 1
    rows = [
        (
            f"<code>{escape(label)}</code>",
            _number(size(value)),
            f'<div class="bar" style="width:{100 * value / largest:.1f}%"></div>',
        )
        for label, value in list(grouped.items())[:_BARS]
    ]
    at = report.live_peak_at
    where = f"{at.operator} {at.source}".strip()
    more = f" {len(grouped) - _BARS} smaller rows are left out." if len(grouped) > _BARS else ""
    return (
        f'<h2>Memory by operator</h2><p class="note">Estimate: {size(report.live_peak)} of HBM at '
        f"the fullest moment of the schedule, in <code>{escape(where)}</code>.{more}</p>"
        + _table(("operator", "bytes", ""), rows, "bars")
    )


def _buffers(report: Report) -> str:
    rows = [
        (
            _number(size(b.bytes)),
            b.kind,
            f"<code>{escape(report.buffer_label(b))}</code>",
            f"<code>{escape(b.shape)}</code>",
            escape(b.source),
        )
        for b in report.buffers[:_BUFFERS]
    ]
    if not rows:
        return ""
    head = ("bytes", "kind", "operator", "shape and layout", "source")
    return "<h2>Largest buffers at that moment</h2>" + _table(head, rows)


def _collectives(report: Report) -> str:
    rows = [
        (
            escape(c.opcode),
            _number(size(c.bytes)),
            f"<code>{escape(c.replica_groups)}</code>",
            escape(placement(c)),
            escape(f"{c.op_name} {c.source}".strip()),
        )
        for c in report.collectives
    ]
    if not rows:
        return ""
    head = ("collective", "bytes", "groups", "placement", "operator")
    return "<h2>Collectives</h2>" + _table(head, rows)
