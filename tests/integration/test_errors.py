# Errors: PyTorch's types and wording, missing operators, failures that leave the process usable.
import os
import sys

import pytest
import torch
import torch.nn.functional as F
from support import DEVICE, eager_mode, equals, tpu_only

SAME_AS_CPU = {
    "broadcast": lambda d: torch.ones(2, device=d) + torch.ones(3, device=d),
    "mm": lambda d: torch.ones(2, 3, device=d).mm(torch.ones(2, 3, device=d)),
    "bmm": lambda d: torch.ones(2, 3, 4, device=d).bmm(torch.ones(3, 4, 5, device=d)),
    "view": lambda d: torch.ones(6, device=d).view(4),
    "view of strided": lambda d: torch.ones(2, 3, device=d).t().view(6),
    "dim range": lambda d: torch.ones(2, 3, device=d).sum(2),
    "cat": lambda d: torch.cat([torch.ones(2, 3, device=d), torch.ones(2, 4, device=d)]),
    "stack": lambda d: torch.stack([torch.ones(2, device=d), torch.ones(3, device=d)]),
    "index out of list": lambda d: torch.ones(3, device=d)[3],
    "select": lambda d: torch.ones(2, 3, device=d).select(1, 5),
    "in-place cast": lambda d: torch.ones(2, dtype=torch.int32, device=d).add_(0.5),
    "in-place grow": lambda d: torch.ones(2, device=d).add_(torch.ones(3, 2, device=d)),
    "in-place bool": lambda d: torch.ones(2, dtype=torch.bool, device=d).add_(1),
    "in-place abs of complex": lambda d: torch.ones(2, dtype=torch.complex64, device=d).abs_(),
    "var of integers": lambda d: torch.ones(3, dtype=torch.int32, device=d).var(),
    "std_mean of integers": lambda d: torch.std_mean(torch.ones(3, dtype=torch.int32, device=d)),
    "gelu": lambda d: F.gelu(torch.ones(2, device=d), approximate="erf"),
    "neg of bool": lambda d: -torch.ones(2, dtype=torch.bool, device=d),
    "minus of bool": lambda d: (
        torch.ones(2, dtype=torch.bool, device=d) - torch.ones(2, dtype=torch.bool, device=d)
    ),
    "bitwise of float": lambda d: torch.ones(2, device=d) & torch.ones(2, device=d),
    "mean of int": lambda d: torch.ones(2, dtype=torch.int64, device=d).mean(),
    "max of none": lambda d: torch.ones(0, device=d).max(),
    "bad reshape": lambda d: torch.ones(2, 3, device=d).reshape(-1, 4),
    "expand": lambda d: torch.ones(2, 3, device=d).expand(4, 3),
    "permute": lambda d: torch.ones(2, 3, device=d).permute(0, 0),
    "linear": lambda d: F.linear(torch.ones(2, 3, device=d), torch.ones(4, 5, device=d)),
    "conv channels": lambda d: F.conv2d(
        torch.ones(1, 3, 8, 8, device=d), torch.ones(4, 2, 3, 3, device=d)
    ),
    "conv kernel": lambda d: F.conv2d(
        torch.ones(1, 1, 2, 2, device=d), torch.ones(1, 1, 3, 3, device=d)
    ),
    "out dtype": lambda d: torch.exp(
        torch.ones(2, device=d), out=torch.ones(2, dtype=torch.int64, device=d)
    ),
    "item of many": lambda d: torch.ones(2, device=d).item(),
    "bool of many": lambda d: bool(torch.ones(2, device=d)),
    "gather rank": lambda d: torch.ones(2, 3, device=d).gather(
        0, torch.zeros(2, dtype=torch.int64, device=d)
    ),
    "gather dtype": lambda d: torch.ones(2, device=d).gather(0, torch.ones(2, device=d)),
    "mixed dtype mm": lambda d: torch.ones(2, 2, device=d).mm(
        torch.ones(2, 2, dtype=torch.float64, device=d)
    ),
    "split sizes": lambda d: torch.ones(5, device=d).split([2, 2]),
    "topk range": lambda d: torch.ones(3, device=d).topk(4),
    "backward of many": lambda d: (torch.ones(2, device=d, requires_grad=True) * 2).backward(),
}


@pytest.mark.parametrize("name", SAME_AS_CPU)
def test_type_and_wording_are_those_of_cpu(name):
    call = SAME_AS_CPU[name]
    errors = []
    for device in ("cpu", DEVICE):
        with pytest.raises((RuntimeError, IndexError, ValueError, TypeError)) as caught:
            call(device)
        errors.append(caught.value)
    cpu, ours = errors
    assert type(ours) is type(cpu), f"{ours!r}, CPU raises {cpu!r}"

    def first_line(error):
        return str(error).splitlines()[0].replace("CPUFloatType", "FloatType")

    assert first_line(cpu) in str(ours) or first_line(ours) in str(cpu), f"{ours}\nCPU: {cpu}"
    for word in ("stablehlo", "mlir", "hlo module"):
        assert word not in str(ours).lower()
    equals(torch.ones(2, device=DEVICE) + 1, [2, 2])


@tpu_only
def test_missing_operator_names_itself_and_the_list():
    library = torch.library.Library("torch_tpu_test", "DEF")
    library.define("nowhere(Tensor x) -> Tensor")
    library.impl("nowhere", lambda x: x, "CPU")
    with pytest.raises(NotImplementedError, match="torch_tpu_test::nowhere"):
        torch.ops.torch_tpu_test.nowhere(torch.ones(2, device=DEVICE))
    x = torch.ones(2, 2, device=DEVICE)
    with pytest.raises(NotImplementedError) as caught:
        torch.ops.aten._make_per_tensor_quantized_tensor(x.to(torch.uint8), 1.0, 0)
    text = str(caught.value)
    assert "aten::_make_per_tensor_quantized_tensor" in text
    assert "python -m torch_tpu.operators" in text
    assert "cpu_fallback" in text
    equals(x + 1, [[2, 2], [2, 2]])


OUT_OF_RANGE = {
    "index_select": lambda x, i: x.index_select(0, i),
    "gather": lambda x, i: x.gather(0, i),
    "index": lambda x, i: x[i],
    "embedding": lambda x, i: F.embedding(i, x[:, None]),
    "scatter": lambda x, i: x.scatter(0, i, 1.0),
    "index_put": lambda x, i: x.index_put((i,), torch.ones((), device=x.device)),
    "index_add": lambda x, i: x.index_add(0, i, torch.ones(2, device=x.device)),
    "nll_loss": lambda x, i: F.nll_loss(x.expand(2, 4), i),
}


@tpu_only
@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_debug_mode_names_operator_and_line(name):
    x, bad = torch.zeros(4, device=DEVICE), torch.tensor([1, 4], device=DEVICE)
    call = OUT_OF_RANGE[name]
    with eager_mode("debug"), pytest.raises((IndexError, RuntimeError)) as caught:
        call(x, bad)
    text = str(caught.value)
    assert name in text
    assert f"{os.path.basename(__file__)}:{call.__code__.co_firstlineno}" in text
    assert "out of range" in text or "out of bounds" in text
    equals(x, [0, 0, 0, 0])


@tpu_only
def test_debug_mode_accepts_valid_and_negative_indices():
    x = torch.arange(4.0, device=DEVICE)
    with eager_mode("debug"):
        equals(x[torch.tensor([-1, 0], device=DEVICE)], [3, 0])
        equals(x.gather(0, torch.tensor([3], device=DEVICE)), [3])


@tpu_only
def test_strict_mode_lets_out_of_range_indices_pass_without_harm():
    x, bad = torch.arange(4.0, device=DEVICE), torch.tensor([1, 99], device=DEVICE)
    assert torch.isfinite(x[bad]).all().item()
    equals(x.scatter(0, bad, 7.0), [0, 7, 2, 3])
    equals(x, [0, 1, 2, 3])


@tpu_only
def test_out_of_memory_type_and_text():
    with pytest.raises(torch.OutOfMemoryError) as caught:
        torch.randn(2**45, device=DEVICE).cpu()
    assert "128" in str(caught.value)  # TiB asked for
    assert "TiB" in str(caught.value)
    equals(torch.ones(2, device=DEVICE) * 3, [3, 3])


@tpu_only
def test_error_inside_backward_reaches_python():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad.mm(grad)

    x = torch.ones(3, device=DEVICE, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"must be a matrix|2D"):
        Fails.apply(x).sum().backward()
    (x * 2).sum().backward()
    equals(x.grad, [2, 2, 2])


def test_repr_in_a_traceback_does_not_raise(device):
    x = torch.ones(2, 3, device=device)
    with pytest.raises(RuntimeError):
        x @ x
    try:
        x @ x
    except RuntimeError:
        frame = sys.exc_info()[2].tb_frame
        assert "tensor" in repr(frame.f_locals["x"])


@pytest.mark.parametrize(
    "call",
    [
        lambda d: torch.randint(5, 5, (2,), device=d),
        lambda d: torch.empty(2, device=d).random_(5, 5),
        lambda d: torch.ones(3, device=d).normal_(0, -1.0),
        lambda d: torch.ones(3, device=d).uniform_(2.0, 1.0),
        lambda d: torch.ones(3, device=d).bernoulli_(1.5),
        lambda d: torch.ones(3, device=d).exponential_(-1.0),
        lambda d: torch.ones(3, device=d).geometric_(0.0),
        lambda d: torch.full((2,), 300, dtype=torch.uint8, device=d),
        lambda d: torch.zeros(2, dtype=torch.int8, device=d).fill_(1000),
        lambda d: torch.nn.functional.nll_loss(
            torch.zeros(2, 3, device=d), torch.zeros(2, dtype=torch.int32, device=d)
        ),
    ],
)
def test_numbers_that_cpu_refuses_are_refused_in_its_words(call, device):
    def message(where):
        with pytest.raises((RuntimeError, IndexError)) as caught:
            call(where)
        return str(caught.value)

    # The second call has a signature that is known.
    torch.ones(3, device=device).normal_(0, 1.0)
    assert message(device) == message(device) == message("cpu")


@tpu_only
def test_a_decomposition_that_calls_itself_is_a_missing_operator(monkeypatch):
    operator = torch.ops.aten._foobar.default  # PyTorch's own test operator, which no device has
    monkeypatch.setitem(torch._decomp.decomposition_table, operator, operator)
    with pytest.raises(NotImplementedError, match="aten::_foobar' is not implemented"):
        operator(torch.ones(2, device=DEVICE))
