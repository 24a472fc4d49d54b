# `python -m torch_tpu.cache`: every command as a user types it, and what it says of odd arguments.
import gzip
import os
import shutil
import subprocess
import sys
import tarfile
import time

import pytest
from cachecases import QUICK_START, run_with_stats, stored_files
from support import tpu_only

pytestmark = tpu_only


def command(*arguments, check=True, **env):
    """What the command printed, then stderr and exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "torch_tpu.cache", *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={k: v for k, v in os.environ.items() if "COMPILATION_CACHE" not in k} | env,
    )
    if check:
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr, done.returncode


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filled")
    run_with_stats(QUICK_START, folder)
    return folder


@pytest.fixture
def root(filled, tmp_path):
    return shutil.copytree(filled, tmp_path / "programs")


def test_stats(root):
    files = stored_files(root)
    files[0].write_bytes(b"no program")
    first, used, seconds, versions = command("--root", root, "stats").splitlines()
    assert first.startswith(f"{root}: {len(files)} programs, ")
    assert used.startswith("last used 0 min to ")
    assert seconds.endswith("; 1 damaged")
    assert versions.split()[0] == str(len(files) - 1)
    assert "lowerings " in versions
    assert "PyTorch 2.13" in versions


def test_list(root):
    old, damaged = stored_files(root)[:2]
    damaged.write_bytes(b"no program")
    os.utime(old, (time.time() - 72 * 3600,) * 2)
    lines = command("list", "--root", root).splitlines()
    assert len(lines) == len(stored_files(root))
    # The least recently used. Looking at it is not using it.
    assert lines[0].startswith(old.stem)
    assert " 3 d " in lines[0]
    (bad,) = (line for line in lines if line.startswith(damaged.stem))
    assert bad.endswith("damaged")
    assert any("aten::" in line for line in lines)
    assert all("mean" in line for line in command("--root", root, "list", "mean").splitlines())
    assert command("--root", root, "list", old.stem).splitlines() == lines[:1]
    assert command("--root", root, "list", "no such operator") == ""


def test_list_ends_quietly_when_nobody_reads_on(root):
    line = f"'{sys.executable}' -m torch_tpu.cache --root '{root}' list | true"
    done = subprocess.run(["bash", "-c", line], check=False, capture_output=True, text=True)
    assert done.stderr == ""


def test_prune(root):
    files = stored_files(root)
    os.utime(files[0], (time.time() - 10 * 86400,) * 2)
    assert command("--root", root, "prune", "--max-days", "7").startswith("removed 1 programs, ")
    assert not files[0].exists()
    assert f"kept {len(files) - 1}," in command("--root", root, "prune", "--max-bytes", "1GB")
    size = max(f.stat().st_size for f in files[1:])
    printed = command("--root", root, "prune", "--max-bytes", str(2 * size))
    assert sum(f.stat().st_size for f in stored_files(root)) <= 2 * size
    assert f"kept {len(stored_files(root))}," in printed
    assert "kept 0, 0 B" in command("--root", root, "prune", "--max-bytes", "1")


@pytest.mark.parametrize(
    "arguments", [(), ("--max-bytes", "-5"), ("--max-bytes", "much"), ("--max-days", "nan")]
)
def test_prune_asks_for_a_limit(root, arguments):
    _, error, code = command("--root", root, "prune", *arguments, check=False)
    assert code == 2
    assert "--max-bytes" in error
    assert "give --max" in error or "expected a number that is not negative" in error
    assert stored_files(root)


def test_clear(root):
    number = len(stored_files(root))
    assert command("--root", root, "clear") == f"{root}: removed {number} programs\n"
    assert not stored_files(root)
    assert command("--root", root, "stats") == f"{root}: 0 programs, 0 B\n"


@pytest.mark.parametrize("archive", ["programs.tar", "programs.tar.gz"])
def test_export_and_import(root, tmp_path, archive):
    files = {f.name: f.read_bytes() for f in stored_files(root)}
    damaged = stored_files(root)[0]
    damaged.write_bytes(b"no program")
    archive = tmp_path / archive
    printed, error, code = command("--root", root, "export", archive, check=False)
    assert printed == f"wrote {len(files) - 1} programs to {archive}, left out 1\n"
    assert (code, error.count("\n")) == (0, 1)
    assert damaged.name in error
    if archive.suffix == ".gz":
        gzip.decompress(archive.read_bytes())
    other = tmp_path / "other"
    read = command("import", archive, "--root", other)
    assert read == f"read {len(files) - 1} programs, refused 0\n"
    del files[damaged.name]
    assert {f.name: f.read_bytes() for f in stored_files(other)} == files


def test_another_process_compiles_nothing_after_an_import(filled, tmp_path):
    command("--root", filled, "export", tmp_path / "programs.tar")
    command("--root", tmp_path / "other", "import", tmp_path / "programs.tar")
    assert run_with_stats(QUICK_START, tmp_path / "other")[1]["compiles"] == 0


def test_import_refuses_what_is_no_program_of_its_name(root, tmp_path):
    first, second = stored_files(root)[:2]
    other = tmp_path / "other"
    other.write_bytes(b"no program")
    archive = tmp_path / "bad.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(other, arcname="../../escape.tpuprog")
        tar.add(other, arcname=first.name)
        tar.add(first, arcname=second.name)
        tar.add(second, arcname=f"../{second.name}")
        tar.add(tmp_path, arcname="folder", recursive=False)
    printed, error, code = command("--root", tmp_path / "new", "import", archive, check=False)
    assert (printed, code) == ("read 0 programs, refused 5\n", 1)
    assert error.count("refused ") == 5
    assert not stored_files(tmp_path / "new")
    assert not list(tmp_path.parent.glob("*.tpuprog"))


def test_a_mistyped_root_is_an_error_and_makes_no_folder(tmp_path):
    missing, file = tmp_path / "missing", tmp_path / "file"
    file.write_text("")
    for verb in (["stats"], ["list"], ["clear"], ["prune", "--max-days", "1"], ["export", "x.tar"]):
        _, error, code = command("--root", missing, *verb, check=False)
        assert (error, code) == (f"error: {missing} does not exist\n", 1)
    assert not missing.exists()
    for root, said in (
        (file, "Not a directory"),
        ("bogus://x", "Protocol not known"),
    ):
        _, error, code = command("--root", root, "stats", check=False)
        assert code == 1
        assert said in error
        assert error.startswith("error: ")
    for verb in ("import", "export"):
        archive = missing / "x.tar"
        _, error, code = command("--root", tmp_path, verb, archive, check=False)
        assert code == 1
        assert str(archive) in error
    _, error, code = command("--root", tmp_path, "import", file, check=False)
    assert (code, error.splitlines()[0][:7]) == (1, "error: ")
    _, error, code = command("stats", check=False)
    assert code == 1
    assert "give --root, or set TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT" in error
    for arguments in ((), ("frobnicate",)):
        _, error, code = command("--root", tmp_path, *arguments, check=False)
        assert code == 2
        assert "usage: python -m torch_tpu.cache" in error


def test_the_environment_and_urls_name_a_root(root, tmp_path):
    number = len(stored_files(root))
    for env in (
        {"TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT": str(root)},
        {"TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT": f"file://{root}"},
        {"TORCH_TPU_TIER2_COMPILATION_CACHE": str(root)},
        {"TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT": "~/programs", "HOME": str(tmp_path)},
    ):
        assert f"{number} programs" in command("stats", **env)
    pytest.importorskip("fsspec", reason="the extra 'cache' is not installed")
    url = f"local://{root}"
    assert f"{url}: {number} programs" in command("--root", url, "stats")
    assert len(command("--root", url, "list").splitlines()) == number
    assert f"wrote {number} " in command("--root", url, "export", tmp_path / "x.tar")
    assert "kept 0," in command("--root", url, "prune", "--max-bytes", "1")
    assert f"read {number} " in command("--root", url, "import", tmp_path / "x.tar")
    assert f"removed {number} " in command("--root", url, "clear")
