# What the tests of ahead-of-time compilation share: modules, libtpu, a stand-in for the helper.
# ruff: noqa: E501
"""Tests that need libtpu take the fixture `libtpu`; the others always run."""

import json
import stat
import sys
from pathlib import Path

HERE = Path(__file__).parent

MATMUL = """\
module @jit_f {
  func.func public @main(%arg0: tensor<256x512xbf16>, %arg1: tensor<512x128xbf16>) -> tensor<256x128xbf16> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x128xbf16>) -> tensor<256x128xbf16> loc(#loc1)
    %1 = stablehlo.tanh %0 : tensor<256x128xbf16> loc("aten::tanh"("model.py":14:2))
    return %1 : tensor<256x128xbf16>
  }
}
#loc1 = loc("aten::mm"("model.py":12:0))
"""

UNBOUNDED = """\
module @m {
  func.func public @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
    return %arg0 : tensor<?xf32>
  }
}
"""

# A helper executable that compiles nothing: it says what a module's text tells it to.
_STAND_IN = """#!{python}
import json, os, signal, sys, time
from pathlib import Path

rows = [line.split("\\t") for line in Path(sys.argv[1]).read_text().splitlines()]
fields = {{row[0]: row[1:] for row in rows}}
Path({log!r}).open("a").write(str(len([r for r in rows if r[0] == "job"])) + "\\n")
if fields["topology"] == ["v5e:16x1"]:
    print("error INVALID_ARGUMENT topology 'v5e:16x1': no such grid", flush=True)
    os._exit(2)
print("topology " + json.dumps({topology!r}), flush=True)
for row in rows:
    if row[0] != "job":
        continue
    print("start " + row[1], flush=True)
    text = Path(row[2]).read_text()
    if "please abort" in text:
        sys.stderr.write("noise\\nF0101 x.cc:1] Check failed: !count_overflow\\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGABRT)
    if "please hang" in text:
        os.kill(os.getpid(), signal.SIGALRM)
    if "please wait" in text:
        time.sleep(3)
    result = {{"name": row[1], "status": "OK", "message": "", "compile_seconds": 0.5}}
    if "please fail" in text:
        result.update(status="INVALID_ARGUMENT", message="<unknown>:0: error: -:3:5 bad op")
    Path(row[3], "result.json").write_text(json.dumps(result))
    print("done " + row[1], flush=True)
os._exit(0)
"""

TOPOLOGY = {
    "platform": "tpu",
    "platform_version": "stand-in",
    "attributes": {"device_memory_bytes_limit": "1000000"},
    "devices": [{"id": 0, "kind": "stand-in", "attributes": {}}],
}


def stand_in(folder: Path) -> tuple[str, Path]:
    """Path of an executable stand-in for the helper, and of its log: jobs of each process."""
    path, log = folder / "stand_in", folder / "log"
    path.write_text(_STAND_IN.format(python=sys.executable, log=str(log), topology=TOPOLOGY))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path), log


def recorded(name: str) -> tuple[dict, dict, str]:
    """Result, topology and optimised module of a compile that libtpu 0.0.52 once did."""
    data = json.loads((HERE / f"recorded_{name}.json").read_text())
    return data["result"], data["topology"], data["hlo"]
