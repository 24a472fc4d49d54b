# Programs that outlive their process: tiers 2 and 3, explanations, refusals, verification.
import stat
import struct

import pytest
from cachecases import QUICK_START, run, run_with_stats, stored_files
from support import find_fake_plugin, tpu_only

pytestmark = tpu_only


@pytest.fixture
def root(tmp_path):
    return tmp_path / "programs"


def test_a_second_process_compiles_nothing(root):
    first, cold = run_with_stats(QUICK_START, root)
    second, warm = run_with_stats(QUICK_START, root)
    assert first == second
    assert cold["compiles"] > 5
    assert cold["tier3_misses"] == cold["compiles"]
    assert warm["compiles"] == 0
    assert warm["tier3_hits"] == cold["compiles"]
    assert warm["tier3_read_bytes"] > 0
    assert len(stored_files(root)) == cold["compiles"]
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert {stat.S_IMODE(f.stat().st_mode) for f in stored_files(root)} == {0o600}


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
    sizes = {f.name: f.stat().st_size for f in stored_files(root)}
    for number, file in enumerate(stored_files(root)):
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
    assert {f.name: f.stat().st_size for f in stored_files(root)}.keys() == sizes.keys()
    assert run_with_stats(QUICK_START, root)[1]["compiles"] == 0


def test_verification_compares_the_text_with_the_stored_hash(root):
    expected, _ = run_with_stats(QUICK_START, root)
    result, stats = run_with_stats(QUICK_START, root, TORCH_TPU_CACHE_VERIFY="1")
    assert result == expected
    assert (stats["compiles"], stats["tier3_rejected"]) == (0, 0)


SINE = """
import torch
print(torch.sin(torch.ones(300, device="tpu")).cpu().sum().item())
"""
COSINE = SINE.replace("sin", "cos")
REPORTED = "was made from another StableHLO text: please report this"


def forge(folder, name, changes):
    """Stores a program with other bytes at some offsets, and a right checksum."""
    data = bytearray(next(f for f in stored_files(folder) if f.name == name).read_bytes())
    for at, new in changes.items():
        data[at : at + len(new)] = new
    data[CHECKSUM_AT : CHECKSUM_AT + 8] = bytes(8)
    seed = checksum(data[:HEADER_BYTES], 0)
    struct.pack_into("<Q", data, CHECKSUM_AT, checksum(data[HEADER_BYTES:], seed))
    return bytes(data)


# The layout of src/cache/entry.cc.
KEY_AT, TEXT_HASH_AT, CHECKSUM_AT, HEADER_BYTES = 16, 40, 88, 96


def checksum(data, seed):
    """src/cache/checksum.h, which never changes without another version of the format."""
    mask = (1 << 64) - 1
    a, b, c = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB

    def mix(state, word):
        state = (state ^ word) * a & mask
        return ((state << 29 | state >> 35) & mask) * b & mask

    lanes = [seed ^ a, seed ^ b, seed ^ c, (seed + a) & mask]
    whole = len(data) // 32 * 32
    for at in range(0, whole, 32):
        words = struct.unpack_from("<4Q", data, at)
        lanes = [mix(lane, word) for lane, word in zip(lanes, words, strict=True)]
    state = len(data) * c & mask
    for lane in (*lanes, *data[whole:]):
        state = mix(state, lane)
    state = (state ^ state >> 31) * c & mask
    return state ^ state >> 32


@pytest.mark.parametrize("tier", [2, 3])
def test_verification_finds_the_program_of_another_text(tmp_path, tier):
    # Same types, so that nothing but the text tells them apart.
    roots = {name: tmp_path / name for name in ("sine", "cosine", "unused")}
    sine, _ = run_with_stats(SINE, roots["sine"])
    cosine, _ = run_with_stats(COSINE, roots["cosine"])
    assert sine != cosine
    names = {f.name for f in stored_files(roots["sine"])}
    (mine,) = names - {f.name for f in stored_files(roots["cosine"])}
    (other,) = {f.name for f in stored_files(roots["cosine"])} - names
    key = struct.pack("<3Q", *(int(part, 16) for part in mine.split(".")[0].split("-")))
    forged = forge(roots["cosine"], other, {KEY_AT: key})
    (roots["sine"] / mine).write_bytes(forged)
    env = {"TORCH_TPU_TIER2_COMPILATION_CACHE": roots["sine"]} if tier == 2 else {}
    root = roots["unused"] if tier == 2 else roots["sine"]
    # What is at stake: without verification the key is believed.
    assert run_with_stats(SINE, root, **env)[0] == cosine
    (roots["sine"] / mine).write_bytes(forged)
    done = run(SINE, root, TORCH_TPU_CACHE_VERIFY="1", **env)
    assert done.stdout.splitlines() == sine
    assert REPORTED in done.stderr
    assert "aten::cos" in done.stderr
    # It was compiled anew and written over the wrong one.
    assert (roots["sine"] / mine).read_bytes() != forged
    done, stats = run_with_stats(SINE, root, TORCH_TPU_CACHE_VERIFY="1", **env)
    assert done == sine
    assert (stats["compiles"], stats[f"tier{tier}_rejected"]) == (0, 0)


def test_verification_finds_a_wrong_hash_of_the_text(root):
    expected, _ = run_with_stats(SINE, root)
    for file in stored_files(root):
        file.write_bytes(forge(root, file.name, {TEXT_HASH_AT: bytes(32)}))
    number = len(stored_files(root))
    believed, stats = run_with_stats(SINE, root)
    assert (believed, stats["compiles"]) == (expected, 0)
    result, stats = run_with_stats(SINE, root, TORCH_TPU_CACHE_VERIFY="1")
    assert result == expected
    assert stats["compiles"] == stats["tier3_rejected"] == number


def test_a_root_that_others_may_write_into_is_refused(tmp_path):
    tmp_path.chmod(0o777)
    done = run(QUICK_START, tmp_path)
    assert "no place for compiled programs" in done.stderr
    assert not stored_files(tmp_path)
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


# Counts the files that fsspec reads for the program cache.
COUNT_READS = """
import fsspec
from {module} import {system} as System
reads, read_file = [], System.cat_file
System.cat_file = lambda self, path, **k: reads.append(path) or read_file(self, path, **k)
"""


def test_a_second_process_reads_programs_through_fsspec(tmp_path):
    pytest.importorskip("fsspec", reason="the extra 'cache' is not installed")
    # file:// is read without fsspec; local:// is the same place with it.
    spied = COUNT_READS.format(module="fsspec.implementations.local", system="LocalFileSystem")
    spied += QUICK_START + "print(len(reads))\n"
    url = f"local://{tmp_path / 'by-url'}"
    # A storage that a busy machine makes slow is not asked before each compile.
    (*expected, misses), cold = run_with_stats(spied, url)
    assert cold["tier3_writes"] == cold["compiles"] > 5
    assert 0 < int(misses) <= cold["compiles"]
    assert len(stored_files(tmp_path / "by-url")) == cold["compiles"]
    # So that no read loses its race against the compiler on a busy machine.
    only = {"TORCH_TPU_COMPILE_ONLY_FROM_CACHE": "1"}
    (*result, hits), warm = run_with_stats(spied, url, **only)
    assert result == expected
    assert (warm["compiles"], warm["tier3_rejected"]) == (0, 0)
    assert int(hits) == warm["tier3_hits"] == cold["compiles"]
    result, warm = run_with_stats(QUICK_START, f"file://{tmp_path / 'by-url'}")
    assert result == expected
    assert (warm["compiles"], warm["tier3_hits"]) == (0, cold["compiles"])


def test_programs_in_the_memory_of_fsspec_are_read_back():
    pytest.importorskip("fsspec", reason="the extra 'cache' is not installed")
    # It lives as long as its process: clearing tier 1 stands for a second one.
    code = COUNT_READS.format(module="fsspec.implementations.memory", system="MemoryFileSystem")
    code += """
import torch
cache = torch.tpu.compilation_cache
cache.set_root("memory://programs")
x = torch.arange(300.0, device="tpu")
operations = (lambda: x + 1, lambda: x.flip(0), lambda: x.cumsum(0), lambda: -x)
expected = [f().cpu() for f in operations]
assert cache.flush(30)
cold = cache.stats()
assert cold["tier3_writes"] == cold["compiles"] > 3, cold
assert cache.prune()["kept"] == cold["compiles"]
for _ in range(5):
    cache.clear(1)
    before = len(reads)
    for f, wanted in zip(operations, expected):
        assert torch.equal(f().cpu(), wanted)
    assert len(reads) - before == len(operations)
warm = cache.stats()
# A read that is slow, once or twice on a busy machine, is overtaken by the compiler.
assert warm["tier3_hits"] > 2 * len(operations), warm
assert warm["tier3_hits"] + warm["compiles"] - cold["compiles"] >= 5 * len(operations), warm
cache.clear(3)
assert cache.prune()["kept"] == 0
print("done")
"""
    assert run(code).stdout.strip() == "done"


def test_a_forked_child_reads_and_writes_programs_of_a_url(tmp_path):
    pytest.importorskip("fsspec", reason="the extra 'cache' is not installed")
    # The threads of the parent that serve the URL are not in the child.
    code = """
import multiprocessing, time
import torch

def child(queue):
    cache = torch.tpu.compilation_cache
    assert (torch.ones(300, device="tpu") + 1).cpu().sum() == 600
    begin = time.monotonic()
    flushed = cache.flush(30)
    queue.put((flushed, time.monotonic() - begin, cache.stats()))

fork = multiprocessing.get_context("fork")
for compiles in (1, 0):
    queue = fork.SimpleQueue()
    process = fork.Process(target=child, args=(queue,))
    process.start()
    flushed, seconds, stats = queue.get()
    process.join()
    assert process.exitcode == 0
    assert flushed and seconds < 5, seconds
    assert stats["compiles"] == stats["tier3_writes"] == compiles, stats
    assert stats["tier3_hits"] == 1 - compiles, stats
print("done")
"""
    assert run(code, f"local://{tmp_path / 'forked'}").stdout.strip() == "done"


def test_a_process_with_urls_ends_well():
    pytest.importorskip("fsspec", reason="the extra 'cache' is not installed")
    # Threads that serve a URL wait in C++ when Python ends.
    code = "import torch\n"
    code += "for i in range(20): torch.tpu.compilation_cache.set_root(f'memory://{i}')\n"
    for _ in range(2):
        assert run(code, "memory://first").stderr == ""


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
for i in range(16):
    library.torch_tpu_fake_fail_next(b"PJRT_Executable_Serialize", 1, 12, b"cannot")
    torch.sin(torch.ones(300 + i, device="tpu")).cpu()
    torch.tpu.compilation_cache.flush()
print(torch.tpu.compilation_cache.root())
"""
    done = run(code, root, TORCH_TPU_PJRT_PLUGIN=fake, TORCH_TPU_LOG_LEVEL="info")
    assert done.stdout.strip() == "None"
    assert done.stderr.count("tiers 2 and 3 are off") == 1
