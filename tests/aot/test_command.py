# `python -m torch_tpu.aot`: what it compiles, its files, its messages and its exit status.
import dataclasses
import json
from pathlib import Path

import pytest
from support import tpu_only
from torch_tpu.aot import LibtpuNotFound, library
from torch_tpu.aot import __main__ as command
from torch_tpu.aot.__main__ import BAD, COMPILED, FAILED, main

FILE = """\
import torch
from torch import nn

model = nn.Linear(4, 3)
example_inputs = (torch.zeros(2, 4),)
one_tensor = torch.zeros(5, 4)
by_name = {"input": torch.zeros(7, 4)}
number = 3


def function(x):
    return x * 2


def made():
    return nn.Linear(6, 2), (torch.zeros(9, 6),)


def only_module():
    return nn.Linear(4, 1)


def nothing():
    return None


def asks(x):
    return x * x.sum().item()


def loss_fn(out):
    return out.square().mean()


def optimizer(parameters):
    return torch.optim.SGD(parameters, lr=0.1)


"""

pytestmark = tpu_only


@pytest.fixture
def path(tmp_path, helper_stand_in):
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    return str(file)


def figures(path, name, *arguments):
    """The report's figures as JSON, of a call that compiles."""
    out = path.replace("mine.py", "out.json")
    assert main([f"{path}:{name}", "--json", out, *arguments]) == COMPILED
    return json.loads(Path(out).read_text())


@pytest.mark.parametrize(
    ("name", "arguments", "shape"),
    [
        ("model", [], (2, 4)),
        ("function", [], (2, 4)),
        ("model", ["--inputs", "one_tensor"], (5, 4)),
        ("model", ["--inputs", "by_name"], (7, 4)),
        ("made", [], (9, 6)),
        ("only_module", [], (2, 4)),
    ],
)
def test_what_is_compiled(path, name, arguments, shape, monkeypatch):
    seen = []
    compile_captured = command.compile_captured

    def spy(captured, *args, **kwargs):
        seen.append(captured)
        return compile_captured(captured, *args, **kwargs)

    monkeypatch.setattr(command, "compile_captured", spy)
    assert figures(path, name, *arguments)["name"] == name
    assert [v.shape for v in seen[0].inputs if v.name == "input0"] == [shape]


@pytest.mark.parametrize(
    ("arguments", "outputs"),
    [
        (["--loss", "loss_fn"], ["loss", "grad weight", "grad bias"]),
        (["--train", "optimizer"], ["loss", "new weight", "new bias"]),
        (["--train"], ["exp_avg", "exp_avg_sq"]),
        (["--meta"], ["result0"]),
    ],
)
def test_gradients_training_and_meta(path, arguments, outputs, monkeypatch):
    seen = []
    monkeypatch.setattr(command, "compile_captured", lambda c, *a, **k: seen.append(c) or Yes())
    assert main([f"{path}:model", *arguments]) == COMPILED
    names = [v.name for v in seen[0].outputs]
    for expected in outputs:
        assert any(expected in name for name in names), names


class Yes:
    """A report of a program that compiles."""

    compiled = True
    hlo = ""

    def to_html(self):
        return ""


def test_report_and_files(path, tmp_path, capsys):
    html, hlo = tmp_path / "out.html", tmp_path / "out.hlo"
    done = main(
        [f"{path}:model", "--topology", "v6e", "--fast", "--html", str(html), "--hlo", str(hlo)]
        + ["--option", "xla_a=true", "--option", "xla_b=3", "--option", "xla_c=0.5"]
    )
    assert done == COMPILED
    assert "model on v6e:1x1" in capsys.readouterr().out
    assert html.read_text().startswith("<!doctype html>")
    assert hlo.exists()


def test_options_have_types():
    texts = ("a=true", "a=False", "a=3", "a=0.5", "a=1,2", "a=")
    assert [command.option(t)[1] for t in texts] == [True, False, 3, 0.5, "1,2", ""]
    assert command.option("a=true")[1] is True


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("", [], "not of the form path.py:model"),
        ("missing", [], "has no 'missing'; it has torch, nn, model"),
        ("number", [], "number is a int, expected a module or a function"),
        ("nothing", [], "nothing() returned a NoneType, expected a module"),
        ("model", ["--inputs", "typo"], "has no variable 'typo'"),
        ("model", ["--inputs", "number"], "inputs must be a tuple, a mapping"),
        ("model", ["--topology", "v99"], "topology 'v99' is not known; known are"),
        ("model", ["--topology", "v5e:16x1"], "no such grid"),
        ("model", ["--train", "Adamw"], "--train Adamw: neither torch.optim"),
        ("model", ["--loss", "typo"], "has no 'typo'"),
        ("function", ["--train"], "an optimizer needs a module with parameters"),
        ("model", ["--html", "/no/such/folder/x.html"], "No such file"),
    ],
)
def test_wrong_uses(path, name, arguments, message, capsys):
    assert main([f"{path}:{name}", *arguments]) == BAD
    assert message in capsys.readouterr().err


def test_wrong_files(tmp_path, helper_stand_in, capsys):
    assert main([f"{tmp_path}/no.py:model"]) == BAD
    assert "there is no file" in capsys.readouterr().err
    (tmp_path / "text.txt").write_text("")
    assert main([f"{tmp_path}/text.txt:model"]) == BAD
    assert "must end in .py" in capsys.readouterr().err
    (tmp_path / "broken.py").write_text("import torch\nraise KeyError('left')\n")
    assert main([f"{tmp_path}/broken.py:model"]) == BAD
    assert "broken.py failed: KeyError: 'left'" in capsys.readouterr().err
    (tmp_path / "bare.py").write_text("import torch\nmodel = torch.nn.ReLU()\n")
    assert main([f"{tmp_path}/bare.py:model"]) == BAD
    assert "no inputs: " in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["m.py:f", "--option", "a"], ["m.py:f", "--nonsense"]])
def test_the_parser_ends_with_2(arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == BAD


def test_without_libtpu(path, monkeypatch, capsys):
    def missing():
        raise LibtpuNotFound(library.HOW_TO_GET)

    monkeypatch.setattr(library, "find_libtpu", missing)
    assert main([f"{path}:model"]) == BAD
    assert "pip install --no-deps libtpu" in capsys.readouterr().err


def test_what_does_not_compile(path, capsys, monkeypatch):
    assert main([f"{path}:asks"]) == FAILED
    out = capsys.readouterr().out
    assert "cannot be captured: RuntimeError" in out
    assert "mine.py:" in out
    captured = command.capture
    monkeypatch.setattr(command, "capture", lambda *a, **k: _refused(captured(*a, **k)))
    assert main([f"{path}:model"]) == FAILED
    assert "did not compile: INVALID_ARGUMENT" in capsys.readouterr().out


def _refused(captured):
    """The same program with words at which the helper's stand-in says no."""
    return dataclasses.replace(captured, text=captured.text + "// please fail\n")
