# What every test file shares: the device under test, comparison with CPU, counters, subprocesses.
"""The device under test is named by TORCH_TPU_TEST_DEVICE (default "tpu"). With "cpu" the same
tests run on plain PyTorch, which checks the tests themselves."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

DEVICE = os.environ.get("TORCH_TPU_TEST_DEVICE", "tpu")
ON_TPU = DEVICE != "cpu"
tpu_only = pytest.mark.skipif(not ON_TPU, reason="asks for the tpu device, which cpu stands in for")


def find_fake_plugin():
    """TORCH_TPU_TEST_FAKE_PLUGIN, else the newest in this checkout's build folder. Those built
    with a sanitizer cannot be loaded into a plain process."""
    if named := os.environ.get("TORCH_TPU_TEST_FAKE_PLUGIN"):
        return named
    build = Path(__file__).parents[1] / "build"
    plain = [build / name / "torch_tpu_fake_plugin.so" for name in ("release", "core")]
    built = sorted((f for f in plain if f.exists()), key=lambda f: f.stat().st_mtime)
    return str(built[-1]) if built else None


def to_device(tree, device=DEVICE):
    """Copies every tensor of nested lists, tuples and dicts to `device`; leaves the rest."""
    return torch.utils._pytree.tree_map(
        lambda x: x.detach().to(device) if isinstance(x, torch.Tensor) else x, tree
    )


def assert_same(actual, expected, **tolerances):
    """Equal values, dtype, shape; `actual` lives on the device under test. NaN equals NaN."""
    assert actual.device.type == torch.device(DEVICE).type, f"result is on {actual.device}"
    expected = expected if isinstance(expected, torch.Tensor) else torch.tensor(expected)
    torch.testing.assert_close(actual.cpu(), expected.cpu(), equal_nan=True, **tolerances)


def strides_that_matter(tensor):
    """Strides of dimensions longer than one; none for an empty tensor (they address nothing)."""
    if tensor.numel() == 0:
        return ()
    return tuple(s for n, s in zip(tensor.shape, tensor.stride(), strict=True) if n > 1)


def eager_mode(name):
    """`torch.tpu.eager_mode(name)` on the device, nothing on cpu."""
    return torch.tpu.eager_mode(name) if ON_TPU else contextlib.nullcontext()


def compile_count():
    return torch.tpu.compile_count() if ON_TPU else 0


def launch_count():
    return torch.tpu.launch_count() if ON_TPU else 0


@contextlib.contextmanager
def no_compiles(what="this block"):
    """Fails when the block compiles a program."""
    before = compile_count()
    yield
    done = compile_count() - before
    assert done == 0, f"{what} compiled {done} programs, expected none"


def run_python(code, *, timeout=120, check=True, cwd=None, **env):
    """Runs `code` in a fresh interpreter; an env value of None removes the variable."""
    full = dict(os.environ)
    for name, value in env.items():
        full.pop(name, None)
        if value is not None:
            full[name] = str(value)
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=full,
        cwd=cwd,
    )
    if check:
        assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def equals(tensor, values, dtype=None):
    """Exactly these values in this shape (and dtype), given as nested lists. NaN equals NaN."""
    expected = torch.tensor(values, dtype=tensor.dtype)
    if dtype is not None:
        assert tensor.dtype == dtype, f"dtype {tensor.dtype}, expected {dtype}"
    torch.testing.assert_close(tensor.detach().cpu(), expected, rtol=0, atol=0, equal_nan=True)


def near(tensor, values, rtol=1e-5, atol=1e-6):
    """These values in this shape within a tolerance."""
    expected = torch.tensor(values, dtype=tensor.dtype)
    torch.testing.assert_close(
        tensor.detach().cpu(), expected, rtol=rtol, atol=atol, equal_nan=True
    )


_FORK_SERVER = """
import json, os, signal, sys, traceback
import torch
for line in sys.stdin:
    request = json.loads(line)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(request["timeout"])
        os.dup2(write, 1), os.dup2(write, 2)
        code = 1
        try:
            exec(compile(request["code"], "<script>", "exec"), {"__name__": "__main__"})
            code = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code)
    os.close(write)
    with os.fdopen(read, errors="replace") as pipe:
        output = pipe.read()
    _, status = os.waitpid(child, 0)
    print(json.dumps([os.waitstatus_to_exitcode(status), output]), flush=True)
"""


class ForkServer:
    """Runs scripts in processes forked from one that has imported torch and done nothing else.

    As good as a fresh interpreter for everything but import and exit, and fifty times as fast.
    """

    def __init__(self, **env):
        self.process = subprocess.Popen(
            [sys.executable, "-c", _FORK_SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **env},
        )

    def run(self, code, timeout=60):
        """What `code` printed; fails the test when it raises or takes longer than `timeout` s."""
        self.process.stdin.write(json.dumps({"code": code, "timeout": timeout}) + "\n")
        self.process.stdin.flush()
        exit_code, output = json.loads(self.process.stdout.readline())
        assert exit_code == 0, f"exit {exit_code}\n{output}"
        return output

    def close(self):
        self.process.stdin.close()
        self.process.wait()
