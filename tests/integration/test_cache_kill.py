# Processes that are killed while they fill tier 2: the next ones wait for nobody and read no half.
import json
import random

import pytest
from support import run_python, tpu_only

pytestmark = tpu_only

# One parent that has imported torch and never opens the device forks everybody else.
PARENT = """
import fcntl, json, os, random, signal, struct, sys, time
from pathlib import Path
import torch
import torch._dynamo  # some operators import it when they are first called
from torch_tpu import _C

ROUNDS, SEED, LIMIT = {rounds}, {seed}, 30
FOLDER = Path(os.environ["TORCH_TPU_TIER2_COMPILATION_CACHE"])
OPERATIONS = (
    lambda x: x + 1, lambda x: x * 3 - 2, torch.neg, lambda x: x.flip(0), lambda x: x.cumsum(0),
    lambda x: x.sort(descending=True)[0],
)

def work(number):
    # Small whole numbers: every order of summation is exact. The size 8 is in every round's.
    for size in (8, 9 + number):
        x = torch.arange(size, dtype=torch.float32)
        y = x.to("tpu")
        for operation in OPERATIONS:
            assert torch.equal(operation(y).cpu(), operation(x)), (number, size)

def succeed(number, pipe):
    work(number)
    os.write(pipe, json.dumps(torch.tpu.compilation_cache.stats()).encode())

def fork(body, *arguments):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            body(*arguments)
            code = 0
        finally:
            os._exit(code)
    return child

def names(prefix="", suffix=""):
    found = os.listdir(FOLDER) if FOLDER.exists() else ()
    return {{n for n in found if n.startswith(prefix) and n.endswith(suffix)}}

def lock_holder():
    # Of any key. 0: nobody.
    try:
        with open(FOLDER / "locks") as file:
            asked = struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            answer = fcntl.fcntl(file, fcntl.F_GETLK, asked)
    except FileNotFoundError:
        return 0
    kind, _, _, _, process = struct.unpack("hhqqi0q", answer)
    return 0 if kind == fcntl.F_UNLCK else process

def stop(victim, aimed, delay):
    # At a random moment; or, aimed, as soon as a file is being written.
    until = time.monotonic() + (LIMIT if aimed else delay)
    before = names(".tmp-")
    while time.monotonic() < until and not (aimed and names(".tmp-") - before):
        if os.waitid(os.P_PID, victim, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            break
        time.sleep(0 if aimed else min(0.001, max(0, until - time.monotonic())))
    # Stopped first, so that one can see where it was.
    os.kill(victim, signal.SIGSTOP)
    status = os.waitid(os.P_PID, victim, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
    return status.si_code == os.CLD_STOPPED, names(".tmp-") - before

def wait(child, what):
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert status == 0, f"{{what}} ended with {{status}}"
            return
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError(f"{{what}} did not end within {{LIMIT}} s: a lock is stuck")

def check_files():
    # What a killed writer leaves behind has another name.
    for name in names(suffix=".tpuprog") - names(".tmp-"):
        assert _C._cache_decode((FOLDER / name).read_bytes())["file"] == name

rng = random.Random(SEED)
programs = 2 * len(OPERATIONS)  # at least, of a round
begin = time.monotonic()
wait(fork(work, -1), "the first")
span = time.monotonic() - begin
count = dict.fromkeys(("killed", "aimed", "with_lock", "while_writing", "waited", "longest"), 0)
for number in range(ROUNDS):
    aimed, together = rng.random() < 0.5, rng.random() < 0.5
    read, write = os.pipe()
    victim = fork(work, number)
    try:
        if together:
            next_one = fork(succeed, number, write)
        alive, writing = stop(victim, aimed, rng.uniform(0, span))
        count["with_lock"] += alive and lock_holder() == victim
        count["while_writing"] += alive and bool(writing)
    finally:
        os.kill(victim, signal.SIGKILL)
        _, status = os.waitpid(victim, 0)
    count["killed"] += os.WIFSIGNALED(status)
    count["aimed"] += aimed
    count["waited"] += together
    check_files()
    begin = time.monotonic()
    if not together:
        next_one = fork(succeed, number, write)
    wait(next_one, f"round {{number}}: the process after the killed one")
    count["longest"] = max(count["longest"], round(time.monotonic() - begin, 2))
    os.close(write)
    with os.fdopen(read) as pipe:
        stats = json.loads(pipe.read())
    assert stats["tier2_rejected"] == stats["tier2_errors"] == 0, (number, stats)
    assert stats["tier2_hits"] + stats["compiles"] == stats["tier1_misses"] >= programs, stats
    assert stats["tier2_writes"] == stats["compiles"], (number, stats)
    check_files()
print(json.dumps(count))
"""


@pytest.mark.parametrize("rounds", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_processes_leave_no_lock_and_no_half_written_program(rounds, tmp_path):
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    folder = tmp_path / "shared"
    done = run_python(
        PARENT.format(rounds=rounds, seed=seed),
        timeout=600,
        TORCH_TPU_TIER2_COMPILATION_CACHE=folder,
        TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT=None,
        TORCH_TPU_LOG_LEVEL="info",
    )
    count = json.loads(done.stdout)
    print(count)
    assert count["killed"] > rounds / 4, count
    assert count["with_lock"] > rounds / 20, count
    assert "compiled anew" not in done.stderr
