# Results as JSON lines, the summary by kind, and the record that the documentation shows.
import json
import re
from collections import Counter, defaultdict

from . import nodes, table


def read(path):
    """Results of earlier runs, the last of each node."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        r = json.loads(line)
        found[r["op"], r["dtype"], r["kind"]] = r
    return list(found.values())


def summary(results, seconds):
    """Lines: a table by kind, with the share of judged nodes that passed."""
    head = "kind          nodes passed xfailed failed crashed hung unjudged   rate compiles/call"
    lines = [head]
    groups = [(kind, [r for r in results if r["kind"] == kind]) for kind in nodes.KINDS]
    for kind, group in [*groups, ("all", results)]:
        if group:
            lines.append(_line(kind, group))
    lines.append(f"{len(results)} nodes in {seconds / 60:.1f} minutes")
    return lines


def _line(kind, group):
    count = Counter(r["status"] for r in group)
    expected = sum(r["verdict"] == "xfailed" for r in group)
    judged = len(group) - count["unjudged"]
    rate = count["passed"] / judged if judged else 1.0
    calls, compiles = sum(r["calls"] for r in group), sum(r["compiles"] for r in group)
    mean = f"{compiles / calls:.2f}" if calls else ""
    failed = count["failed"] - expected
    return (
        f"{kind:13} {len(group):5} {count['passed']:6} {expected:7} {failed:6} "
        f"{count['crashed']:7} {count['hung']:4} {count['unjudged']:8} {rate:6.1%} {mean:>8}"
    )


def first_calls(results):
    """Compiles of each first call of a signature: forward calls that compiled at all."""
    forward = [r for r in results if r["kind"] == nodes.FORWARD and r["compiles"]]
    calls = sum(r.get("fresh", 0) for r in forward)
    return sum(r["compiles"] for r in forward) / calls if calls else 0.0


_NUMBERS = re.compile(r"\d+(\.\d+)?(e[+-]\d+)?")


def cause(result):
    """A short text that failures of one cause share."""
    if result["status"] in ("crashed", "hung"):
        return result["status"]
    if missing := result.get("missing"):
        return f"missing {missing}"
    lines = result.get("message", "").splitlines() or [""]
    return _NUMBERS.sub("N", lines[0])[:110]


def causes(results):
    """Failures by cause, most frequent first: (cause, count, operators)."""
    by_cause = defaultdict(list)
    for r in results:
        if r["status"] in ("failed", "crashed", "hung"):
            by_cause[cause(r)].append(r)
    ordered = sorted(by_cause.items(), key=lambda item: -len(item[1]))
    return [(text, len(group), sorted({r["op"] for r in group})) for text, group in ordered]


def problems(results):
    return [r for r in results if r["verdict"] in table.PROBLEMS]


def record(results, nodes_in_all):
    """For docs/conformance.json: [passed, judged] by kind, by entry and kind, and by ATen operator;
    and how many nodes were run, of how many.

    An operator has the nodes of all entries that reach it, with their gradients.
    """
    entries = defaultdict(dict)
    totals = {kind: [0, 0] for kind in nodes.KINDS}
    reached = defaultdict(set)
    for r in results:
        for name in r.get("reaches", ()):
            reached[name].add(r["op"])
        if r["status"] == "unjudged":
            continue
        for counts in (totals[r["kind"]], entries[r["op"]].setdefault(r["kind"], [0, 0])):
            counts[0] += r["status"] == "passed"
            counts[1] += 1
    operators = {}
    for name, ops in sorted(reached.items()):
        counts = [c for op in ops for c in entries[op].values()]
        operators[name] = [sum(c[0] for c in counts), sum(c[1] for c in counts)]
    return {
        "coverage": {"nodes": [len(results), nodes_in_all]},
        "totals": totals,
        "operators": operators,
        "entries": dict(sorted(entries.items())),
    }


def write(path, found):
    """One line for each entry: the file is compared line by line."""
    parts = []
    for key, table_ in found.items():
        lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in table_.items())
        parts.append(f"{json.dumps(key)}: {{\n{lines}\n }}")
    path.write_text("{\n " + ",\n ".join(parts) + "\n}\n", encoding="utf-8")
