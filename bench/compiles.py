"""Programs compiled after the first round of loops that must not recompile."""

from collections.abc import Callable

import torch
from torch.nn.functional import scaled_dot_product_attention

from bench.report import Cell, table, target
from bench.workloads import digits_step

ROUNDS = 8

Loop = Callable[[int], None]


def training() -> Loop:
    """Steps of the digits network with Adam."""
    step, _ = digits_step("tpu")
    return lambda i: step().cpu().fill_(i)


def learning_rate_schedule() -> Loop:
    """The same with another learning rate in each step."""
    step, optimizer = digits_step("tpu")
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4 * ROUNDS)

    def loop(_: int) -> None:
        step().cpu()
        schedule.step()

    return loop


def decoding() -> Loop:
    """One token of attention over a key and value cache that is written at a moving position."""
    keys, values = (torch.zeros(1, 4, 64, 16, device="tpu") for _ in range(2))
    positions = torch.arange(64, device="tpu")
    prompt = 4  # positions 0, 1 and 2 may be constants of programs

    def loop(i: int) -> None:
        i += prompt
        query = torch.randn(1, 4, 1, 16).to("tpu")
        keys[:, :, i : i + 1] = query
        values[:, :, i : i + 1] = query * 0.5
        mask = (positions <= i).view(1, 1, 1, 64)
        scaled_dot_product_attention(query, keys, values, attn_mask=mask).cpu()

    return loop


def indexing() -> Loop:
    """x[i] for each i, read and written."""
    x = torch.arange(4.0 * ROUNDS, device="tpu").view(-1, 2)

    def loop(i: int) -> None:
        x[i] = x[i] * 2.0
        x[i].cpu()

    return loop


def main() -> None:
    """Counts the compiles of the first round and of all later ones."""
    loops: dict[str, Callable[[], Loop]] = {
        "training": training,
        "lr_schedule": learning_rate_schedule,
        "decode": decoding,
        "x[i]": indexing,
    }
    rows: list[list[Cell]] = []
    later: dict[str, int] = {}
    for name, make in loops.items():
        loop = make()
        start = torch.tpu.compile_count()
        for i in range(2):
            loop(i)
        warm = torch.tpu.compile_count()
        for i in range(2, ROUNDS):
            loop(i)
        later[name] = torch.tpu.compile_count() - warm
        rows.append([name, warm - start, later[name]])
    table("programs compiled", ["loop", "two rounds", f"{ROUNDS - 2} more"], rows)
    for name, count in later.items():
        target(f"compiles.{name}", count, 0)


if __name__ == "__main__":
    main()
