"""Cost of one eager operator against its floor: an empty kernel plus a bare execute of its program.

Where $PEER_DIR holds an environment `v-tpu` with Google's torch_tpu and `plug/` with a CPU plugin
and a shim that lets torch_tpu drive it, both packages run on that plugin, in turn.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.report import Cell, table, target

OPS = Path(__file__).with_name("_dispatch_ops.py")
LARGEST_OVER_FLOOR = 1.5
LARGEST_OVER_TORCH_TPU = 0.2
PEER_PLUGIN = "pjrt_c_api_cpu_plugin.so"


def measure(python: str, which: str, **environment: str) -> dict[str, Any] | None:
    """What _dispatch_ops prints in a process of its own; None where it fails."""
    done = subprocess.run(
        [python, str(OPS), which],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        print(f"{which} failed:\n{done.stderr[-2000:]}")
        return None
    return json.loads(done.stdout.splitlines()[-1])


def peer_folder() -> Path | None:
    """$PEER_DIR, where it holds what the comparison needs."""
    folder = Path(os.environ.get("PEER_DIR", "/nonexistent"))
    needed = ("v-tpu/bin/python", "plug/shim.so", f"plug/{PEER_PLUGIN}")
    return folder if all((folder / name).exists() for name in needed) else None


def main() -> None:
    """Runs all, prints the table and the targets."""
    peer, theirs, environment = peer_folder(), None, {}
    if peer:
        plugin = str(peer / "plug" / PEER_PLUGIN)
        environment = {"TORCH_TPU_PJRT_PLUGIN": plugin}
        shim = {"TPU_LIBRARY_PATH": str(peer / "plug/shim.so"), "SHIM_REAL": plugin}
        python = str(peer / "v-tpu/bin/python")
        theirs = measure(python, "torch_tpu", TPU_SKIP_MDS_QUERY="1", PYTHONPATH="", **shim)
    ours = measure(sys.executable, "tpu", **environment)
    cpu = measure(sys.executable, "cpu", TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    if ours is None or cpu is None:
        target("dispatch.ran", 1, 0)
        return

    rows: list[list[Cell]] = []
    ratios: dict[str, float] = {}
    for name, own in ours["us"].items():
        empty, bare = ours["empty"][name], ours["bare"][name]
        ratios[name] = own / (empty + bare)
        other = theirs["us"].get(name) if theirs else None
        rows.append([name, own, empty, bare, ratios[name], cpu["us"][name], other])
    columns = ["op, 16x16 f32", "tpu us", "empty us", "bare us", "ratio", "cpu us", "torch_tpu us"]
    table("microseconds per strict call", columns, rows)
    if theirs is None:
        print("torch_tpu: not measured here ($PEER_DIR names no environment with it)")
    for name, ratio in ratios.items():
        target(f"dispatch.{name}.over_floor", ratio, LARGEST_OVER_FLOOR)
        if theirs:
            over = ours["us"][name] / theirs["us"][name]
            target(f"dispatch.{name}.over_torch_tpu", over, LARGEST_OVER_TORCH_TPU)


if __name__ == "__main__":
    main()
