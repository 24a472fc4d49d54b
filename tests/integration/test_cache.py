# Programs that outlive their process: tiers 2 and 3, explanations, refusals, the command line.
import json
import shutil
import stat
import subprocess
import tarfile
from pathlib import Path

import pytest
from support import find_fake_plugin, run_python, tpu_only

pytestmark = tpu_only

QUICK_START = """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 2).to("tpu")
loss = model(torch.ones(8, 4, device="tpu")).square().mean()
loss.backward()
print(loss.item(), model.weight.grad.cpu().flatten().tolist())
"""
REPORT = """
import json
print(json.dumps(torch.tpu.compilation_cache.stats()))
"""


def run(code, root=None, **env):
    settings = {
        "TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT": root,
        "TORCH_TPU_TIER2_COMPILATION_CACHE": None,
        "WORLD_SIZE": None,
        **env,
    }
    return run_python(code, **settings)


def run_with_stats(code, root=None, **env):
    *lines, last = run(code + REPORT, root, **env).stdout.splitlines()
    return lines, json.loads(last)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "programs"


def files(root):
    return sorted(p for p in root.iterdir() if p.suffix == ".tpuprog")


def command(*arguments, root, check=True):
    code = f"import sys; from torch_tpu import cache; sys.exit(cache.main({list(arguments)!r}))"
    return run(code, root, check=check)


def test_a_second_process_compiles_nothing(root):
    first, cold = run_with_stats(QUICK_START, root)
    second, warm = run_with_stats(QUICK_START, root)
    assert first == second
    assert cold["compiles"] > 5
    assert cold["tier3_misses"] == cold["compiles"]
    assert warm["compiles"] == 0
    assert warm["tier3_hits"] == cold["compiles"]
    assert warm["tier3_read_bytes"] > 0
    assert len(files(root)) == cold["compiles"]
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert {stat.S_IMODE(f.stat().st_mode) for f in files(root)} == {0o600}


def test_no_tier_is_on_unless_asked(tmp_path):
    _, stats = run_with_stats(QUICK_START)
    assert stats["tier2_misses"] == stats["tier3_misses"] == 0
    assert stats["tier1_misses"] == stats["compiles"]


def test_tier_2_is_shared_by_the_processes_of_a_distributed_program(tmp_path):
    shared = str(tmp_path / "shared")
    first, cold = run_with_stats(QUICK_START, TORCH_TPU_TIER2_COMPILATION_CACHE=shared)
    second, warm = run_with_stats(QUICK_START, TORCH_TPU_TIER2_COMPILATION_CACHE=shared)
    assert first == second
    assert cold["tier2_writes"] == cold["compiles"] > 5
    assert (warm["compiles"], warm["tier2_hits"]) == (0, cold["compiles"])
    tiers = "import torch; print(torch.tpu.compilation_cache.shared())"
    assert run(tiers, WORLD_SIZE="2").stdout.strip().endswith("/programs")
    off = run(tiers, WORLD_SIZE="2", TORCH_TPU_TIER2_COMPILATION_CACHE="disabled")
    assert off.stdout.strip() == "None"


def test_damaged_files_are_compiled_anew_and_rewritten(root):
    expected, cold = run_with_stats(QUICK_START, root)
    sizes = {f.name: f.stat().st_size for f in files(root)}
    for number, file in enumerate(files(root)):
        data = bytearray(file.read_bytes())
        if number % 3 == 0:
            data = data[: len(data) // 2]
        elif number % 3 == 1:
            data[-1] ^= 1
        else:
            data[8] = 99  # another version of the format
        file.write_bytes(data)
    result, again = run_with_stats(QUICK_START, root)
    assert result == expected
    assert again["compiles"] == again["tier3_rejected"] == cold["compiles"]
    assert {f.name: f.stat().st_size for f in files(root)}.keys() == sizes.keys()
    assert run_with_stats(QUICK_START, root)[1]["compiles"] == 0


def test_verification_compares_the_text_with_the_stored_hash(root):
    expected, _ = run_with_stats(QUICK_START, root)
    result, stats = run_with_stats(QUICK_START, root, TORCH_TPU_CACHE_VERIFY="1")
    assert result == expected
    assert (stats["compiles"], stats["tier3_rejected"]) == (0, 0)


def test_a_root_that_others_may_write_into_is_refused(tmp_path):
    tmp_path.chmod(0o777)
    done = run(QUICK_START, tmp_path)
    assert "no place for compiled programs" in done.stderr
    assert not files(tmp_path)
    raised = run(
        f"import torch; torch.tpu.compilation_cache.set_root({str(tmp_path)!r})", check=False
    )
    assert raised.returncode != 0
    assert "belongs to you" in raised.stderr


def test_only_from_cache_names_operator_and_key(root):
    only = {"TORCH_TPU_COMPILE_ONLY_FROM_CACHE": "1"}
    refused = run(QUICK_START, root, check=False, **only)
    assert refused.returncode != 0
    for part in (
        "TORCH_TPU_COMPILE_ONLY_FROM_CACHE",
        "aten::",
        "structure-sizes-options",
        "plugin",
    ):
        assert part in refused.stderr
    expected, _ = run_with_stats(QUICK_START, root)
    result, stats = run_with_stats(QUICK_START, root, **only)
    assert result == expected
    assert stats["compiles"] == 0


def test_explain_names_what_differs(root):
    code = """
import torch
x = torch.ones(300, device="tpu")
torch.sin(x).cpu()
torch.sin(torch.ones(301, device="tpu")).cpu()
why = torch.tpu.compilation_cache.explain()
print(why.components, why.operator, why.neighbour)
"""
    printed = run(code, root).stdout
    assert "('sizes',)" in printed
    assert "aten::sin" in printed
    # In another process with other flags the neighbour is in the storage.
    other = "import torch; torch.sin(torch.ones(300, device='tpu')).cpu()\n"
    other += "why = torch.tpu.compilation_cache.explain(); print(why.components, why.pieces)"
    printed = run(other, root, LIBTPU_INIT_ARGS="--nothing").stdout
    assert "('options',) ('flags',)" in printed


def test_programs_of_any_url(tmp_path):
    pytest.importorskip("fsspec", reason="the extra 'cache' is not installed")
    # memory:// lives as long as its process: clearing tier 1 stands for a second one.
    code = """
import torch
cache = torch.tpu.compilation_cache
cache.set_root("memory://programs")
x = torch.ones(300, device="tpu")
expected = torch.sin(x).cpu()
assert cache.flush(30)
compiles = torch.tpu.compile_count()
stored = cache.stats()["tier3_writes"]
assert stored == compiles > 0, (stored, compiles)
assert cache.prune()["kept"] == stored
cache.clear(3)
assert cache.prune()["kept"] == 0
print("done")
"""
    assert run(code).stdout.strip() == "done"
    url = f"file://{tmp_path / 'by-url'}"
    expected, cold = run_with_stats(QUICK_START, url)
    result, warm = run_with_stats(QUICK_START, url)
    assert result == expected
    assert (warm["compiles"], warm["tier3_hits"]) == (0, cold["compiles"])


SLOW_STORAGE = """
import sys, time, types
import fsspec
from fsspec.implementations.memory import MemoryFileSystem

class Slow(MemoryFileSystem):
    protocol = "slow"
    def cat_file(self, *args, **kwargs):
        time.sleep({delay})
        raise {error}
    def pipe_file(self, *args, **kwargs):
        time.sleep({delay})
        raise {error}

fsspec.register_implementation("slow", Slow)
import torch
torch.tpu.compilation_cache.set_root("slow://programs")
start = time.monotonic()
"""


@pytest.mark.parametrize(
    ("delay", "error"),
    [(30, "OSError('gone')"), (0, "OSError('gone')")],
    ids=["delayed", "failing"],
)
def test_a_slow_or_failing_storage_neither_slows_nor_fails(delay, error):
    pytest.importorskip("fsspec", reason="the extra 'cache' is not installed")
    code = SLOW_STORAGE.format(delay=delay, error=error) + QUICK_START
    code += "print('seconds', time.monotonic() - start)\n"
    done = run(code, TORCH_TPU_COMPILATION_CACHE_EXIT_SECONDS="1")
    plain = run(QUICK_START)
    assert done.stdout.splitlines()[0] == plain.stdout.splitlines()[0]
    assert float(done.stdout.split("seconds")[1]) < 20


def test_a_plugin_that_cannot_serialize_works_without_the_tiers(root):
    fake = find_fake_plugin()
    if fake is None:
        pytest.skip("the fake plugin is not built (cmake --preset core)")
    code = """
import ctypes, os, torch
library = ctypes.CDLL(os.environ["TORCH_TPU_PJRT_PLUGIN"])
library.torch_tpu_fake_fail_next(b"PJRT_Executable_Serialize", 1, 12, b"cannot")
x = torch.ones(300, device="tpu")
torch.sin(x).cpu()
torch.tpu.compilation_cache.flush()
print(torch.tpu.compilation_cache.root())
"""
    done = run(code, root, TORCH_TPU_PJRT_PLUGIN=fake, TORCH_TPU_LOG_LEVEL="info")
    assert done.stdout.strip() == "None"
    assert done.stderr.count("tiers 2 and 3 are off") == 1


def test_the_command_line(root, tmp_path):
    _, cold = run_with_stats(QUICK_START, root)
    number = cold["compiles"]
    assert f"{number} programs" in command("stats", root=root).stdout
    listed = command("list", root=root).stdout.splitlines()
    assert len(listed) == number
    assert any("aten::" in line for line in listed)
    assert all("mean" in line for line in command("list", "mean", root=root).stdout.splitlines())
    archive = tmp_path / "programs.tar"
    assert f"wrote {number} programs" in command("export", str(archive), root=root).stdout
    assert f"removed {number} programs" in command("clear", root=root).stdout
    assert not files(root)
    assert f"read {number} programs" in command("import", str(archive), root=root).stdout
    assert run_with_stats(QUICK_START, root)[1]["compiles"] == 0
    pruned = command("prune", "--max-bytes", "1", root=root).stdout
    assert f"removed {number} programs" in pruned


def test_an_archive_with_something_else_is_refused(root, tmp_path):
    root.mkdir(mode=0o700)
    other = tmp_path / "other"
    other.write_bytes(b"no program")
    archive = tmp_path / "bad.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(other, arcname="../../escape.tpuprog")
    done = command("import", str(archive), root=root, check=False)
    assert done.returncode == 1
    assert "refused" in done.stderr
    assert not files(root)


def test_one_changed_line_of_a_lowering_changes_the_version(tmp_path):
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("cmake is not installed")
    checkout = Path(__file__).parents[2]
    for folder in ("src/ops", "src/shlo", "src/views", "src/graph", "src/device", "src/base"):
        shutil.copytree(checkout / folder, tmp_path / folder)
    (tmp_path / "python/torch_tpu").mkdir(parents=True)

    def version():
        output = tmp_path / "version.cc"
        script = checkout / "cmake/lowering_version.cmake"
        subprocess.run(
            [cmake, f"-DSOURCE={tmp_path}", f"-DOUTPUT={output}", "-P", str(script)], check=True
        )
        return output.read_text()

    first = version()
    assert version() == first
    lowering = tmp_path / "src/ops/softmax.cc"
    text = lowering.read_text()
    lowering.write_text(text.replace("reduce", "reduce ", 1))
    changed = version()
    assert changed != first
    lowering.write_text(text)
    assert version() == first
    # Tests of lowerings decide nothing.
    (tmp_path / "src/ops/shape_test.cc").write_text("")
    assert version() == first
