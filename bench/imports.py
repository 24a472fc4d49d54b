"""What the installed device adds to `import torch`, and the size of the wheel."""

import os
import statistics
import subprocess
import sys

from bench.report import table, target
from bench.workloads import ROOT

REPEATS = 7
CHILD = """
import time
begin = time.perf_counter()
import torch
seconds = time.perf_counter() - begin
pages = int(open("/proc/self/statm").read().split()[1])
started = hasattr(torch, "tpu") and torch.tpu.is_initialized()
print(seconds * 1e3, pages * 4096 / 2**20, int(started))
"""


def import_torch(autoload: str) -> tuple[float, float, float]:
    """(milliseconds, resident MB, clients started) of a fresh process after `import torch`."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        env={**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": autoload},
        capture_output=True,
        text=True,
        check=True,
    )
    milliseconds, megabytes, started = map(float, done.stdout.split())
    return milliseconds, megabytes, started


def wheel_megabytes() -> float | None:
    """Size of the wheel that `make venv` built; None where there is none."""
    wheels = list((ROOT / "build/dist").glob("torchtpu-*.whl"))
    return wheels[0].stat().st_size / 1e6 if wheels else None


def main() -> None:
    """Alternates processes without and with the device."""
    without, with_device = [], []
    for _ in range(REPEATS):
        without.append(import_torch("0"))
        with_device.append(import_torch("1"))
    # Noise only adds time, so the fastest run says most; memory hardly varies.
    times = [min(run[0] for run in runs) for runs in (without, with_device)]
    memory = [statistics.median(run[1] for run in runs) for runs in (without, with_device)]
    wheel = wheel_megabytes()
    table(
        "import torch",
        ["", "without", "with", "adds"],
        [
            ["time, ms", *times, times[1] - times[0]],
            ["resident, MB", *memory, memory[1] - memory[0]],
            ["wheel, MB", None, wheel, None],
        ],
    )
    target("imports.time_ms", times[1] - times[0], 150)
    target("imports.resident_mb", memory[1] - memory[0], 60)
    target("imports.clients_started", max(run[2] for run in with_device), 0)
    if wheel is not None:
        target("imports.wheel_mb", wheel, 10)


if __name__ == "__main__":
    main()
