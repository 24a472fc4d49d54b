# The checks of one operator case: each runs one form on the device and compares it with CPU.
"""Every function takes (case, dtype) and raises AssertionError where the device differs."""

import copy
import itertools
import warnings

import pytest
import torch
from cases import Spec, foreach_overloads, inplace_overload, out_overload
from support import DEVICE, assert_same, eager_mode, strides_that_matter
from torch.utils._pytree import tree_leaves, tree_map


def _tolerance(case, dtype):
    tol = case.tol.get(dtype) if isinstance(case.tol, dict) else case.tol
    return {"rtol": tol[0], "atol": tol[1]} if tol else {}


def compare(case, dtype, actual, expected, strides=True, exact=None):
    """The one place where device results meet CPU's. `exact`: float64 values of `expected`."""
    actual, expected = tree_leaves(actual), tree_leaves(expected)
    values = expected if exact is None else tree_leaves(exact)
    assert len(actual) == len(expected), f"{len(actual)} results, CPU gives {len(expected)}"
    for got, want, value in zip(actual, expected, values, strict=True):
        if not isinstance(want, torch.Tensor):
            torch.testing.assert_close(got, want, equal_nan=True)
            continue
        assert got.dtype == want.dtype, f"dtype {got.dtype}, CPU gives {want.dtype}"
        assert got.shape == want.shape, f"shape {tuple(got.shape)}, CPU gives {tuple(want.shape)}"
        if strides and case.strides:
            mine, theirs = strides_that_matter(got), strides_that_matter(want)
            assert mine == theirs, f"strides {got.stride()}, CPU gives {want.stride()}"
        value = value.to(want.dtype)
        if case.check:
            case.check(got.cpu(), value)
        else:
            assert_same(got, value, **_tolerance(case, dtype))


_SHORT = (torch.float16, torch.bfloat16)


def _float64(case, dtype, run):
    """`run` with float64 inputs, for cases that ask for it and are about short floats."""
    short = any((spec.dtype or dtype) in _SHORT for spec in case.specs())
    if not (case.exact and short) or DEVICE == "cpu":
        return None
    with case.in_float64():
        return run("cpu")


def same_outcome(case, dtype, run, strides=True, cpu_may_lack_it=False):
    """`run(device)` on CPU and on the device: equal results, or errors of one type."""
    try:
        expected = run("cpu")
    except NotImplementedError:
        if cpu_may_lack_it:
            return
        raise  # nothing to compare with: the case must leave this dtype or form out
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        with pytest.raises(type(error)) as caught:
            run(DEVICE)
        assert type(caught.value) is type(error), f"{caught.value!r}, CPU raises {error!r}"
        return
    compare(case, dtype, run(DEVICE), expected, strides, _float64(case, dtype, run))


def _tensors(tree):
    return [a for a in tree_leaves(tree) if isinstance(a, torch.Tensor)]


def functional(case, dtype):
    def run(device):
        args, kwargs = case.inputs(dtype, device)
        result = case.call(args, kwargs)
        return result, args, kwargs

    if case.raises:
        for device in ("cpu", DEVICE):
            with pytest.raises(case.raises) as caught:
                run(device)
            assert not isinstance(caught.value, NotImplementedError) or (
                case.raises is NotImplementedError
            )
        return
    expected, *before = run("cpu")
    result, *after = run(DEVICE)
    exact, *exact_before = _float64(case, dtype, run) or (None, None)
    compare(case, dtype, result, expected, exact=exact)
    compare(case, dtype, _tensors(after), _tensors(before), exact=_tensors(exact_before) or None)


def inplace(case, dtype):
    op = inplace_overload(case)

    def run(device, strided):
        args, kwargs = case.inputs(dtype, device)
        self = args[0]
        base = torch.zeros([n + 1 for n in reversed(self.shape)], dtype=self.dtype, device=device)
        if strided:
            view = base[tuple(slice(0, n) for n in reversed(self.shape))]
            view = view.permute(*reversed(range(view.dim())))
            view.copy_(self)
            args[0] = view
        out = op(*args, **kwargs)
        assert out is args[0], "the in-place form must return its argument"
        return out, base

    same_outcome(case, dtype, lambda device: run(device, False))
    same_outcome(case, dtype, lambda device: run(device, True))


def _scattered(like, device):
    """A strided view with room around it, and its base."""
    base = torch.full([2 * n + 1 for n in reversed(like.shape)], 3, dtype=like.dtype, device=device)
    view = base[tuple(slice(1, None, 2) for _ in like.shape)]
    return view.permute(*reversed(range(view.dim()))), base


def out(case, dtype):
    op = out_overload(case)
    names = [a.name for a in op._schema.arguments if a.is_out]

    def functional_results(device):
        args, kwargs = case.inputs(dtype, device)
        return _tensors(case.call(args, kwargs))

    results = functional_results("cpu")
    exact = _float64(case, dtype, functional_results)

    def run(device, make):
        pairs = [make(r, device) for r in (exact if case.widened else results)]
        args, kwargs = case.inputs(dtype, device)
        given = dict(zip(names, [p[0] for p in pairs], strict=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # resizing a non-empty out= warns
            returned = op(*args, **kwargs, **given)
        for out, pair in zip(tree_leaves(returned), pairs, strict=True):
            assert out is pair[0], "the out= form must return the tensor that it was given"
        return pairs

    def plain(shape, dtype=None):
        def make(r, device):
            size = r.shape if shape is None else shape
            return (torch.full(size, 3, dtype=dtype or r.dtype, device=device),)

        return make

    def scattered(device):
        pairs = run(device, _scattered)
        if device != "cpu":
            return pairs
        # Some CPU kernels (softmax, gelu, im2col) write any out= as if it were contiguous: what is
        # right is the functional result, copied.
        right = exact or results
        pairs = [_scattered(r, device) for r in results]
        for (view, _), result in zip(pairs, right, strict=True):
            view.copy_(result)
        return pairs

    same_outcome(case, dtype, lambda device: run(device, plain(None)))
    same_outcome(case, dtype, lambda device: run(device, plain((0,))))
    same_outcome(case, dtype, lambda device: run(device, plain((5, 1, 2))))
    plain_case = copy.copy(case)
    plain_case.exact = False  # `scattered` sees to it
    same_outcome(plain_case, dtype, scattered)
    if not case.out_dtype:
        return
    other = torch.int32 if results[0].dtype.is_floating_point else torch.float64
    wrong_dtype = plain(None, other)
    inexact = copy.copy(case)
    inexact.exact = False  # what a cast drops depends on the rounding before it
    same_outcome(inexact, dtype, lambda device: run(device, wrong_dtype), cpu_may_lack_it=True)


def foreach(case, dtype):
    def run(device, op):
        first, kwargs = case.inputs(dtype, device)
        second, _ = case.inputs(dtype, device, variant=1)
        args = [
            [a, b] if isinstance(a, torch.Tensor) else a for a, b in zip(first, second, strict=True)
        ]
        result = op(*args, **kwargs)
        return args if result is None else (result, args)

    for op in foreach_overloads(case):
        same_outcome(case, dtype, lambda device, op=op: run(device, op))


def _stretch(tensor, swap):
    """The same values in another layout: transposed, or every second element of a longer one."""
    if tensor.dim() >= 2 and not swap:
        order = list(reversed(range(tensor.dim())))
        return tensor.permute(order).contiguous().permute(order)
    if tensor.dim() == 0:
        return torch.stack([tensor * 0 if tensor.dtype != torch.bool else tensor, tensor])[1]
    shape = list(tensor.shape)
    shape[-1] = 2 * shape[-1] + 1
    longer = torch.zeros(shape, dtype=tensor.dtype, device=tensor.device)
    view = longer[..., 1::2]
    view.copy_(tensor)
    return view


def strided(case, dtype):
    fixed = [isinstance(a, Spec) and a.contiguous for a in tree_leaves((case.args, case.kwargs))]
    swap = dtype != case.dtypes[0]  # the other dtypes see the layouts the other way round

    def run(device):
        count, places = itertools.count(), iter(fixed)

        def change(arg):
            keep = next(places)
            if not isinstance(arg, torch.Tensor) or keep:
                return arg
            return _stretch(arg, swap ^ bool(next(count) % 2))

        args, kwargs = tree_map(change, case.inputs(dtype, device))
        return case.call(args, kwargs)

    same_outcome(case, dtype, run, strides=case.strides is True)


def edge(case, dtype):
    longest = max(len(s.shape) for s in case.specs())

    def empty(shape):
        return (0, *shape[1:]) if shape and len(shape) == longest else shape

    for reshape in (lambda shape: (), empty):

        def run(device, reshape=reshape):
            args, kwargs = case.inputs(dtype, device, reshape=reshape)
            return case.call(args, kwargs)

        same_outcome(case, dtype, run)


def _gradients(case, dtype, device):
    args, kwargs = case.inputs(dtype, device)
    tensors = _tensors((args, kwargs))
    leaves = [
        t.requires_grad_()
        for t, s in zip(tensors, case.specs(), strict=True)
        if s.grad and (t.is_floating_point() or t.is_complex())
    ]
    results = [r for r in _tensors(case.call(args, kwargs)) if r.requires_grad]
    gen = torch.Generator().manual_seed(7)
    # Sixteenths are exact in every dtype, so that float64 sees the same seeds.
    seeds = [torch.randn(r.shape, generator=gen).mul(16).round().div(16) for r in results]
    seeds = [s.to(r.dtype).to(device) for s, r in zip(seeds, results, strict=True)]
    if not results or not leaves:
        return None
    return list(torch.autograd.grad(results, leaves, seeds, allow_unused=True))


def backward(case, dtype):
    def run(device):
        return _gradients(case, dtype, device)

    expected, actual, exact = run("cpu"), run(DEVICE), _float64(case, dtype, run)
    if expected is None:
        assert actual is None, "CPU's result has no gradient, the device's has"
        return
    assert [g is None for g in actual] == [g is None for g in expected]
    actual, expected = _tensors(actual), _tensors(expected)
    plain = copy.copy(case)
    plain.check = None  # it is about results, not about gradients
    compare(plain, dtype, actual, expected, strides=False, exact=_tensors(exact) or None)


def mode(case, dtype, name):
    args, kwargs = case.inputs(dtype, DEVICE)
    with eager_mode("strict"):
        strict = _tensors(case.call(args, kwargs))
    args, kwargs = case.inputs(dtype, DEVICE)
    with eager_mode(name):
        other = _tensors(case.call(args, kwargs))
    # Fused, an operator that is made of several may round otherwise.
    exact = {} if name == "defer" else {"rtol": 0, "atol": 0}
    for a, b in zip(other, strict, strict=True):
        assert a.dtype == b.dtype and a.stride() == b.stride()
        torch.testing.assert_close(a.cpu(), b.cpu(), equal_nan=True, **exact)
