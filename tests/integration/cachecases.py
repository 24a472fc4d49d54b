# What the tests of the program cache share: a program in few lines, and processes that run it.
"""`root` is where tier 3 keeps its programs; tier 2 is off unless a test turns it on."""

import json

from support import run_python

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
torch.tpu.compilation_cache.flush()  # programs are stored in the background
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


def stored_files(root):
    return sorted(p for p in root.iterdir() if p.suffix == ".tpuprog" and p.name[0] != ".")
