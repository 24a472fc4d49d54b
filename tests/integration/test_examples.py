"""The examples run as a user runs them, in processes of their own, and say the right numbers."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import DEVICE, ON_TPU

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(name: str, *arguments: str) -> str:
    """Output of an example; it fails by itself where a number is off."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), "--device", DEVICE, *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def number(output: str, before: str, after: str = "") -> float:
    """The number between two texts."""
    match = re.search(re.escape(before) + r"\s*([-+.\de]+)" + re.escape(after), output)
    assert match, f"no number after {before!r} in\n{output}"
    return float(match[1])


def test_quickstart():
    pytest.importorskip("transformers", reason="requirements/demo.txt is not installed")
    output = run("quickstart.py")
    assert 0.9999 <= number(output, "smallest cosine to CPU") <= 1.0001
    assert number(output, "largest difference to CPU") < 1e-3
    pairs = re.findall(r"^  (0\.\d\d)  (.*)\n +(.*)$", output, re.MULTILINE)
    assert len(pairs) == 10
    nearest = {sentence: other for _, sentence, other in pairs}
    ferry = "The ferry leaves the harbour every morning at half past six."
    assert nearest[ferry] == "A boat sails from the port at dawn each day."
    if ON_TPU:
        first, second = re.findall(r"(\d+) launches, (\d+) compiles", output)
        assert int(first[0]) > 50, "the model ran somewhere else"
        assert int(first[1]) > 0
        assert int(second[1]) == 0, "the second pass compiled"


def test_train_digits():
    output = run("train_digits.py")
    assert number(output, "test accuracy", "\n") >= 0.97
    assert number(output, "compiles after the first epoch") == 0
    assert number(output, "largest loss difference to CPU in 20 steps") <= 1e-4
    assert number(output, "epoch 1: loss") > number(output, "epoch 6: loss")
    if ON_TPU:
        assert int(re.findall(r"(\d+) compiles$", output, re.MULTILINE)[0]) > 0
