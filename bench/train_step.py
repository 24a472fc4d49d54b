"""Time of one eager training step against CPU PyTorch: the digits network and a transformer."""

import statistics
import time

import torch

from bench.report import Cell, table, target
from bench.workloads import Step, digits_step, transformer_step

STEPS = 20
REPEATS = 5
WARM_UP = 3


def milliseconds(step: Step) -> float:
    """Median time of a step; each round waits for its last loss."""
    rounds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        for _ in range(STEPS):
            loss = step()
        loss.cpu()
        rounds.append((time.perf_counter() - begin) / STEPS * 1e3)
    return statistics.median(rounds)


def main() -> None:
    """Runs both models on both devices, alternating."""
    rows: list[list[Cell]] = []
    compiled: dict[str, int] = {}
    for name, make in (("digits", digits_step), ("transformer", transformer_step)):
        on_tpu, on_cpu = make("tpu")[0], make("cpu")[0]
        before = torch.tpu.compile_count()
        begin = time.perf_counter()
        for _ in range(WARM_UP):
            on_tpu().cpu()
            on_cpu()
        warm = time.perf_counter() - begin
        first = torch.tpu.compile_count()
        launches = torch.tpu.launch_count()
        on_tpu().cpu()
        launches = torch.tpu.launch_count() - launches
        tpu, cpu = milliseconds(on_tpu), milliseconds(on_cpu)
        compiled[name] = torch.tpu.compile_count() - first
        rows.append([name, tpu, cpu, tpu / cpu, launches, first - before, warm])
    columns = ["step", "tpu ms", "cpu ms", "tpu/cpu", "launches", "compiles", "warm-up s"]
    table("one eager training step", columns, rows)
    for name, count in compiled.items():
        target(f"train_step.{name}.compiles_after_warm_up", count, 0)


if __name__ == "__main__":
    main()
