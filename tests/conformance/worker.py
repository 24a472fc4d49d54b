# One worker process: runs the nodes it is sent, one at a time, and reports each.
"""Lines of JSON both ways. To the worker: a list of nodes of one entry. From it, for each node:
{"start": index} before and {"done": {...}} after, and {"idle": true} when the list is done. A
worker that has grown large leaves after an answer; the pool starts another."""

import json
import mmap
import os
import re
import resource
import sys
import time
import warnings

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import derivatives, kinds, nodes
from .samples import NotJudged

CHECKS = kinds.CHECKS | derivatives.CHECKS
_LARGEST_KIB = 3 << 20
_MISSING_NAME = re.compile(r"aten::[\w.]+")

PHASES = {"start": 0, "judge": 1, "device": 2}


class Phase:
    """What a worker is doing, in memory that the pool can read after it died."""

    def __init__(self):
        self._map = mmap.mmap(-1, 1)

    def __call__(self, name):
        self._map[0] = PHASES[name]

    def died_in_judge(self):
        """Whether CPU PyTorch was running."""
        return self._map[0] == PHASES["judge"]


def serve(entries, device, budget, requests, replies, phase):
    """Answers lines of `requests` on `replies` until there are none."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for line in requests:
        for index, fields in enumerate(json.loads(line)):
            node = nodes.Node(*fields)
            _send(replies, {"start": index})
            phase("start")
            _send(replies, {"done": run_node(entries[node.op], node, device, budget, phase)})
        _send(replies, {"idle": True})
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > _LARGEST_KIB:
            return


def _send(replies, message):
    replies.write(json.dumps(message) + "\n")
    replies.flush()


def run_node(info, node, device, budget=None, phase=lambda name: None):
    """The result of a node as a dict: status, message, sample, seconds, calls, compiles."""
    dtype = None if node.dtype == nodes.NO_DTYPE else nodes.dtype_of(node.dtype)
    context = kinds.Context(info, dtype, node.kind, device, phase, budget)
    found = {"op": node.op, "dtype": node.dtype, "kind": node.kind}
    start = time.perf_counter()
    try:
        CHECKS[node.kind](context)
        found["status"] = "passed" if context.judged else "unjudged"
    except NotJudged as reason:
        found |= {"status": "unjudged", "message": str(reason)}
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        found |= _failure(error)
    found |= {"seconds": round(time.perf_counter() - start, 3)}
    if found["status"] == "passed" and node in nodes.slice_of_entry(info):
        found["reaches"] = _reaches(context)
    counts = ("calls", "compiles", "fresh")
    return found | {name: getattr(context, name) for name in counts}


class _Recorder(TorchDispatchMode):
    """Names of the operators that are called below autograd."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace == "aten":
            self.names.add(func._schema.name.removeprefix("aten::"))
        return func(*args, **(kwargs or {}))


def _reaches(context):
    """Base names of the operators that the last call of a node runs, for the documentation."""
    with _Recorder() as recorder:
        try:
            context.last(context.device)
        except Exception:
            return []  # a mode changes what some calls do; their operators stay unnamed
    return sorted(recorder.names)


def _failure(error):
    found = {"status": "failed", "message": f"{type(error).__name__}: {error}"[:800]}
    if sample := getattr(error, "sample", None):
        found["sample"] = sample
    chain = error
    while chain is not None:
        if kinds.is_missing(chain):
            name = _MISSING_NAME.search(str(chain))
            return found | {"missing": name.group() if name else "unknown"}
        chain = chain.__cause__
    return found


def main_of_child(entries, device, budget, request_fd, reply_fd, log_path, phase):
    """Body of a forked worker; does not return."""
    code = 1
    try:
        log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        with os.fdopen(request_fd) as requests, os.fdopen(reply_fd, "w") as replies:
            serve(entries, device, budget, requests, replies, phase)
        if hasattr(torch, "tpu"):
            torch.tpu.compilation_cache.flush()  # what the process does not get to do at its end
        code = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
