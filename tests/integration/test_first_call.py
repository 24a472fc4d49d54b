# What a first call costs beside its program: no import of torch._dynamo, which takes seconds.
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
import torch
from torch.nn import functional as F
x = torch.randn(4, 4, device="tpu")
mask = x > 0
{statement}
torch.tpu.synchronize()
assert "torch._dynamo" not in sys.modules
"""

STATEMENTS = {
    "binary": "x + 1, x * x, x / 2, x - x, x ** 2, torch.maximum(x, x)",
    "unary": "x.exp(), x.tanh(), -x, x.sqrt(), x.sigmoid(), F.gelu(x), F.silu(x)",
    "in place": "x.add_(1).mul_(x).div_(2).clamp_(0).relu_()",
    "reductions": "x.sum(), x.mean(), x.mean(0), x.var(), x.amax(1), x.argmax(), "
    "x.softmax(0), x.cumsum(0)",
    "products": "x @ x, torch.addmm(x, x, x), torch.bmm(x[None], x[None]), F.linear(x, x)",
    "fills": "x.normal_(), x.uniform_(), x.exponential_(), x.bernoulli_(), x.geometric_(0.5)",
    "factories": "torch.zeros(3, device='tpu'), torch.rand(3, device='tpu'), "
    "torch.normal(0.0, 1.0, (3,), device='tpu')",
    "indices": "x[mask], x[0], x.gather(0, mask.long()), x.sort()",
    "gradients": "net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), "
    "torch.nn.Flatten(), torch.nn.Linear(8, 3)).to('tpu'); "
    "F.cross_entropy(net(x[None, None]), mask[:1, 0].long()).backward()",
}


@pytest.mark.parametrize("kind", STATEMENTS)
def test_without_dynamo(kind):
    program = PROGRAM.format(statement=STATEMENTS[kind])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_every_structured_overload_has_a_row():
    """The overloads whose C++ Meta kernel the installed PyTorch hides under a Python one."""
    hidden = set()
    for schema in torch._C._jit_get_all_schemas():
        if not schema.name.startswith("aten::") or schema.is_mutable:
            continue
        name = schema.name + (f".{schema.overload_name}" if schema.overload_name else "")
        try:
            dump = torch._C._dispatch_dump(name)
        except RuntimeError:  # a schema of TorchScript alone
            continue
        meta = [line for line in dump.splitlines() if line.startswith("Meta")]
        if len(meta) > 1 and "_meta_registrations" in meta[0] and "RegisterMeta" in meta[1]:
            hidden.add(name.removeprefix("aten::").replace(".", "_"))
    source = (ROOT / "src" / "device" / "structured_meta.cc").read_text(encoding="utf-8")
    rows = set(re.findall(r"\b(?:SAME|ROW)\((\w+)", source.split("clang-format off")[1]))
    assert len(rows) > 200
    assert hidden - rows == {"isin_Scalar_Tensor"}  # see there
    assert rows < hidden
