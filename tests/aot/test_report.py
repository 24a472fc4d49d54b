"""Reports of results that libtpu once gave: figures, text, page. Without libtpu."""

import json
import re

import pytest
from aotsupport import recorded
from torch_tpu.aot import Captured, Memory, Origin, Report, units


def report_of(name, **changes):
    result, topology, hlo = recorded(name)
    known = {"topology": "v5e:2x2", "num_devices": 4, "hlo": hlo, "executable": b"12345", **changes}
    return Report.from_result(result, topology, **known)


@pytest.fixture
def report():
    return report_of("all_reduce")


def test_figures(report):
    assert report.compiled
    assert report.topology_devices == 4
    assert report.hbm_limit == 16909334528
    assert report.memory.argument == 9437184
    assert (
        report.memory.hbm
        == sum((report.memory.argument, report.memory.output, report.memory.temp))
        + report.memory.generated_code
    )
    assert report.fits is True
    assert report.flops == 2151677952
    assert report.roofline_seconds == report.optimal_seconds > 0
    assert [c.opcode for c in report.collectives] == ["collective-permute-start", "all-reduce"]
    assert report.collectives[0].overlap == 2
    assert report.collectives[1].overlap == 0
    assert report.collectives[1].source == "ddp.py:5"


def test_donated_output_needs_no_memory():
    assert Memory(argument=100, output=40, alias=40, temp=5, generated_code=1).hbm == 106


def test_does_not_fit(report):
    small = report_of("all_reduce")
    object.__setattr__(small, "hbm_limit", 1000)
    assert small.fits is False
    assert "DOES NOT FIT" in str(small)
    assert "does not fit" in small.to_html()


@pytest.mark.parametrize(
    ("optimal", "calls", "missing", "seconds"),
    [
        (2e-6, 3, 0, 2e-6),
        (1e-9, 3, 0, 1e-9),  # less than all bytes take: some of them never leave the chip
        (-0.999998, 2, 1, 2e-6),
        (-1.999998, 2, 2, 2e-6),
        (-1.999999999, 5, 2, 1e-9),
        (-0.5, 0, 0, 0.0),
    ],
)
def test_custom_calls_of_unknown_cost_are_added_back(optimal, calls, missing, seconds):
    costs = {"optimal_seconds": optimal, "flops": 1.0, "bytes accessed": 1e6}
    report = Report("f", "v5e:1x1", True, "OK", costs=costs, custom_calls=calls)
    assert report.uncosted_calls == missing
    assert report.roofline_seconds == pytest.approx(seconds, abs=1e-10)
    assert ("of unknown cost" in " ".join(str(report).split())) == (missing > 0)


def test_long_programs_with_custom_calls():
    # 2.5 s of HBM traffic on v5e and two calls of unknown cost.
    costs = {"optimal_seconds": 0.5, "bytes accessed": 2.5 * 737e9}
    report = Report("f", "v5e:1x1", True, "OK", costs=costs, custom_calls=5)
    assert report.uncosted_calls == 2
    assert report.roofline_seconds == pytest.approx(2.5)


def test_missing_estimates_are_no_zeros():
    report = Report("f", "v4:2x2x1", True, "OK")
    assert report.roofline_seconds is None
    assert report.fits is None
    assert "ESTIMATE: roofline" not in str(report)


def test_text(report):
    text = str(report)
    assert max(map(len, text.splitlines())) <= 100
    for words in (
        "on v5e:2x2 (4 of 4 x TPU v5 lite)",
        "fits: ",
        "ESTIMATE: roofline, no interconnect",
        "ESTIMATE: sum over instructions",
        "c10d::all_reduce",
        "all-reduce 8.00 MiB {{0,1,2,3}}  c10d::all_reduce ddp.py:5",
        "asynchronous over 2 instructions",
    ):
        assert words in text, words


def test_memory_by_operator(report):
    grouped = report.memory_by_operator()
    assert sum(grouped.values()) == report.live_peak
    assert list(grouped.values()) == sorted(grouped.values(), reverse=True)
    assert grouped["argument 0"] == 8388608
    assert grouped["c10d::all_reduce"] == 8388608


def test_arguments_carry_captured_names():
    inputs = [("activations", (4096, 512), "float32"), ("weight", (512, 512), "float32")]
    report = report_of("all_reduce", captured=Captured("", inputs=inputs))
    assert report.memory_by_operator()["argument weight"] == 1048576


def test_page_stands_alone(report):
    page = report.to_html()
    assert page.startswith("<!doctype html>")
    assert not re.search(r"(src|href)\s*=|@import|url\(|https?://", page)
    assert page.count('class="bar"') == len(report.memory_by_operator())
    assert "width:100.0%" in page
    assert "HloModule" in page
    for tag in ("table", "details", "pre", "div", "html"):
        assert page.count(f"<{tag}") - page.count(f"</{tag}>") == 0, tag
    hostile = Report("<script>", "v5e:1x1", False, "X", message="<b>&")
    assert "<script>" not in hostile.to_html()
    assert "&lt;b&gt;&amp;" in hostile.to_html()


def test_dictionary_is_json(report):
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["memory"]["peak"] == report.memory.peak
    assert "executable" not in plain


def test_sources():
    assert Origin(source_file="-", source_line=3).source == "line 3 of the module"
    assert Origin(opcode="copy").operator == "copy"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (units.size(1023), "1023 B"),
        (units.size(1.5 * 2**30), "1.50 GiB"),
        (units.size(5 * 2**40), "5120.00 GiB"),
        (units.count(33816576), "33.8 M"),
        (units.count(999), "999"),
        (units.duration(2.05e-6), "2.05 us"),
        (units.duration(0.25), "250 ms"),
        (units.duration(64), "64 s"),
    ],
)
def test_units(text, expected):
    assert text == expected
