# Every optimizer of optim_db on the device, by loop, foreach and fused, against CPU.
"""Ten steps with the gradients of a fixed problem. SparseAdam takes sparse gradients only, which
are out of scope."""

import copy
import itertools

import pytest
import torch
from support import DEVICE, ON_TPU, compile_count, launch_count, no_compiles
from torch.testing._internal.common_optimizers import optim_db
from torch.utils._python_dispatch import TorchDispatchMode

IMPLEMENTATIONS = ("default", "forloop", "foreach", "fused")
OPTIMIZERS = [info for info in optim_db if not info.only_supports_sparse_grads]


def implementations(info):
    supported = [
        i for i in IMPLEMENTATIONS if i in ("default", "forloop") or i in info.supported_impls
    ]
    return [i for i in supported if i != "forloop" or "foreach" in info.supported_impls]


def flags(implementation):
    return {
        "default": {},
        "forloop": {"foreach": False},
        "foreach": {"foreach": True},
        "fused": {"fused": True},
    }[implementation]


def configurations(info):
    """Keyword arguments that op_db's authors chose, without those of other devices."""
    made = info.optim_inputs_func(device="cpu")
    kept = [m for m in made if not any(isinstance(v, torch.Tensor) for v in m.kwargs.values())]
    chosen = []
    for m in kept:
        own = {k: v for k, v in m.kwargs.items() if k not in ("foreach", "fused", "differentiable")}
        if own not in chosen and not own.get("capturable"):
            chosen.append(own)
    return chosen


class Problem:
    """A small regression whose gradients flow through a loss; parameters of several shapes."""

    def __init__(self, device, dtype=torch.float32):
        generator = torch.Generator().manual_seed(0)

        def make(*shape):
            return torch.randn(*shape, generator=generator).to(dtype).to(device)

        self.parameters = [torch.nn.Parameter(make(*s)) for s in ((4, 3), (3, 2), (4, 2))]
        self.x, self.y = make(5, 4), make(5, 2)

    def loss(self):
        a, b, c = self.parameters
        return (torch.tanh(self.x @ a) @ b + self.x @ c - self.y).square().mean()

    def step(self, optimizer):
        def closure():
            optimizer.zero_grad()
            loss = self.loss()
            loss.backward()
            return loss

        return optimizer.step(closure)


# Each step of LBFGS is twenty steps whose lengths depend on each other: rounding grows with them.
DTYPES = {"LBFGS": torch.float64}
# RAdam changes its formula once, when its estimate of the variance becomes usable.
COMPILES_AT = {"RAdam": {5}}


def start(info, device, implementation, configuration):
    problem = Problem(device, DTYPES.get(info.name, torch.float32))
    arguments = {**configuration, **flags(implementation)}
    return problem, info.optim_cls(problem.parameters, **arguments)


def same(mine, theirs, info):
    rtol, atol = (2e-2, 2e-3) if info.name == "Muon" else (1e-4, 1e-5)  # it works in bfloat16
    for a, b in zip(mine.parameters, theirs.parameters, strict=True):
        torch.testing.assert_close(a.detach().cpu(), b.detach(), rtol=rtol, atol=atol)


def cases(all_configurations=False):
    for info in OPTIMIZERS:
        chosen = configurations(info) if all_configurations else [{}]
        for implementation, (i, configuration) in itertools.product(
            implementations(info), enumerate(chosen)
        ):
            name = f"{info.name}-{implementation}" + (f"-{i}" if all_configurations else "")
            yield pytest.param(info, implementation, configuration, id=name)


def ten_steps(info, implementation, configuration):
    mine, on_device = start(info, DEVICE, implementation, configuration)
    theirs, on_cpu = start(info, "cpu", "default", configuration)
    for step in range(10):
        before = compile_count()
        mine.step(on_device)
        theirs.step(on_cpu)
        may_compile = step < 2 or step in COMPILES_AT.get(info.name, ())
        assert may_compile or compile_count() == before, f"step {step + 1} compiled programs"
    same(mine, theirs, info)


@pytest.mark.parametrize(("info", "implementation", "configuration"), list(cases()))
def test_ten_steps(info, implementation, configuration):
    ten_steps(info, implementation, configuration)


@pytest.mark.slow
@pytest.mark.parametrize(("info", "implementation", "configuration"), list(cases(True)))
def test_ten_steps_of_all_configurations(info, implementation, configuration):
    ten_steps(info, implementation, configuration)


@pytest.mark.parametrize(("info", "implementation", "configuration"), list(cases()))
def test_state_dict_round_trip(info, implementation, configuration):
    """An optimizer that loads a state goes on where the other stood, on the device and from CPU."""
    problem, optimizer = start(info, DEVICE, implementation, configuration)
    for _ in range(3):
        problem.step(optimizer)
    state = copy.deepcopy(optimizer.state_dict())
    values = [p.detach().clone() for p in problem.parameters]
    other, again = start(info, DEVICE, implementation, configuration)
    for p, value in zip(other.parameters, values, strict=True):
        p.detach().copy_(value)
    again.load_state_dict(torch.utils._pytree.tree_map(_to_cpu, state))
    for _ in range(2):
        problem.step(optimizer)
        other.step(again)
    for a, b in zip(other.parameters, problem.parameters, strict=True):
        torch.testing.assert_close(a.detach(), b.detach())


def _to_cpu(x):
    return x.cpu() if isinstance(x, torch.Tensor) else x


class _CountForeach(TorchDispatchMode):
    """Programs that each call of a foreach or fused operator sends."""

    def __init__(self):
        super().__init__()
        self.programs = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        before = launch_count()
        result = func(*args, **(kwargs or {}))
        if func._schema.name.startswith(("aten::_foreach_", "aten::_fused_")):
            self.programs.append((func._schema.name, launch_count() - before))
        return result


@pytest.mark.skipif(not ON_TPU, reason="counts programs of the tpu device")
@pytest.mark.parametrize(
    "info", [i for i in OPTIMIZERS if "foreach" in i.supported_impls], ids=lambda i: i.name
)
@pytest.mark.parametrize("implementation", ["foreach", "fused"])
def test_one_program_for_each_call(info, implementation):
    if implementation not in info.supported_impls:
        pytest.skip("PyTorch has no fused form of it")
    problem, optimizer = start(info, DEVICE, implementation, {})
    for _ in range(2):
        problem.step(optimizer)
    with _CountForeach() as counted, no_compiles("the third step"):
        problem.step(optimizer)
    assert counted.programs, "the step called no foreach or fused operator"
    several = [(name, n) for name, n in counted.programs if n > 1]
    assert not several, f"calls of more than one program: {several}"
