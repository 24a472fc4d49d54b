# Figures of the models of tests/models on v5e against golden ones, and a model of 30B parameters.
"""golden_v5e.json is what libtpu 0.0.52 said; `python -m bench.aot --golden FILE` writes it anew.
A figure that moves by more than 2 percent is a change of what we emit: look at the module, then
record it."""

import json
import sys
import time

import pytest
import torch
from aotsupport import HERE
from support import tpu_only
from torch_tpu import aot

sys.path.append(str(HERE.parents[1]))

from bench import _aot_models

pytestmark = tpu_only

GOLDEN = json.loads((HERE / "golden_v5e.json").read_text())


@pytest.fixture(scope="module")
def by_name():
    return {case.name: case for case in _aot_models.cases()}


def test_every_model_has_figures(by_name):
    assert by_name.keys() == GOLDEN["cases"].keys()


@pytest.mark.parametrize("name", GOLDEN["cases"])
def test_figures(libtpu, by_name, name):
    report = aot.compile_captured(by_name[name].capture(), "v5e:1x1")
    assert report.compiled, report.message
    assert max(map(len, str(report).splitlines())) <= 100
    if report.compiler != GOLDEN["compiler"]:
        pytest.skip(f"recorded with {GOLDEN['compiler']}, this is {report.compiler}")
    expected = GOLDEN["cases"][name]
    got = {
        "flops": report.flops,
        "bytes": report.bytes_accessed,
        "peak": report.memory.peak,
    }
    assert got == pytest.approx(expected, rel=0.02)


@pytest.fixture
def large(monkeypatch):
    """A function of the depth that gives a GPT of 30 billion parameters at depth 48, on `meta`."""
    gpt = _aot_models.tests_of("gpt")
    sizes = {"VOCAB": 50304, "WIDTH": 7168, "HEADS": 56, "LENGTH": 2048}
    for name, value in sizes.items():
        monkeypatch.setattr(gpt, name, value)

    def make(depth):
        monkeypatch.setattr(gpt, "DEPTH", depth)
        with torch.device("meta"):
            return gpt.GPT(), torch.zeros(1, 2048, dtype=torch.long)

    return make


def test_30_billion_parameters_do_not_fit(large):
    model, ids = large(48)
    parameters = sum(p.numel() for p in model.parameters())
    assert 29.9e9 < parameters < 30.1e9
    start = time.monotonic()
    report = aot.compile(model, (ids,), "v5e:1x1")
    assert time.monotonic() - start < 60
    assert report.fits is False
    assert report.status == "RESOURCE_EXHAUSTED"
    assert report.memory.argument == pytest.approx(4 * parameters, rel=0.001)
    assert report.captured.operators.count("aten::native_layer_norm") == 97
    largest = next(iter(report.memory_by_operator()))
    assert largest == "argument wte.weight"
    text = str(report)
    assert "does not fit: the arguments alone need 111." in text
    assert "1.34 GiB  wte.weight  float32[50304,7168]" in text
    assert max(map(len, text.splitlines())) <= 100
    assert "wte.weight" in report.to_html()


def test_what_may_fit_is_compiled(large, helper_stand_in):
    model, ids = large(2)
    report = aot.compile(model, (ids,), "v5e:1x1")
    assert report.compiled
    assert helper_stand_in.read_text() == "1\n"
    too_large, _ = large(8)
    assert not aot.compile(too_large, (ids,), "v5e:1x1").compiled
    assert aot.compile(too_large, (ids,), "v6e:1x1").compiled
    assert helper_stand_in.read_text() == "1\n1\n"
