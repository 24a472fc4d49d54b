"""DeferAndFuse against strict eager mode: time, launches, compiles and memory of one step."""

import statistics
import sys
import time
from collections.abc import Callable

import torch
from torch import nn
from torch.nn.functional import mse_loss

from bench.report import Cell, table, target
from bench.workloads import Step, digits_step, train_step_of, transformer_step

STEPS = 20
REPEATS = 5
WARM_UP = 4
MODES = ("strict", "defer")


def element_wise_step(device: str) -> Step:
    """GELU, layer norm and softmax spelt out, four times over 64 x 256 float32."""
    torch.manual_seed(0)
    x = torch.randn(64, 256).to(device)

    def step() -> torch.Tensor:
        y = x
        for _ in range(4):
            y = 0.5 * y * (1 + torch.tanh(0.79788456 * (y + 0.044715 * y * y * y)))
            centred = y - y.mean(-1, keepdim=True)
            y = centred / torch.sqrt((centred * centred).mean(-1, keepdim=True) + 1e-5)
            powers = torch.exp(y - y.amax(-1, keepdim=True))
            y = powers / powers.sum(-1, keepdim=True)
        return y

    return step


def lstm_step(device: str) -> Step:
    """One training step of an LSTM of 128 units over 16 time steps, batch 32."""
    torch.manual_seed(0)
    net = nn.LSTM(64, 128, batch_first=True).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    inputs, wanted = torch.randn(32, 16, 64).to(device), torch.randn(32, 16, 128).to(device)
    return train_step_of(net, optimizer, inputs, lambda out: mse_loss(out[0], wanted))


WORKLOADS: dict[str, Callable[[str], Step]] = {
    "transformer, 6 layers": lambda device: transformer_step(device, layers=6)[0],
    "small transformer, 6 layers": lambda device: transformer_step(device, 6, 32, 1, 8)[0],
    "digits": lambda device: digits_step(device)[0],
    "element-wise chain": element_wise_step,
    "lstm": lstm_step,
}


class Run:
    """One workload in one mode."""

    def __init__(self, make: Callable[[str], Step], mode: str) -> None:
        self.mode = mode
        others = torch.tpu.memory_allocated()
        before = torch.tpu.counters()
        begin = time.perf_counter()
        with torch.tpu.eager_mode(mode):
            self.step = make("tpu")
            for _ in range(WARM_UP):
                self.step().cpu()
        self.warm_up = time.perf_counter() - begin
        after = torch.tpu.counters()
        self.compiles = after["compiles"] - before["compiles"]
        torch.tpu.reset_peak_memory_stats()
        launches = torch.tpu.launch_count()
        with torch.tpu.eager_mode(mode):
            self.step().cpu()
        self.launches = torch.tpu.launch_count() - launches
        self.peak = torch.tpu.memory_stats()["launch_bytes.all.peak"] - others
        self.rounds: list[float] = []

    def measure(self) -> None:
        """One round: STEPS steps, each of which reads its result."""
        with torch.tpu.eager_mode(self.mode):
            begin = time.perf_counter()
            for _ in range(STEPS):
                self.step().cpu()
            self.rounds.append((time.perf_counter() - begin) / STEPS * 1e3)

    def milliseconds(self) -> float:
        """Median of the rounds."""
        return statistics.median(self.rounds)


def main() -> None:
    """Runs every workload, or those that an argument begins, in both modes, in turns."""
    rows: list[list[Cell]] = []
    for name, make in WORKLOADS.items():
        if sys.argv[1:] and not name.startswith(tuple(sys.argv[1:])):
            continue
        runs = {mode: Run(make, mode) for mode in MODES}
        for _ in range(REPEATS):
            for run in runs.values():
                run.measure()
        strict, defer = runs["strict"], runs["defer"]
        faster = strict.milliseconds() / defer.milliseconds()
        for mode, run in runs.items():
            rows.append(
                [
                    f"{name}: {mode}",
                    run.milliseconds(),
                    strict.milliseconds() / run.milliseconds(),
                    run.launches,
                    run.compiles,
                    run.warm_up,
                    run.peak / 2**20,
                ]
            )
        slug = name.replace(",", "").replace(" ", "_")
        target(f"defer.{slug}.time_ratio", 1 / faster, 1 / 1.5)
        target(f"defer.{slug}.launch_ratio", defer.launches / strict.launches, 0.1)
        target(f"defer.{slug}.peak_ratio", defer.peak / strict.peak, 1.0)
    columns = ["step", "ms", "x strict", "launches", "compiles", "warm-up s", "peak MiB"]
    table("one step, read at its end", columns, rows)


if __name__ == "__main__":
    main()
