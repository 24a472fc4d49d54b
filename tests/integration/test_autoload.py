# Loading: what `import torch` does and does not do, in fresh processes.
import pytest
from support import run_python, tpu_only

pytestmark = tpu_only

AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
PLUGIN = "TORCH_TPU_PJRT_PLUGIN"
SHOW = (
    "import sys, os\n"
    "print(torch.device('tpu'), 'torch_tpu' in sys.modules, torch.tpu.is_initialized(),\n"
    f"      os.environ.get('{AUTOLOAD}'))\n"
)


def test_import_torch_alone_registers_the_device():
    done = run_python("import torch\n" + SHOW, **{AUTOLOAD: None})
    assert done.stdout.split() == ["tpu", "True", "False", "None"]
    assert done.stderr == ""


def test_switch_off_is_respected():
    code = (
        "import torch, sys\n"
        "print('torch_tpu' in sys.modules, hasattr(torch, 'tpu'))\n"
        "try:\n    torch.device('tpu')\nexcept RuntimeError:\n    print('unknown')\n"
    )
    assert run_python(code, **{AUTOLOAD: "0"}).stdout.split() == ["False", "False", "unknown"]


@pytest.mark.parametrize("switch", [None, "0"])
@pytest.mark.parametrize("order", ["import torch_tpu, torch", "import torch, torch_tpu"])
def test_importing_the_package_by_hand(switch, order):
    done = run_python(f"{order}\n{SHOW}", **{AUTOLOAD: switch})
    assert done.stdout.split() == ["tpu", "True", "False", str(switch)]
    assert done.stderr == ""


def test_children_see_what_the_user_set():
    code = (
        "import torch_tpu, torch, subprocess, sys\n"
        "child = [sys.executable, '-c', 'import torch; print(torch.tpu.device_count())']\n"
        "print(subprocess.run(child, capture_output=True, text=True).stdout)\n"
    )
    assert run_python(code, **{AUTOLOAD: None}).stdout.strip() == "1"


def test_no_client_and_no_plugin_before_the_first_tensor():
    code = (
        "import torch\n"
        "torch.manual_seed(0); torch.tpu.is_available(); torch.tpu.device_count()\n"
        "torch.accelerator.current_accelerator(); torch.nn.Linear(2, 2)(torch.ones(1, 2))\n"
        "maps = open('/proc/self/maps').read()\n"
        "print('pjrt.so' in maps or 'libtpu' in maps, torch.tpu.is_initialized())\n"
        "torch.ones(1, device='tpu').cpu()\n"
        "print(torch.tpu.is_initialized())\n"
    )
    assert run_python(code).stdout.split() == ["False", "False", "True"]


BROKEN = """
import torch
assert torch.ones(2).sum().item() == 2.0
for attempt in range(2):
    try:
        torch.ones(2, device="tpu").cpu()
    except RuntimeError as error:
        print(str(error).splitlines()[0])
assert torch.ones(2).sum().item() == 2.0
"""


def first_use_errors(value):
    lines = run_python(BROKEN, **{PLUGIN: value}).stdout.strip().splitlines()
    assert len(lines) == 2, lines
    assert lines[0] == lines[1]
    assert value in lines[0], lines[0]
    return lines[0]


def test_missing_plugin_file():
    first_use_errors("/nonexistent/plugin.so")


def test_plugin_that_is_no_library(tmp_path):
    path = tmp_path / "text.so"
    path.write_text("not a library")
    first_use_errors(str(path))


def test_library_without_the_entry_point():
    with open("/proc/self/maps") as maps:
        libm = next(line.split()[-1] for line in maps if "/libm.so" in line or "/libm-" in line)
    assert "GetPjrtApi" in first_use_errors(libm)


def test_unknown_plugin_name():
    first_use_errors("no_such_plugin")


def test_chosen_plugin_by_name():
    code = "import torch; print(torch.tpu.get_device_properties().plugin)"
    assert "xla_cpu_pjrt" in run_python(code, **{PLUGIN: "xla_cpu_pjrt"}).stdout
