# Chooses samples of op_db within a budget and moves them between devices.
"""A sample is taken when it shows a *feature* that no sample before it showed: the rank of an
argument, a type, the length of a list, a keyword, the value of a flag or string. So every form of a
call is met, each by the first sample that has it, until the budget of the node is used."""

import contextlib
import random
import re

import torch
from torch.utils._pytree import tree_leaves, tree_map

from . import nodes

# Samples looked at before choosing. The generators of max_unpool pool and compare large inputs.
_EXAMINED = 150
_EXAMINED_SLOWLY = 3
_SLOW_GENERATORS = re.compile(r"max_unpool|^svd$|ormqr")

# Arguments that PyTorch wants on CPU whatever the device of the others.
_HOST_ARGUMENTS = {"tensor_split": 1}

# How many samples a node runs.
_BUDGET = {
    nodes.FORWARD: 6,
    nodes.META: 6,
    nodes.OUT: 2,
    nodes.INPLACE: 3,
    nodes.NONCONTIGUOUS: 3,
    nodes.EMPTY: 3,
    nodes.GRAD: 4,
    nodes.GRADCHECK: 2,
    nodes.FORWARD_AD: 2,
    nodes.VMAP: 2,
}
_BUDGET_OF_OTHER_DTYPES = 3
_MAIN_DTYPES = {torch.float32, torch.int64, torch.complex64, torch.bool}


class NotJudged(Exception):
    """CPU has no answer to compare with, or the sample is of a family that is out of scope."""


class Call:
    """One sample: the arguments of a call."""

    host: int | None = None
    """Position of an argument that stays on CPU."""

    broadcast = False
    """Whether the result is larger than the first argument, which then cannot be written."""

    def __init__(self, args, kwargs, process=None):
        self.args = tuple(args)
        self.kwargs = dict(kwargs)
        self.process = process
        """What gradients are taken of, as a function of the results; None: the results."""

    @classmethod
    def of(cls, sample, info=None):
        call = cls((sample.input, *sample.args), sample.kwargs, sample.output_process_fn_grad)
        call.broadcast = sample.broadcasts_input
        if info is not None and info.name in _HOST_ARGUMENTS:
            call.host = _HOST_ARGUMENTS[info.name]
        return call

    def map(self, function):
        """The same call with `function` applied to every leaf of its arguments."""
        args, kwargs = tree_map(function, (self.args, self.kwargs))
        call = Call(args, kwargs, self.process)
        call.host, call.broadcast = self.host, self.broadcast
        return call

    def map_tensors(self, function):
        return self.map(lambda x: function(x) if isinstance(x, torch.Tensor) else x)

    def tensors(self):
        return [x for x in tree_leaves((self.args, self.kwargs)) if isinstance(x, torch.Tensor)]

    def to(self, device):
        """The same call with everything that lies on CPU on `device`."""
        moved = self.map(lambda x: _move(x, torch.device(device)))
        if self.host is not None and self.host < len(self.args):
            moved.args = tuple(
                own if i == self.host else x
                for i, (own, x) in enumerate(zip(self.args, moved.args, strict=True))
            )
        return moved

    def __str__(self):
        def show(x):
            if isinstance(x, torch.Tensor):
                dims = ",".join(map(str, x.shape))
                return f"{nodes.dtype_name(x.dtype)}[{dims}]"
            if isinstance(x, (list, tuple)):
                return "[" + ", ".join(map(show, x)) + "]"
            return str(x)[:40]

        parts = [show(x) for x in self.args]
        parts += [f"{k}={show(v)}" for k, v in self.kwargs.items()]
        return f"({', '.join(parts)})"


def _move(x, device):
    if isinstance(x, torch.Tensor):
        return move_tensor(x, device)
    if isinstance(x, torch.device) and x.type == "cpu":
        return device
    if isinstance(x, torch.Generator):
        return torch.Generator(device if device.type != "meta" else "cpu")
    return device.type if isinstance(x, str) and x == "cpu" else x


def move_tensor(t, device):
    """`t` on another device in the same layout, views of expanded or sparse-strided storage too."""
    if t.layout != torch.strided or t.is_nested or t.is_quantized:
        raise NotJudged(f"sample of layout {t.layout}")
    if t.device.type in (device.type, "meta"):  # error inputs have tensors of two devices
        return t.detach().requires_grad_(t.requires_grad)
    if t.is_conj():
        return move_tensor(t.detach().conj(), device).conj().requires_grad_(t.requires_grad)
    if t.is_neg():
        return move_tensor(t.detach()._neg_view(), device)._neg_view()
    plain = t.detach()
    if torch._prims_common.is_non_overlapping_and_dense_or_false(plain):
        moved = plain.to(device)
    else:
        flat = torch.empty(0, dtype=t.dtype).set_(plain.untyped_storage())
        moved = flat.to(device).as_strided(t.shape, t.stride(), t.storage_offset())
    return moved.requires_grad_(t.requires_grad)


def _features(call):
    """Strings, each something that is particular about the form of the call."""
    found = set()

    def add(where, x):
        if isinstance(x, torch.Tensor):
            found.add(f"{where}:rank{x.dim()}")
            found.add(f"{where}:{x.dtype}")
            if x.numel() == 0:
                found.add(f"{where}:empty")
            if not x.is_contiguous() or x.is_conj():
                found.add(f"{where}:strided")
        elif isinstance(x, (list, tuple)):
            found.add(f"{where}:list{min(len(x), 4)}")
            if x and isinstance(x[0], torch.Tensor):
                add(f"{where}[]", x[0])
        elif isinstance(x, (bool, str, torch.dtype, type(None))):
            found.add(f"{where}={x}")
        elif isinstance(x, (int, float, complex)):
            sign = "" if isinstance(x, complex) else f"{(x > 0) - (x < 0)}"
            found.add(f"{where}:{type(x).__name__}{sign}")
        else:
            found.add(f"{where}:{type(x).__name__}")

    for i, x in enumerate(call.args):
        add(i, x)
    for k, x in call.kwargs.items():
        add(k, x)
    found.add(f"names {len(call.args)} {sorted(call.kwargs)}")
    return found


def seed(number=0):
    """Random state of CPU, Python and numpy, where the generators of op_db draw."""
    torch.manual_seed(number)
    random.seed(number)
    try:
        import numpy
    except ModuleNotFoundError:
        return
    numpy.random.seed(number)


@contextlib.contextmanager
def other_seeds():
    """Other random numbers, even for the entries of op_db that seed before each call."""
    original = torch.manual_seed
    torch.manual_seed = lambda number: original(int(number) + 1)
    try:
        seed()
        yield
    finally:
        torch.manual_seed = original


def choose(info, dtype, kind, budget=None, requires_grad=False):
    """The calls that a node runs, on CPU."""
    if budget is None:
        budget = _BUDGET[kind]
        if kind in (nodes.FORWARD, nodes.META) and dtype not in _MAIN_DTYPES:
            budget = _BUDGET_OF_OTHER_DTYPES
    seed()
    limit = _EXAMINED_SLOWLY if _SLOW_GENERATORS.search(info.name) else _EXAMINED
    met, chosen = set(), []
    generated = info.sample_inputs_func(info, "cpu", dtype, requires_grad)
    for count, sample in enumerate(generated):
        call = Call.of(sample, info)
        features = _features(call)
        if not features <= met:
            met |= features
            chosen.append(call)
        if len(chosen) == budget or count + 1 == limit:
            break
    return chosen
