# Tests of the conformance suite: isolation of workers, the strict table, what is an error.
import os
import signal
import time

import pytest
import torch
from conformance import kinds, nodes, pool, report, samples, table, worker
from torch.testing._internal.common_methods_invocations import op_db

ENTRIES = {nodes.full_name(info): info for info in op_db}


def result(node, status="passed"):
    counts = {"calls": 1, "compiles": 0, "fresh": 0, "seconds": 0.0, "message": ""}
    return {"op": node.op, "dtype": node.dtype, "kind": node.kind, "status": status, **counts}


def act(info, node, device, budget=None, phase=lambda name: None):
    if node.op == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if node.op == "judge crashes":
        phase("judge")
        os.abort()
    if node.op == "hang":
        time.sleep(60)
    return result(node)


def test_a_worker_that_dies_or_hangs_costs_its_node_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(worker, "run_node", act)
    names = ("a", "crash", "b", "hang", "c", "judge crashes", "d")
    unit = [nodes.Node(name, "float32", "forward") for name in names]
    found = []
    entries = dict.fromkeys(names)
    pool.Pool(entries, "cpu", 2, limit=2, folder=tmp_path).run([unit], found.append)
    statuses = {r["op"]: r["status"] for r in found}
    assert len(found) == len(names)
    assert statuses == {
        **dict.fromkeys("abcd", "passed"),
        "crash": "crashed",
        "hang": "hung",
        "judge crashes": "unjudged",
    }


def test_a_worker_ends_while_another_lives(monkeypatch, tmp_path):
    def too_long(*_):
        raise TimeoutError("a worker that was told to end did not")

    monkeypatch.setattr(worker, "run_node", act)
    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(30)
    try:
        units = [[nodes.Node(name, "float32", "forward")] for name in ("a", "b", "c", "d")]
        found = []
        pool.Pool(dict.fromkeys("abcd"), "cpu", 3, 20, tmp_path).run(units, found.append)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert len(found) == 4


ADD, MUL = nodes.Node("add", "float32", "forward"), nodes.Node("mul", "float32", "grad")
TABLE = '[[expected]]\nop = "a*"\nkind = ["forward", "out"]\nreason = "known"\n'


def test_an_expected_failure_is_no_problem():
    results = [result(ADD, "failed"), result(MUL)]
    assert table.Table(TABLE).judge(results, whole=True) == []
    assert [r["verdict"] for r in results] == ["xfailed", "passed"]
    assert report.problems(results) == []


def test_an_expected_failure_that_passes_is_a_problem():
    results = [result(ADD)]
    table.Table(TABLE).judge(results, whole=True)
    assert [r["verdict"] for r in report.problems(results)] == ["passed unexpectedly"]


def test_an_entry_that_meets_no_node_is_told_after_a_whole_run():
    judged = table.Table(TABLE)
    assert judged.judge([result(MUL)], whole=False) == []
    assert judged.judge([result(MUL)], whole=True) == judged.expected


@pytest.mark.parametrize("status", ["crashed", "hung"])
def test_a_crash_is_never_expected(status):
    results = [result(ADD, status)]
    table.Table(TABLE).judge(results, whole=True)
    assert report.problems(results) == results


def test_an_entry_needs_a_reason():
    with pytest.raises(ValueError, match="needs op and reason"):
        table.Table('[[expected]]\nop = "add"\n')


def missing():
    raise NotImplementedError("The operator 'aten::foo' is not implemented on device tpu")


def test_a_missing_operator_is_not_the_error_that_was_expected():
    with pytest.raises(NotImplementedError):
        kinds.raises(RuntimeError, missing, "CPU raises RuntimeError")


def test_another_type_of_error_is_told():
    with pytest.raises(AssertionError, match="no error"):
        kinds.raises(RuntimeError, lambda: None, "CPU raises RuntimeError")
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        kinds.raises(IndexError, lambda: 1 / 0, "CPU raises IndexError")


def test_samples_meet_every_form_within_the_budget():
    chosen = samples.choose(ENTRIES["sum"], torch.float32, nodes.FORWARD)
    assert 1 < len(chosen) <= 6
    assert {c.args[0].dim() for c in chosen} >= {0, 1}
    assert any("keepdim" in c.kwargs for c in chosen)


def test_every_dtype_of_an_entry_has_a_forward_node():
    names = {n.dtype for n in nodes.of_entry(ENTRIES["add"]) if n.kind == nodes.FORWARD}
    assert names == {nodes.dtype_name(d) for d in ENTRIES["add"].dtypes} - {"complex32"}


@pytest.mark.parametrize("kind", [k for k in nodes.KINDS if k != nodes.ERROR])
def test_cpu_passes_its_own_judgement(kind):
    dtype = "float64" if kind in (nodes.GRADCHECK, nodes.FORWARD_AD) else "float32"
    found = worker.run_node(ENTRIES["cumsum"], nodes.Node("cumsum", dtype, kind), "cpu")
    assert found["status"] == "passed", found


def test_a_wrong_value_fails(monkeypatch):
    monkeypatch.setattr(kinds.Context, "on_device", lambda self, run: run("cpu") + 1e-2)
    found = worker.run_node(ENTRIES["exp"], nodes.Node("exp", "float32", nodes.FORWARD), "cpu")
    assert found["status"] == "failed"
    assert "not close" in found["message"]
    assert found["sample"].startswith("(float32[")
