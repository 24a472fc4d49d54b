# Every module of module_db on the device: forward, backward, buffers, memory format, pickling.
"""CPU PyTorch is the judge. The fast set runs the first input that a module declares, in float32;
the slow set runs all inputs, in training and evaluation, and float64."""

import copy
import io

import pytest
import torch
from conformance.compare import tolerance
from support import DEVICE, to_device
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_leaves

# Values are noise in training; only their form can be compared.
RANDOM = {
    "Dropout",
    "AlphaDropout",
    "FeatureAlphaDropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "RReLU",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
}
FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


def name_of(info):
    return info.name.removeprefix("nn.")


def inputs_of(info, dtype, training):
    torch.manual_seed(0)
    made = info.module_inputs_func(
        info, device="cpu", dtype=dtype, requires_grad=True, training=training
    )
    return [m for m in made if m.forward_input is not None]


def build(info, given, dtype, training):
    """The module of one input on CPU. Lazy ones learn their shapes from a first call."""
    torch.manual_seed(1)
    arguments = given.constructor_input
    module = info.module_cls(*arguments.args, **arguments.kwargs).to(dtype)
    module.train(training)
    if info.is_lazy:
        call(module, given.forward_input)
    return module


def call(module, given):
    return module(*given.args, **given.kwargs)


def detached(given, device, change=lambda t: t):
    """The inputs of a call as leaves on `device`."""

    def leaf(t):
        fresh = change(to_device(t.detach(), device) if device != "cpu" else t.detach().clone())
        return fresh.requires_grad_(t.requires_grad)

    return torch.utils._pytree.tree_map(
        lambda x: leaf(x) if isinstance(x, torch.Tensor) else x, (given.args, given.kwargs)
    )


def run(module, args, kwargs, backward):
    """Results, gradients of inputs and parameters, and buffers, by name."""
    torch.manual_seed(2)
    results = module(*args, **kwargs)
    found = {f"result {i}": r for i, r in enumerate(tree_leaves(results))}
    outputs = [r for r in found.values() if isinstance(r, torch.Tensor) and r.requires_grad]
    if backward and outputs:
        generator = torch.Generator().manual_seed(3)
        seeds = [torch.randn(o.shape, generator=generator).to(o) for o in outputs]
        torch.autograd.backward(outputs, seeds)
        for i, x in enumerate(tree_leaves((args, kwargs))):
            if isinstance(x, torch.Tensor) and x.requires_grad:
                found[f"gradient of input {i}"] = x.grad
        for name, p in module.named_parameters():
            found[f"gradient of {name}"] = p.grad
    return found | {f"buffer {name}": b for name, b in module.named_buffers()}


def compare(mine, theirs, info, dtype, values=True):
    assert mine.keys() == theirs.keys()
    rtol, atol = tolerance(info, dtype)
    for name, want in theirs.items():
        got = mine[name]
        if not isinstance(want, torch.Tensor):
            assert (got is None) == (want is None), name
            continue
        assert got.device.type == DEVICE, name
        assert (got.dtype, got.shape) == (want.dtype, want.shape), name
        if values:
            default = torch.testing._comparison.default_tolerances(want)
            torch.testing.assert_close(
                got.detach().cpu(),
                want.detach(),
                rtol=max(rtol, default[0], 1e-5 if want.dtype == torch.float32 else 0),
                atol=max(atol, default[1]),
                equal_nan=True,
                msg=lambda text, name=name: f"{name}: {text}",
            )


def cases(choose):
    infos = [i for i in module_db if torch.float32 in i.dtypes]
    return [
        pytest.param(
            info, *rest, id="-".join([name_of(info), *map(str, rest)]).replace("torch.", "")
        )
        for info in infos
        for rest in choose
    ]


FAST = [(torch.float32, True)]
SLOW = [(torch.float32, False), (torch.float64, True)]


def check(info, dtype, training, limit):
    tested = 0
    for given in inputs_of(info, dtype, training)[:limit]:
        module = build(info, given, dtype, training)
        other = copy.deepcopy(module).to(DEVICE)
        theirs = run(module, *detached(given.forward_input, "cpu"), backward=True)
        mine = run(other, *detached(given.forward_input, DEVICE), backward=True)
        compare(mine, theirs, info, dtype, values=name_of(info) not in RANDOM or not training)
        tested += 1
    if not tested:
        pytest.skip("module_db declares no inputs for a call")


@pytest.mark.parametrize(("info", "dtype", "training"), cases(FAST))
def test_forward_and_backward(info, dtype, training):
    check(info, dtype, training, limit=1)


@pytest.mark.slow
@pytest.mark.parametrize(("info", "dtype", "training"), cases(FAST + SLOW))
def test_forward_and_backward_of_all_inputs(info, dtype, training):
    check(info, dtype, training, limit=None)


def _images(given):
    return [t for t in tree_leaves((given.args, given.kwargs)) if isinstance(t, torch.Tensor)]


@pytest.mark.parametrize(("info",), cases([()]))
def test_memory_format(info):
    """Inputs in channels_last give CPU's results, laid out as Meta lays them."""
    tested = 0
    for given in inputs_of(info, torch.float32, False):
        images = _images(given.forward_input)
        if not images or images[0].dim() not in FORMATS or tested == 1:
            continue
        memory_format = FORMATS[images[0].dim()]
        module = build(info, given, torch.float32, False)
        other = copy.deepcopy(module).to(DEVICE)

        def change(t, memory_format=memory_format, like=images[0]):
            same = t.dim() == like.dim()
            return t.contiguous(memory_format=memory_format) if same else t

        theirs = run(module, *detached(given.forward_input, "cpu", change), backward=False)
        mine = run(other, *detached(given.forward_input, DEVICE, change), backward=False)
        compare(mine, theirs, info, torch.float32, "Fractional" not in name_of(info))
        described = copy.deepcopy(module).to("meta")
        layouts = run(described, *detached(given.forward_input, "meta", change), backward=False)
        for name, want in layouts.items():
            if isinstance(want, torch.Tensor):
                # Meta forgets channels_last where CPU keeps it (group norm), or CPU does.
                assert mine[name].stride() in (want.stride(), theirs[name].stride()), name
        tested += 1
    if not tested:
        pytest.skip("module_db declares no images for it")


@pytest.mark.parametrize(("info",), cases([()]))
def test_pickling(info):
    """A module saved from the device comes back on the device and computes the same."""
    given = inputs_of(info, torch.float32, False)[:1]
    if not given:
        pytest.skip("module_db declares no inputs for a call")
    module = build(info, given[0], torch.float32, False).to(DEVICE)
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    again = torch.load(file, weights_only=False)
    assert all(p.device.type == DEVICE for p in again.parameters())
    for name, want in module.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], want, rtol=0, atol=0)
    args, kwargs = detached(given[0].forward_input, DEVICE)
    first = run(module, args, kwargs, backward=False)
    second = run(again, args, kwargs, backward=False)
    for name, want in first.items():
        if isinstance(want, torch.Tensor) and "Fractional" not in name_of(info):
            torch.testing.assert_close(second[name], want, equal_nan=True)
