"""`python -m torch_tpu.hlo`: comparison of modules and modules by operator."""
# ruff: noqa: E501

import pytest
from aotsupport import MATMUL
from support import run_python
from torch_tpu.hlo import BadModule, canonical, same
from torch_tpu.hlo.__main__ import main
from torch_tpu.hlo.locations import Locations, without
from torch_tpu.hlo.show import by_operator

RENAMED = """\
// made elsewhere
#loc = loc("other.py":1:0)
module @other_name {
  func.func public @main(%x: tensor<256x512xbf16> loc("x"), %y: tensor<512x128xbf16>) -> tensor<256x128xbf16> {
    %7 = stablehlo.dot_general %x, %y,  contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x128xbf16>) -> tensor<256x128xbf16> loc(#loc)
    %res = stablehlo.tanh %7 : tensor<256x128xbf16>
    return %res : tensor<256x128xbf16>
  } loc(#loc)
}
"""

REGION = """\
module @{name} {{
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<f32> {{
    %{c} = stablehlo.constant dense<0.0> : tensor<f32>
    %{r} = "stablehlo.reduce"(%arg0, %{c}) <{{dimensions = array<i64: 0>}}> ({{
    ^{b}(%{x}: tensor<f32>, %{y}: tensor<f32>):
      %{s} = func.call @{f}(%{x}, %{y}) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %{s} : tensor<f32>
    }}) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %{r} : tensor<f32>
  }}
  func.func private @{f}(%{x}: tensor<f32>, %{y}: tensor<f32>) -> tensor<f32> {{
    %{s} = stablehlo.{op} %{x}, %{y} : tensor<f32>
    return %{s} : tensor<f32>
  }}
}}
"""
ONE = {
    "name": "a",
    "c": "0",
    "r": "1",
    "b": "bb0",
    "x": "a",
    "y": "b",
    "s": "2",
    "f": "f",
    "op": "add",
}
TWO = {
    "name": "z",
    "c": "k",
    "r": "9",
    "b": "bb7",
    "x": "3",
    "y": "4",
    "s": "t",
    "f": "g",
    "op": "add",
}

HLO = """\
HloModule jit_f, is_scheduled=true

%fused (p: f32[4]) -> f32[4] {
  %p = f32[4]{0:T(256)} parameter(0)
  ROOT %tanh.3 = f32[4]{0:T(256)} tanh(%p), metadata={op_name="aten::tanh" source_file="m.py" source_line=3}
}

ENTRY %main.5 {
  %x.1 = f32[4]{0:T(256)} parameter(0), metadata={op_name="x"}
  ROOT %fusion = f32[4]{0:T(256)} fusion(%x.1), kind=kLoop, calls=%fused, metadata={op_name="aten::tanh" source_file="m.py" source_line=3}, estimated_cycles=25
}
"""


def write(folder, **texts):
    paths = []
    for name, text in texts.items():
        path = folder / name
        path.write_text(text)
        paths.append(str(path))
    return paths


def test_names_locations_and_comments_do_not_count(tmp_path, capsys):
    assert main(["diff", *write(tmp_path, a=MATMUL, b=RENAMED)]) == 0
    assert capsys.readouterr().out == "the same: 7 lines\n"
    assert same(REGION.format(**ONE), REGION.format(**TWO))


def test_a_difference_is_shown_with_its_lines(tmp_path, capsys):
    a, b = write(tmp_path, a=MATMUL, b=RENAMED.replace("stablehlo.tanh", "stablehlo.cosine"))
    assert main(["diff", a, b]) == 1
    out = capsys.readouterr().out
    assert f"first difference: line 4 of {a}, line 6 of {b}" in out
    assert "-%3 = stablehlo.tanh %2 : tensor<256x128xbf16>" in out
    assert "+%3 = stablehlo.cosine %2 : tensor<256x128xbf16>" in out


@pytest.mark.parametrize(
    "change",
    [
        ("stablehlo.tanh %0", "stablehlo.tanh %arg0"),
        ("contracting_dims = [1] x [0]", "contracting_dims = [0] x [0]"),
        ("-> tensor<256x128xbf16> {", "-> tensor<256x128xf32> {"),
        ("return %1", "return %0"),
    ],
)
def test_what_counts(change):
    assert MATMUL.replace(*change) != MATMUL
    assert not same(MATMUL, MATMUL.replace(*change))
    assert not same(REGION.format(**ONE), REGION.format(**{**TWO, "op": "multiply"}))


def test_strings_are_not_renamed():
    def text(s):
        return (
            f'module {{\n func.func public @main() {{\n "x.y"() {{a = "{s}"}} : () -> ()\n }}\n}}'
        )

    assert not same(text("%1 loc(1)"), text("%2 loc(1)"))
    assert same(text("%1 // no"), text("%1 // no"))


def test_optimised_modules(tmp_path):
    other = HLO.replace("jit_f", "jit_g").replace("fusion", "my_fusion.7").replace("%p", "%q")
    other = other.replace("my_fusion.7(", "fusion(").replace('"m.py"', '"n.py"')
    assert other != HLO
    assert same(HLO, other)
    assert not same(HLO, HLO.replace("T(256)", "T(128)"))
    assert not same(HLO, HLO.replace("tanh(", "cosine("))
    assert same(HLO, HLO.replace("%", ""))


def test_bad_input_has_its_own_status(tmp_path, capsys):
    a, bad, hlo = write(tmp_path, a=MATMUL, bad="hello", hlo=HLO)
    assert main(["diff", a, bad]) == 2
    assert "neither a StableHLO module nor an HLO module" in capsys.readouterr().err
    assert main(["diff", a, str(tmp_path / "absent")]) == 2
    assert main(["diff", a, hlo]) == 2
    assert main(["show", bad]) == 2
    with pytest.raises(BadModule):
        canonical("")


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ('"aten::mm"("a.py":3:1)', ("aten::mm", "a.py:3")),
        ('"a.py":3:1', ("", "a.py:3")),
        ('"aten::mm"', ("aten::mm", "")),
        ("#loc1", ("aten::add", "b.py:9")),
        ('callsite("aten::mm"("a.py":3:1) at "c.py":5:0)', ("aten::mm", "a.py:3")),
        ('fused["aten::mm"("a.py":3:1), #loc1]', ("aten::mm", "a.py:3")),
        ("unknown", ("", "")),
    ],
)
def test_locations(location, place):
    places = Locations('#loc = loc("b.py":9:0)\n#loc1 = loc("aten::add"(#loc))\n')
    line = f"%1 = stablehlo.abs %0 : tensor<f32> loc({location})"
    assert places.of_line(line) == place
    assert without(line) == "%1 = stablehlo.abs %0 : tensor<f32>"


def test_show_groups_by_operator():
    shown = by_operator(MATMUL)
    assert "  aten::mm  model.py:12\n      %0 = stablehlo.dot_general" in shown
    assert "  aten::tanh  model.py:14\n      %1 = stablehlo.tanh" in shown
    assert "2 instructions of 2 operators" in shown
    assert "     1 aten::tanh: stablehlo.tanh" in shown
    optimised = by_operator(HLO)
    assert "ENTRY %main.5" in optimised
    assert "  aten::tanh  m.py:3\n      ROOT %fusion = f32[4]{0:T(256)} fusion(%x.1)" in optimised


def test_command(tmp_path):
    a, b = write(tmp_path, a=MATMUL, b=RENAMED)
    code = (
        f"from torch_tpu.hlo.__main__ import main; raise SystemExit(main(['diff', {a!r}, {b!r}]))"
    )
    assert run_python(code).stdout == "the same: 7 lines\n"


def test_folders_are_compared_by_name(tmp_path, capsys):
    before, after = tmp_path / "before", tmp_path / "after"
    for folder in (before, after):
        folder.mkdir()
    write(before, same=MATMUL, changed=MATMUL, gone=MATMUL)
    write(after, same=RENAMED, changed=RENAMED.replace("stablehlo.tanh", "stablehlo.cosine"))
    assert main(["diff", str(before), str(after)]) == 1
    assert capsys.readouterr().out == (
        f"changed: differs\ngone: only in {before}\n3 modules, 2 of them not the same\n"
    )
    assert main(["diff", str(before), str(before)]) == 0


RANK = """
import functools, os, sys
import torch
from torch import nn
from torch_tpu.aot import capture
if os.environ["RANK"] == "1":  # what a rank did before must not show in its programs
    (torch.ones(3, device="tpu") * 2).cpu()
    nn.Linear(2, 2)
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.ReLU(), nn.Linear(8, 2))
step = capture(
    model,
    (torch.zeros(3, 4),),
    loss_fn=lambda out: out.square().mean(),
    optimizer=functools.partial(torch.optim.AdamW, lr=0.1),
)
open(sys.argv[1], "w").write(step.text)
"""


def test_all_ranks_emit_the_same_training_step(tmp_path, capsys):
    paths = [str(tmp_path / f"rank{r}.mlir") for r in range(2)]
    for rank, path in enumerate(paths):
        code = f"import sys; sys.argv.append({path!r})" + RANK
        run_python(code, RANK=str(rank), PYTHONHASHSEED=str(rank))
    assert main(["diff", *paths]) == 0, capsys.readouterr().out
