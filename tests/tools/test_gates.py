"""The gates notice what they are for."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT)]

import check_layers
import check_tree
import gen_features

from bench import report


@pytest.mark.parametrize(
    ("layer", "include", "wrong"),
    [
        ("base", "base/status.h", False),
        ("base", "pjrt/client.h", True),
        ("ops", "shlo/ops.h", False),
        ("ops", "graph/value.h", True),
        ("ops", "pjrt/pjrt.h", True),
        ("shlo", "ATen/ATen.h", True),
        ("graph", "c10/core/Device.h", True),
        ("device", "ATen/core/Tensor.h", False),
        ("device", "torch/extension.h", True),
        ("device", "pybind11/pybind11.h", True),
        ("bindings", "pybind11/pybind11.h", False),
        ("pjrt", "pjrt_c_api.h", False),
        ("graph", "pjrt_c_api.h", True),
        ("graph", "vector", False),
    ],
)
def test_layers(layer, include, wrong):
    assert (check_layers.problem_of(layer, include) is not None) == wrong


def test_tree_notices(tmp_path):
    path = tmp_path / "long.cc"
    path.write_text('#include "a.h"\n' + 'const char* x = getenv("X");\n' * 500)
    name = "src/ops/long.cc"
    assert next(check_tree.size(path, name)).startswith("src/ops/long.cc: 501 lines, at most 450")
    assert len(list(check_tree.environment(path, name))) == 500
    assert list(check_tree.environment(path, "src/base/env.cc")) == []
    assert len(list(check_tree.first_line(path, name))) == 1
    assert list(check_tree.folder(path, name)) == []
    assert len(list(check_tree.folder(path, "src/misc/long.cc"))) == 1
    assert len(list(check_tree.folder(path, "notes.txt"))) == 1


def test_features_need_tests_that_exist():
    def problems(**row):
        sections = [{"features": {"A01": {"what": "x", "verify": "U", **row}}}]
        return [p for p in gen_features.problems(sections) if p.startswith("A01")]

    assert problems(status="planned") == []
    assert problems(status="finished") != []
    assert problems(status="done") == ["A01: done without a test"]
    assert problems(status="done", test="tests/none.py") == ["A01: tests/none.py does not exist"]
    here = "tests/tools/test_gates.py"
    assert problems(status="done", test=f"{here}::test_layers") == []
    missing = "test_" + "absent"
    assert problems(status="done", test=f"{here}::{missing}") == [f"A01: {here} has no {missing}"]
    assert problems(status="partly", test=here) == ["A01: partly without a note"]


def test_target_lines(capsys):
    report.target("a", 1.5, 1.5)
    report.target("b", 1.51, 1.5)
    report.table("t", ["name", "x"], [["a", 1.234], ["b", None], ["c", 1234.5]])
    assert capsys.readouterr().out.splitlines() == [
        "target a 1.5 <= 1.5 met",
        "target b 1.51 <= 1.5 short",
        "t",
        "name     x",
        "a     1.23",
        "b        -",
        "c     1234",
    ]


def test_makefile_has_the_promised_targets():
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    targets = {line.split()[0] for line in listed.stdout.splitlines()}
    assert {"venv", "demo", "test", "bench", "conformance", "test-plugins", "aot"} <= targets
