# What a person sees while programs are compiled for long: a line, on a terminal a bar, or nothing.
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading

import pytest
from support import run_python, tpu_only

pytestmark = tpu_only

# Every size is a program of its own, so this compiles without a pause.
COMPILE = """
import sys, time
{before}
import torch
x = torch.ones(4096, device="tpu")
until = time.monotonic() + {seconds}
for size in range(1, 4096):
    if time.monotonic() > until:
        break
    torch.neg(x[:size])
assert time.monotonic() > until
time.sleep(1)  # the stretch ends
"""
LINE = "torch_tpu: compiling since 2 s, "


def on_terminal(code, **env):
    """What `code` draws on a terminal that is its stderr."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    drawn = []

    def read():
        try:
            while data := os.read(master, 4096):
                drawn.append(data)
        except OSError:  # the last process that had the terminal is gone
            pass

    reader = threading.Thread(target=read)
    reader.start()
    try:
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            stderr=slave,
            timeout=120,
            env={**os.environ, **env},
        )
    finally:
        os.close(slave)
        reader.join()
        os.close(master)
    return b"".join(drawn).decode()


def test_a_long_stretch_prints_one_line():
    done = run_python(COMPILE.format(before="", seconds=4))
    assert done.stderr.count(LINE) == 1
    assert done.stderr.count("\n") == 1
    programs = int(done.stderr.split(LINE)[1].split()[0])
    assert programs > 5
    assert "TORCH_TPU_COMPILE_PROGRESS=0 silences this" in done.stderr


def test_a_short_stretch_and_the_switch_print_nothing():
    assert run_python(COMPILE.format(before="", seconds=1)).stderr == ""
    done = run_python(COMPILE.format(before="", seconds=4), TORCH_TPU_COMPILE_PROGRESS="0")
    assert done.stderr == ""


def test_a_terminal_shows_a_bar_that_goes_away():
    pytest.importorskip("tqdm")
    drawn = on_terminal(COMPILE.format(before="", seconds=4))
    assert LINE not in drawn
    states = [s for s in drawn.split("\r") if s.startswith("compiling: ")]
    assert len(states) > 5
    # Such as "compiling:  99%|#####| 41/42 [00:02<00:00, 20.4 programs/s]".
    shown = [re.search(r"\| (\d+)/(\d+) \[00:(\d+)<", s) for s in states]
    assert all(shown), states
    done, asked, seconds = zip(*(map(int, m.groups()) for m in shown), strict=True)
    assert done == tuple(sorted(done))
    assert asked[-1] == done[-1] > done[0] > 5
    assert seconds[0] >= 2  # since the first compile, not since the bar
    assert seconds[-1] > seconds[0]
    # The last thing is an empty line of the terminal.
    assert drawn.endswith("\r")
    assert drawn.split("\r")[-2].strip() == ""


def test_the_switch_silences_the_bar_too():
    code = COMPILE.format(before="", seconds=4)
    assert on_terminal(code, TORCH_TPU_COMPILE_PROGRESS="0") == ""


def test_a_terminal_without_tqdm_shows_the_line():
    code = COMPILE.format(before="sys.modules['tqdm'] = None", seconds=4)
    drawn = on_terminal(code)
    assert drawn.count(LINE) == 1
    assert "\x1b" not in drawn
