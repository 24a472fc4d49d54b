"""Time to the first result of the quick start: nothing stored, and from a warm tier 3."""

import json
import os
import subprocess
import sys
import tempfile

from bench.report import Cell, table, target

ROUNDS = 3
ROOT = "TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT"

# The quick start of README.md. The clock starts when the device is open: opening it and importing
# torch cost the same with and without a cache.
SCRIPT = """
import json, time
import torch
start = time.perf_counter()
torch.tpu.init()
opened = time.perf_counter()
model = torch.nn.Linear(4, 2).to("tpu")
loss = model(torch.randn(8, 4, device="tpu")).square().mean()
loss.backward()
loss.item()
first = time.perf_counter()
print(json.dumps({
    "open": 1e3 * (opened - start),
    "first": 1e3 * (first - opened),
    "compiles": torch.tpu.compile_count(),
}))
"""


def _run(root: str | None) -> dict[str, float]:
    env = {k: v for k, v in os.environ.items() if k != ROOT}
    if root is not None:
        env[ROOT] = root
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], check=True, capture_output=True, text=True, env=env
    )
    return json.loads(done.stdout.splitlines()[-1])


def _best(runs: list[dict[str, float]]) -> dict[str, float]:
    return min(runs, key=lambda run: run["first"])


def main() -> None:
    """Alternates cold and warm processes and prints the best of each."""
    with tempfile.TemporaryDirectory() as root:
        _run(root)  # fills it
        cold: list[dict[str, float]] = []
        warm: list[dict[str, float]] = []
        for _ in range(ROUNDS):
            cold.append(_run(None))
            warm.append(_run(root))
    a, b = _best(cold), _best(warm)
    rows: list[list[Cell]] = [
        [name, run["open"], run["first"], int(run["compiles"])]
        for name, run in (("cold", a), ("warm tier 3", b))
    ]
    table(
        "first result of the quick start (ms)",
        ["", "open device", "first result", "compiles"],
        rows,
    )
    target("warm_start.compiles", max(run["compiles"] for run in warm), 0)
    target("warm_start.share_of_cold", b["first"] / a["first"], 0.2)


if __name__ == "__main__":
    main()
