"""Compiling in another process: aborts, time limits, refusals, progress. Without libtpu."""

import io
import os

import pytest
from aotsupport import MATMUL, UNBOUNDED
from support import find_fake_plugin
from torch_tpu import aot
from torch_tpu.aot import helper, library, sweep


def test_result_becomes_a_report(helper_stand_in):
    report = aot.compile_text(MATMUL, "v5e", name="f")
    assert report.compiled
    assert (report.name, report.topology, report.device_kind) == ("f", "v5e:1x1", "stand-in")
    assert report.hbm_limit == 1000000
    assert report.fits is True


def test_abort_is_a_reason(helper_stand_in):
    report = aot.compile_text("module {} // please abort")
    assert not report.compiled
    assert report.status == "ABORTED"
    assert "SIGABRT" in report.message
    assert "Check failed: !count_overflow" in report.message
    assert "noise" not in report.message


def test_time_limit_is_a_reason(helper_stand_in):
    report = aot.compile_text("module {} // please hang", timeout=7)
    assert report.status == "DEADLINE_EXCEEDED"
    assert "within 7 s" in report.message


def test_process_that_ignores_its_limit_is_ended(helper_stand_in, monkeypatch):
    monkeypatch.setattr(helper, "_GRACE", 0.0)
    report = aot.compile_text("module {} // please wait", timeout=1)
    assert report.status == "DEADLINE_EXCEEDED"


def test_failure_names_operator_and_line(helper_stand_in):
    report = aot.compile_text(f"// please fail\n{MATMUL}")
    assert report.status == "INVALID_ARGUMENT"
    assert report.failed_at.startswith("func.func public @main")
    text = MATMUL.replace("\n", " // please fail\n", 1)
    report = aot.compile_text(text)
    assert report.failed_at.startswith("aten::mm, model.py:12, %0 = stablehlo.dot_general")
    assert "aten::mm" in str(report)
    assert "Did not compile" in report.to_html()


def test_refused_topology_lists_the_known(helper_stand_in):
    with pytest.raises(aot.HelperFailed, match=r"v5e:16x1': no such grid; known are v2:2x2"):
        aot.compile_text(MATMUL, "v5e:16x1")


def test_progress_line_appears_after_two_seconds(helper_stand_in, monkeypatch):
    said = io.StringIO()
    monkeypatch.setattr(helper, "terminal", lambda: said)
    aot.compile_text("module {} // please wait", name="slow")
    assert said.getvalue() == "compiling for v5e:1x1 ...\n"
    # The other way round: a compile that stays below the threshold says nothing.
    monkeypatch.setattr(helper, "_PROGRESS_AFTER", 600.0)
    aot.compile_text(MATMUL)
    assert said.getvalue() == "compiling for v5e:1x1 ...\n"


def test_options_are_checked():
    settings = helper.Settings("v5e:1x1", "lib", "helper", options={"a": True, "b": 2, "c": 0.5})
    text = helper.request_text(settings, [])
    assert "option\ta\tbool\t1\noption\tb\tint\t2\noption\tc\treal\t0.5\n" in text
    with pytest.raises(TypeError, match="option a"):
        helper.request_text(helper.Settings("v", "l", "h", options={"a": None}), [])
    with pytest.raises(ValueError, match="tab or a line end"):
        helper.request_text(helper.Settings("v", "l", "h", options={"a": "x\ty"}), [])


def test_sweep_goes_on_after_an_abort(helper_stand_in, tmp_path):
    folder = tmp_path / "modules"
    folder.mkdir()
    bodies = ["a", "please abort", "b", "please fail", "c"]
    for n, body in enumerate(bodies):
        (folder / f"{n}.mlir").write_text(f'// op{n} f32\nmodule {{}} "{body}" {{')
    programs = sweep.read_programs(folder)
    assert [p.name for p in programs] == [f"op{n} f32" for n in range(5)]
    outcomes = sweep.sweep(programs, ["v5e"], log=False)
    statuses = [o.status for o in outcomes]
    assert statuses == ["OK", "ABORTED", "OK", "INVALID_ARGUMENT", "OK"]
    assert helper_stand_in.read_text() == "5\n3\n"


def test_expected_failures_are_strict(helper_stand_in, tmp_path, capsys):
    modules = tmp_path / "m.jsonl"
    modules.write_text(
        '{"name": "good", "text": "module {} \\"a\\" {"}\n'
        '{"name": "bad", "text": "module {} \\"please fail\\" {"}\n'
    )
    listed = tmp_path / "expected"
    arguments = [str(modules), "--expected", str(listed), "--topologies", "v5e"]
    listed.write_text("# none\n")
    assert sweep.main(arguments) == 1
    assert "FAILED bad on v5e:1x1" in capsys.readouterr().out
    listed.write_text("bad | v5e | the compiler has no such operation\n")
    assert sweep.main(arguments) == 0
    assert "| `bad` | expected | the compiler has no such operation |" in capsys.readouterr().out
    listed.write_text("bad | * | why\ngood | * | why\n")
    assert sweep.main(arguments) == 1
    assert "FIXED good on v5e:1x1" in capsys.readouterr().out
    listed.write_text("bad | * | why\ngone | * | why\n")
    assert sweep.main(arguments) == 1
    assert "STALE gone" in capsys.readouterr().out
    listed.write_text("bad\n")
    assert sweep.main(arguments) == 2


def test_equal_programs_are_compiled_once(tmp_path):
    for name in ("x", "y"):
        text = f"// {name}\nmodule @{name} {{ func.func public @main() {{ }} }}\n"
        (tmp_path / f"{name}.mlir").write_text(text)
    (program,) = sweep.read_programs(tmp_path)
    assert program.names == ("x", "y")


def test_sample_is_spread():
    programs = [sweep.Program((str(n),), "") for n in range(10)]
    assert [p.name for p in sweep.sample(programs, 3)] == ["0", "3", "6"]
    assert sweep.sample(programs, 0) == programs


needs_fake = pytest.mark.skipif(
    find_fake_plugin() is None, reason="the fake plugin is not built (cmake --preset core)"
)


@needs_fake
@pytest.mark.parametrize(
    ("module", "status", "words"),
    [
        (MATMUL, "OK", ""),
        (f"// x\n{MATMUL}".replace("jit_f", "fake.abort"), "ABORTED", "Check failed: fake.abort"),
        (MATMUL.replace("jit_f", "fake.hang"), "DEADLINE_EXCEEDED", "within 1 s"),
        (UNBOUNDED, "INVALID_ARGUMENT", "line 2: tensor<?xf32> has no bound for dimension 0"),
        ("module {}", "INVALID_ARGUMENT", "no entry function"),
    ],
)
def test_real_helper_on_the_fake_plugin(tmp_path, module, status, words):
    path = tmp_path / "m.mlir"
    path.write_text(module)
    settings = helper.Settings("fake:2", find_fake_plugin(), library.find_helper(), timeout=1)
    run = helper.Run(settings, tmp_path)
    ((_, result),) = run.results([helper.Job("m", path, tmp_path)])
    assert result["status"] == status, result
    assert words in result["message"]
    assert len(run.topology["devices"]) == 2
    assert os.path.exists(tmp_path / "optimized.hlo") == (status == "OK")
