# The sweep's bookkeeping: patterns of expected failures, kept results, the record for the docs.
import json

import pytest
from torch_tpu.aot import outcomes, sweep

MODULES = [
    ("aten::add.Tensor f32", 'module {} "a" { loc("aten::add.Tensor"("m.py":1:0))'),
    ("aten::add.Tensor f64", 'module {} "please fail" { loc("aten::add.Tensor")'),
    ("solve f32", 'module {} "b" { loc("aten::mul.Tensor") loc("aten::linalg_solve")'),
    ("solve f64", 'module {} "please fail too" { loc("aten::mul.Tensor") loc("aten::det")'),
]


@pytest.fixture
def modules(tmp_path):
    path = tmp_path / "modules.jsonl"
    path.write_text("".join(json.dumps({"name": n, "text": t}) + "\n" for n, t in MODULES))
    return path


def test_a_pattern_stands_for_all_that_fits(helper_stand_in, modules, tmp_path, capsys):
    listed = tmp_path / "expected"
    arguments = [str(modules), "--expected", str(listed), "--topologies", "v5e"]
    listed.write_text("* f64 | * | too wide\n")
    assert sweep.main(arguments) == 0
    assert "| `solve f64` | expected | too wide |" in capsys.readouterr().out
    # Each program of a family must fail.
    listed.write_text("* f64 | * | too wide\nsolve* | v5e | no solver\n")
    assert sweep.main(arguments) == 1
    assert "FIXED solve f32 on v5e:1x1" in capsys.readouterr().out
    listed.write_text("* f64 | * | too wide\n* f16 | * | too narrow\n")
    assert sweep.main(arguments) == 1
    assert "STALE * f16" in capsys.readouterr().out


def test_a_pattern_is_no_regular_expression():
    expected = outcomes.Expected({("a.b [1]*", "*"): "why"})
    assert expected.reason(["a.b [1] f32"], "v5e:1x1") == "why"
    assert expected.reason(["axb 1 f32"], "v5e:1x1") == ""


def test_kept_results_are_not_compiled_again(helper_stand_in, modules, tmp_path):
    programs = sweep.read_programs(modules)
    path = tmp_path / "cache.jsonl"
    first = sweep.sweep(programs, ["v5e"], log=False, cache=sweep.Cache(path))
    assert helper_stand_in.read_text() == "4\n"
    path.write_text(path.read_text() + '{"key": "cut o')
    again = sweep.sweep(programs, ["v5e"], log=False, cache=sweep.Cache(path))
    assert again == first
    assert helper_stand_in.read_text() == "4\n"
    # Neither another topology nor another optimisation level has them.
    sweep.sweep(programs, ["v6e"], log=False, cache=sweep.Cache(path))
    sweep.sweep(programs, ["v5e"], log=False, fast=False, cache=sweep.Cache(path))
    assert helper_stand_in.read_text() == "4\n4\n4\n"


def test_running_out_of_time_is_tried_again(helper_stand_in, tmp_path):
    program = sweep.Program(("slow",), 'module {} "please hang" {', "key")
    path = tmp_path / "cache.jsonl"
    for _ in range(2):
        (outcome,) = sweep.sweep([program], ["v5e"], log=False, cache=sweep.Cache(path))
        assert outcome.status == "DEADLINE_EXCEEDED"
    assert helper_stand_in.read_text() == "1\n1\n"


def test_record_names_who_is_to_blame(helper_stand_in, modules, tmp_path):
    recorded = tmp_path / "sweep.json"
    listed = tmp_path / "expected"
    listed.write_text("* f64 | * | too wide\n")
    arguments = [str(modules), "--expected", str(listed), "--record", str(recorded)]
    assert sweep.main([*arguments, "--topologies", "v5e,v6e"]) == 0
    found = json.loads(recorded.read_text())
    total = {"compiled": 2, "programs": 4}
    assert found["totals"] == {"v5e:1x1": total, "v6e:1x1": total}
    both = ["v5e:1x1", "v6e:1x1"]
    names = ("aten::add.Tensor", "aten::linalg_solve", "aten::mul.Tensor")
    assert found["compiled"] == dict.fromkeys(names, both)
    # add.Tensor compiles elsewhere, and the program is named after it; mul compiles, so det it is.
    why = {"v5e:1x1 f64": "too wide", "v6e:1x1 f64": "too wide"}
    assert found["refused"] == {"aten::add.Tensor": why, "aten::det": why}
