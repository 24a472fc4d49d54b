# Command line: python -m tests.conformance [--slice] [--ops PATTERN] [--kinds a,b] ...
"""Runs PyTorch's operator database on the device and compares everything with CPU.

Results go to build/conformance/results.jsonl. The exit status is 1 when a node fails, crashes or
hangs that is not in expected_failures.toml, or when one passes that is."""

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "conformance"
# Before torch is imported: workers are the parallelism, and threads do not survive the fork.
os.environ["OMP_NUM_THREADS"] = "1"


def _parser():
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--slice", action="store_true", help="forward and gradient of every entry")
    parser.add_argument("--ops", default="*", help="shell patterns of entries, comma-separated")
    parser.add_argument("--dtypes", default="*", help="dtypes, comma-separated")
    parser.add_argument("--kinds", default="*", help="kinds of check, comma-separated")
    parser.add_argument("--rerun", metavar="FILE", help="only nodes that failed in these results")
    parser.add_argument("--resume", metavar="FILE", help="only nodes that these results lack")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="worker processes")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a node may take")
    parser.add_argument("--budget", type=int, help="samples for each node, instead of its own")
    parser.add_argument("--device", default="tpu", help="cpu checks the suite itself")
    parser.add_argument("--output", type=Path, default=FOLDER / "results.jsonl")
    parser.add_argument("--record", type=Path, help="write pass counts by entry to this file")
    parser.add_argument("--list", action="store_true", help="print the nodes and run nothing")
    parser.add_argument("--verbose", action="store_true", help="print every problem at once")
    return parser


def _selected(options, entries, expected):
    from . import nodes, report

    of_entry = nodes.slice_of_entry if options.slice else nodes.of_entry
    found = [node for info in entries.values() for node in of_entry(info)]
    patterns = [p.split(",") for p in (options.ops, options.dtypes, options.kinds)]
    found = [n for n in found if nodes.matches(n, *patterns) and expected.in_scope(n)]
    if options.rerun or options.resume:
        earlier = report.read(Path(options.rerun or options.resume))
        bad = ("failed", "crashed", "hung")
        named = {
            (r["op"], r["dtype"], r["kind"])
            for r in earlier
            if options.resume or r["status"] in bad
        }
        found = [n for n in found if ((n.op, n.dtype, n.kind) in named) != bool(options.resume)]
    return found


def _run(options, entries, selected):
    from . import pool

    FOLDER.mkdir(parents=True, exist_ok=True)
    results = []
    with options.output.open("w", encoding="utf-8") as file:

        def report(result):
            results.append(result)
            file.write(json.dumps(result) + "\n")
            file.flush()
            if options.verbose and result["status"] in ("failed", "crashed", "hung"):
                line = " ".join(result[k] for k in ("op", "dtype", "kind", "status"))
                print(line, result["message"].splitlines()[:2], flush=True)
            elif len(results) % 500 == 0:
                print(f"{len(results)} of {len(selected)} nodes", flush=True)

        units = pool.units_of(selected)
        random.Random(0).shuffle(units)  # entries that take long stand together
        workers = pool.Pool(
            entries, options.device, options.jobs, options.limit, FOLDER, options.budget
        )
        workers.run(units, report)
    return results


def main(argv=None):
    options = _parser().parse_args(argv)
    import torch

    torch.set_num_threads(1)
    from torch.testing._internal.common_methods_invocations import op_db

    from . import nodes, report, table

    entries = {nodes.full_name(info): info for info in op_db}
    expected = table.load()
    selected = _selected(options, entries, expected)
    if options.list:
        print(*selected, sep="\n")
        return 0
    start = time.monotonic()
    results = _run(options, entries, selected)
    whole = options.ops == options.dtypes == options.kinds == "*" and not options.slice
    stale = expected.judge(results, whole and not (options.rerun or options.resume))
    if options.record:
        of_entries = (n for info in entries.values() for n in nodes.of_entry(info))
        everything = [n for n in of_entries if expected.in_scope(n)]
        report.write(options.record, report.record(results, len(everything)))
    return _tell(results, stale, time.monotonic() - start)


def _tell(results, stale, seconds):
    from . import report

    for text, count, operators in report.causes(results)[:25]:
        names = ", ".join(operators[:4]) + (" ..." if len(operators) > 4 else "")
        print(f"{count:5} {text}  [{names}]")
    bad = report.problems(results)
    for r in bad[:40]:
        print(f"{r['verdict']}: {r['op']} {r['dtype']} {r['kind']} {r.get('sample', '')[:100]}")
    if len(bad) > 40:
        print(f"... and {len(bad) - 40} more: build/conformance/results.jsonl")
    for entry in stale:
        print(f"entry of the table that meets no node: {entry}")
    print(*report.summary(results, seconds), sep="\n")
    print(f"mean compiles of a first forward call: {report.first_calls(results):.2f}")
    return 1 if bad or stale else 0


if __name__ == "__main__":
    sys.exit(main())
