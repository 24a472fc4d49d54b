"""The real compiler. Skipped, with the way to get it, where libtpu is not installed."""
# ruff: noqa: E501

import pytest
from aotsupport import MATMUL, UNBOUNDED
from torch_tpu import aot
from torch_tpu.hlo import same

DOT = """\
module @m {
  func.func public @main(%a: tensor<256x512xbf16>, %b: tensor<512x128xbf16>) -> tensor<256x128xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x128xbf16>) -> tensor<256x128xf32> loc("aten::mm"("m.py":3:0))
    return %0 : tensor<256x128xf32>
  }
}
"""

TOO_LARGE = """\
module @m {
  func.func public @main(%a: tensor<65536x65536xf32>) -> tensor<65536x65536xf32> {
    %0 = stablehlo.sqrt %a : tensor<65536x65536xf32>
    return %0 : tensor<65536x65536xf32>
  }
}
"""


@pytest.mark.parametrize(
    ("topology", "limit"), [("v5e", 16.9e9), ("v6e", 33.5e9), ("tpu7x", 101.7e9)]
)
def test_matmul_compiles(libtpu, topology, limit):
    report = aot.compile_text(DOT, topology, fast=True)
    assert report.compiled, report.message
    assert report.hbm_limit == pytest.approx(limit, rel=0.01)
    assert report.memory.argument == (256 * 512 + 512 * 128) * 2
    assert report.memory.output == 256 * 128 * 4
    assert report.flops == pytest.approx(2 * 256 * 512 * 128, rel=0.02)
    assert report.estimated_cycles > 0
    assert report.roofline_seconds > 0
    assert len(report.executable) > 1000
    assert 'op_name="aten::mm" source_file="m.py" source_line=3' in report.hlo


def test_operators_and_lines_survive(libtpu):
    report = aot.compile_text(MATMUL, "v5e", fast=True)
    assert 'op_name="aten::mm" source_file="model.py" source_line=12' in report.hlo
    assert 'op_name="aten::tanh" source_file="model.py" source_line=14' in report.hlo
    again = aot.compile_text(MATMUL.replace("jit_f", "other").replace("%0", "%x"), "v5e", fast=True)
    assert same(report.hlo, again.hlo)


def test_out_of_memory_is_told(libtpu):
    report = aot.compile_text(TOO_LARGE, "v5e", fast=True)
    assert report.status == "RESOURCE_EXHAUSTED"
    assert report.fits is False
    assert "exceeds" in report.message


def test_unbounded_is_refused_and_bounded_compiles(libtpu):
    report = aot.compile_text(UNBOUNDED, "v5e")
    assert report.status == "INVALID_ARGUMENT"
    assert "line 2" in report.message
    bounded = """\
module @m {
  func.func public @main(%a: tensor<8xf32>, %n: tensor<i32>) -> tensor<f32> {
    %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<8xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<8>>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?xf32, #stablehlo.bounds<8>>, tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}
"""
    assert aot.compile_text(bounded, "v5e", fast=True).status == "OK"


def test_too_many_devices_are_refused(libtpu):
    report = aot.compile_text(DOT, "v5e:1x1", num_replicas=4)
    assert report.status == "INVALID_ARGUMENT"
    assert "4 replicas of 1 partitions and the topology has 1 devices" in report.message


def test_syntax_error_names_the_line(libtpu):
    report = aot.compile_text(DOT.replace("dot_general %a", "dot_generl %a"), "v5e")
    assert not report.compiled
    assert report.failed_at.startswith("aten::mm, m.py:3, %0 = stablehlo.dot_generl")


def test_unknown_option_and_topology_are_refused(libtpu):
    report = aot.compile_text(DOT, "v5e", options={"xla_no_such_flag": True})
    assert not report.compiled
    assert "xla_no_such_flag" in report.message
    with pytest.raises(aot.HelperFailed, match="known are"):
        aot.compile_text(DOT, "v5e:3x3")
