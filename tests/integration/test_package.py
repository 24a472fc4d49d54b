"""The installed package: what it registers and brings along; its command-line pages."""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import torch
from support import run_python, tpu_only

pytestmark = tpu_only
ROOT = Path(__file__).resolve().parents[2]


def command(*arguments: str) -> str:
    """Output of `python -m ...`."""
    done = subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_device_is_privateuse1():
    assert torch._C._get_privateuse1_backend_name() == "tpu"
    x = torch.ones(2, device="tpu")
    assert type(x) is torch.Tensor
    assert torch._C._dispatch_keys(x).has(torch._C.DispatchKey.PrivateUse1)
    for name in ("aten::empty_strided", "aten::_copy_from", "aten::add.Tensor", "aten::mm"):
        assert torch._C._dispatch_has_kernel_for_dispatch_key(name, "PrivateUse1"), name


def test_no_jax():
    code = (
        "import sys, torch\n"
        "x = torch.randn(4, 4, device='tpu'); (x @ x).sum().item()\n"
        "heads = {name.partition('.')[0] for name in sys.modules}\n"
        "maps = open('/proc/self/maps').read()\n"
        "print(sorted(heads & {'jax', 'jaxlib', 'torch_xla', 'tensorflow'}), 'jaxlib' in maps)\n"
    )
    assert run_python(code).stdout.strip() == "[] False"


def test_import_brings_no_module_that_torch_does_not():
    code = "import sys, torch; print(*sorted(m for m in sys.modules if m != 'torch'))"
    switch = "TORCH_DEVICE_BACKEND_AUTOLOAD"
    without = set(run_python(code, **{switch: "0"}).stdout.split())
    added = set(run_python(code, **{switch: "1"}).stdout.split()) - without
    ours = {"torch.tpu", "torch.backends.tpu"}
    own = {m for m in added if m.partition(".")[0] == "torch_tpu" or m in ours}
    heavy = {m.partition(".")[0] for m in added - own} - set(sys.stdlib_module_names)
    # Finding the plugin's folder imports its namespace package and distribution metadata, no more.
    assert heavy <= {"xla_plugins"}, heavy


def test_metadata():
    distribution = importlib.metadata.distribution("torchtpu")
    entry = {e.name: e.value for e in distribution.entry_points if e.group == "torch.backends"}
    assert entry == {"tpu": "torch_tpu:_autoload"}
    names = {
        r: re.split("[=<>~!; ]", r)[0].lower().replace("_", "-") for r in distribution.requires
    }
    assert {n for r, n in names.items() if "extra" not in r} == {"torch", "xla-cpu-pjrt"}
    assert {n for r, n in names.items() if "extra" in r} == {"fsspec", "gcsfs"}


def test_licence_and_guides():
    assert "Apache License" in (ROOT / "LICENSE").read_text()[:200]
    readme = (ROOT / "README.md").read_text()
    first_screen = readme.splitlines()[:24]
    assert any(line.startswith("make demo") for line in first_screen)
    assert any(line.startswith("make test") for line in first_screen)
    assert "Adding an operator" in (ROOT / "CONTRIBUTING.md").read_text()


def test_environment_page():
    assert "TORCH_TPU_PJRT_PLUGIN=" in command("torch_tpu.env")
    shown = command("torch_tpu.env", "launch_blocking")
    assert shown.startswith("TORCH_TPU_LAUNCH_BLOCKING=")
    assert len(shown.splitlines()) == 2


def test_operators_page():
    add = command("torch_tpu.operators", "add") + command("torch_tpu.operators", "aten::add_")
    lines = {line.split()[0]: line.split()[1:] for line in add.splitlines()}
    assert lines["aten::add.Tensor"][0] == "lowering"
    assert "src/ops/" in lines["aten::add.Tensor"][1]
    assert lines["aten::add_.Tensor"] == lines["aten::add.out"] == lines["aten::add.Tensor"]
    everything = command("torch_tpu.operators").splitlines()
    kinds = ("lowering", "decomposition", "device", "host", "composite", "excluded", "missing")
    totals = {line.split()[1]: int(line.split()[0]) for line in everything[-len(kinds) :]}
    assert set(totals) == set(kinds)
    assert sum(totals.values()) == len(everything) - len(kinds) - 1
    assert totals["lowering"] > 500
    assert totals["composite"] == totals["missing"] == 0


def test_unknown_operator_lists_near_ones():
    done = run_python("from torch_tpu import operators; print(operators.main(['layer_norm_back']))")
    assert "aten::native_layer_norm_backward" in done.stdout
    assert done.stdout.strip().endswith("1")
