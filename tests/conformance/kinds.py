# The checks that need no derivatives: each runs samples of a node on CPU and on the device.
"""Every check raises AssertionError where the device differs from CPU, whatever the device itself
raised where CPU gave a result, and NotJudged where CPU has no answer for any sample.

CPU decides everywhere: where it raises for a sample, the device has to raise the same type. A
missing operator is never an error that was expected."""

import contextlib
import re
import warnings

import torch
from torch.testing._internal.common_utils import noncontiguous_like
from torch.testing._internal.opinfo.core import BinaryUfuncInfo, UnaryUfuncInfo
from torch.utils._pytree import tree_leaves, tree_map

from . import compare, nodes, samples
from .samples import Call, NotJudged

# What user code catches; anything else is a fault of the harness or of the sample.
_ERRORS = (RuntimeError, IndexError, TypeError, ValueError, ArithmeticError, AttributeError)
_MISSING = re.compile(r"is not implemented on device|has no Meta kernel|Could not run 'aten::")


class Context:
    """What a check knows besides its samples, and what it counts."""

    def __init__(self, info, dtype, kind, device, phase, budget=None):
        self.info, self.dtype, self.kind, self.device = info, dtype, kind, device
        self.budget = budget
        self.tolerances = compare.tolerance(info, dtype) if dtype else (0.0, 0.0)
        self.random = compare.declared_random(info, dtype)
        self.judged = self.calls = self.compiles = self.fresh = 0
        self.last = None
        self._phase = phase

    def calls_of_node(self, requires_grad=False):
        return samples.choose(self.info, self.dtype, self.kind, self.budget, requires_grad)

    def on_cpu(self, run):
        """("result", x) or ("error", e) of `run("cpu")`."""
        self._phase("judge")
        samples.seed()
        try:
            return "result", run("cpu")
        except _ERRORS as error:
            return "error", error
        finally:
            self._phase("device")

    def on_device(self, run):
        """`run` on the device. Counts the programs that it compiled."""
        before = compiles()
        self.last = run
        samples.seed()
        try:
            return run(self.device)
        finally:
            compiled = compiles() - before
            self.calls += 1
            self.compiles += compiled
            self.fresh += compiled > 0

    def same(self, got, want, exact=None, values=True):
        """Equal results, as this entry allows."""
        name = "" if self.kind in (nodes.GRAD, nodes.FORWARD_AD) else self.info.name
        compare.same(got, want, self.device, self.tolerances, exact, values, name)

    def outcome(self, run, check=None, exact=None, values=True):
        """`run(device)` gives on the device what it gives on CPU: a result or a type of error."""
        how, expected = self.on_cpu(run)
        if how == "error":
            if isinstance(expected, NotImplementedError):
                return  # CPU lacks it too
            self.judged += 1
            raises(type(expected), lambda: self.on_device(run), f"CPU raises {brief(expected)}")
            return
        self.judged += 1
        got = self.on_device(run)
        if check:
            check(got, expected)
        else:
            self.same(got, expected, exact, values)


def compiles():
    """Programs compiled by this process so far."""
    return torch.tpu.compile_count() if hasattr(torch, "tpu") else 0


def brief(error):
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200] if lines else ''}"


def is_missing(error):
    """Whether an error says that the device lacks an operator."""
    return isinstance(error, NotImplementedError) and bool(_MISSING.search(str(error)))


def raises(kind, run, why):
    """`run` raises `kind`, or a subtype of it that does not say that an operator is missing."""
    try:
        run()
    except kind as error:
        expects_missing = issubclass(kind, NotImplementedError)
        if isinstance(error, NotImplementedError) and not expects_missing:
            raise
        return error
    except NotImplementedError:
        raise
    except Exception as error:
        raise AssertionError(f"{brief(error)}, where {why}") from error
    raise AssertionError(f"no error, where {why}")


def in_float64(call):
    """The same call with every float and complex tensor at double width."""

    def widen(t):
        if not (t.is_floating_point() or t.is_complex()):
            return t
        wide = torch.complex128 if t.is_complex() else torch.float64
        return t.detach().to(wide).requires_grad_(t.requires_grad)

    return call.map_tensors(widen)


def is_random(run):
    """Whether CPU itself does not repeat its values."""
    # Two runs with other random states: what differs is noise, and only its form can be compared.
    samples.seed()
    first = tree_leaves(run("cpu"))
    with samples.other_seeds():
        again = tree_leaves(run("cpu"))
    for a, b in zip(first, again, strict=True):
        comparable = isinstance(a, torch.Tensor) and a.layout == torch.strided
        if comparable and not (a.shape == b.shape and _equal(compare.plain(a), compare.plain(b))):
            return True
    return False


def _equal(a, b):
    same = a == b
    if a.is_floating_point() or a.is_complex():
        same = same | (a.isnan() & b.isnan())
    return bool(same.all())


def run_of(context, call):
    """The operator on a copy of the arguments, which it may write."""

    def run(device):
        moved = fresh(call, device)
        result = context.info.op(*moved.args, **moved.kwargs)
        return compare.with_named_elements(context.info.name, moved, result)

    return run


def fresh(call, device):
    """The arguments of a call on a device, as copies: some entries write what they are given."""
    return call.map_tensors(copy_of) if device == "cpu" else call.to(device)


def copy_of(t):
    """A copy of a CPU tensor in its layout; views that overlap or are lazy are shared."""
    if t.layout != torch.strided or t.is_nested or t.is_quantized:
        raise NotJudged(f"sample of layout {t.layout}")
    dense = torch._prims_common.is_non_overlapping_and_dense_or_false(t)
    lazy = t.is_conj() or t.is_neg()
    return t.detach().clone() if dense and not lazy else t.detach()


def forward(context):
    for call in context.calls_of_node():
        with naming(call):
            run = run_of(context, call)
            exact = run_of(context, in_float64(call))
            values = not context.random
            how, _ = context.on_cpu(run)
            if how == "result" and values:
                values = not is_random(run)
            context.outcome(run, exact=lambda exact=exact: exact("cpu"), values=values)


def meta(context):
    """Shape, dtype and strides are Meta's; or CPU's, for kernels that Meta describes wrongly."""
    for call in context.calls_of_node():
        with naming(call):
            run = run_of(context, call)
            how, on_cpu = context.on_cpu(run)
            if how == "error":
                continue
            try:
                expected = tree_leaves(run("meta"))
            except Exception:
                continue  # no Meta kernel, or one that asks for values: nothing to agree with
            got = tree_leaves(context.on_device(run))
            context.judged += 1
            for mine, theirs, other in zip(got, expected, tree_leaves(on_cpu), strict=True):
                if isinstance(theirs, torch.Tensor) and theirs.layout == torch.strided:
                    _of_either_form(mine, theirs, other)


def _of_either_form(mine, meta, cpu):
    try:
        compare.same_form(mine, cpu, strides=True)
    except AssertionError:
        compare.same_form(mine, meta, strides=True, judge="Meta")


@contextlib.contextmanager
def naming(call):
    """Puts the arguments of a sample into the errors that it brings."""
    try:
        yield
    except NotJudged:
        raise
    except Exception as error:
        error.sample = str(call)
        raise


def noncontiguous(context):
    if compare.declared_wrong(context.info, context.dtype, "test_noncontiguous_samples"):
        raise NotJudged("op_db says that the layout of its arguments matters")
    for call in context.calls_of_node():
        with naming(call):
            if not call.tensors():
                continue
            strided = call.map_tensors(_stretch)
            how, expected = context.on_cpu(run_of(context, call))
            if how == "error" or context.random or is_random(run_of(context, call)):
                continue
            context.judged += 1
            got = context.on_device(run_of(context, strided))
            exact = run_of(context, in_float64(call))
            context.same(got, expected, exact=lambda exact=exact: exact("cpu"))


def _stretch(t):
    if t.layout != torch.strided:
        raise NotJudged(f"sample of layout {t.layout}")
    return noncontiguous_like(t.detach())


def empty(context):
    """Samples of op_db without elements, and each sample with its longest shapes cut to none."""
    own = samples.choose(context.info, context.dtype, context.kind, budget=40)
    calls = [c for c in own if any(t.numel() == 0 for t in c.tensors())][:2]
    calls += [_cut(c) for c in own[:2] if c.tensors()]
    for call in calls[: context.budget or 3]:
        with naming(call):
            run = run_of(context, call)
            how, _ = context.on_cpu(run)
            values = how == "result" and not context.random and not is_random(run)
            context.outcome(run, values=values)


def _cut(call):
    longest = max(t.dim() for t in call.tensors())

    def cut(t):
        return t.detach()[:0] if t.dim() == longest and t.dim() > 0 else t

    return call.map_tensors(cut)


def error(context):
    for wrong in context.info.error_inputs("cpu"):
        call = Call.of(wrong.sample_input)
        with naming(call):
            run = run_of(context, call)
            how, expected = context.on_cpu(run)
            if how != "error" or isinstance(expected, NotImplementedError):
                continue
            context.judged += 1
            caught = raises(
                type(expected),
                lambda run=run: context.on_device(run),
                f"CPU raises {brief(expected)}",
            )
            if re.search(wrong.error_regex, str(expected)):
                found = re.search(wrong.error_regex, str(caught))
                assert found, f"message {brief(caught)!r} does not match {wrong.error_regex!r}"


def inplace(context):
    operator = context.info.inplace_variant
    for call in context.calls_of_node():
        if call.broadcast or not isinstance(call.args[0], torch.Tensor):
            continue
        for strided in (False, True):
            with naming(call):

                def run(device, strided=strided, call=call):
                    moved = fresh(call, device)
                    first, base = _target(moved.args[0], strided)
                    result = operator(first, *moved.args[1:], **moved.kwargs)
                    assert result is first, "the in-place form must return its argument"
                    return result, base

                how, _ = context.on_cpu(run)
                values = not (how == "result" and (context.random or is_random(run)))
                context.outcome(
                    run,
                    exact=lambda run=run, call=call: run("cpu", call=in_float64(call)),
                    values=values,
                )


def _target(t, strided):
    """A tensor to write with the values of `t`, and the memory around it."""
    if not strided:
        fresh = t.clone()
        return fresh, fresh
    order = list(reversed(range(t.dim())))
    base = torch.zeros([n + 1 for n in reversed(t.shape)] or [2], dtype=t.dtype, device=t.device)
    view = base[tuple(slice(0, n) for n in reversed(t.shape))].permute(order) if order else base[1]
    view.copy_(t)
    return view, base


def out(context):
    for call in context.calls_of_node():
        with naming(call):
            functional = run_of(context, call)
            how, results = context.on_cpu(functional)
            if how == "error" or context.random or is_random(functional):
                continue
            if not all(isinstance(r, torch.Tensor) for r in tree_leaves(results)):
                continue
            for form, make in _OUTS.items():
                _one_out(context, call, form, make, results)
            _aliased(context, call, results)


def _one_out(context, call, form, make, results):
    def run(device):
        moved = fresh(call, device)
        given = tree_map(lambda r: make(r.detach(), device), results)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # resizing an out= with elements warns
            returned = context.info.op(*moved.args, **moved.kwargs, out=given)
        if returned is not None:
            pairs = zip(tree_leaves(returned), tree_leaves(given), strict=True)
            assert all(a is b for a, b in pairs), "something else was returned"
        return given

    def check(got, expected):
        # Some CPU kernels write any out= as if it were contiguous: the functional result is right.
        mine, theirs = got, results if form == "strided" else expected
        if form == "wider":  # no more exact than the dtype that it was computed in
            mine, theirs = (tree_map(lambda t, r: t.to(r.dtype), x, results) for x in (got, theirs))
        context.same(mine, theirs, exact=lambda: run_of(context, in_float64(call))("cpu"))
        for mine, theirs in zip(tree_leaves(got), tree_leaves(expected), strict=True):
            compare.same_form(mine, theirs, strides=form in ("right", "strided"))

    try:
        context.outcome(run, check)
    except Exception as error:
        error.args = (f"out= ({form}): {error}",)
        raise


def _filled(shape, dtype, device):
    return torch.full(tuple(shape), 1, dtype=dtype, device=device)


def _spread(like, device):
    """A transposed view with gaps, as large as `like`."""
    base = _filled([2 * n + 1 for n in reversed(like.shape)], like.dtype, device)
    view = base[tuple(slice(1, None, 2) for _ in like.shape)]
    return view.permute(*reversed(range(view.dim())))


def _castable(like):
    return torch.complex128 if like.dtype.is_complex else torch.float64


_OUTS = {
    "right": lambda r, device: torch.full_like(r, 1, device=device),
    "empty": lambda r, device: _filled((0,), r.dtype, device),
    "resized": lambda r, device: _filled((5, 1, 2), r.dtype, device),
    "strided": _spread,
    "wider": lambda r, device: _filled(r.shape, _castable(r), device),
    "narrower": lambda r, device: _filled(r.shape, torch.int32, device),
}


def _aliased(context, call, results):
    """out= is the first argument itself, which is defined for pointwise operators."""
    pointwise = isinstance(context.info, UnaryUfuncInfo | BinaryUfuncInfo)
    first = call.args[0] if call.args else None
    alike = isinstance(first, torch.Tensor) and isinstance(results, torch.Tensor)
    if not pointwise or not alike or first.shape != results.shape or first.dtype != results.dtype:
        return

    def run(device):
        moved = fresh(call, device)
        context.info.op(*moved.args, **moved.kwargs, out=moved.args[0])
        return moved.args[0]

    exact = run_of(context, in_float64(call))
    context.outcome(run, exact=lambda: exact("cpu"))


CHECKS = {
    nodes.FORWARD: forward,
    nodes.META: meta,
    nodes.OUT: out,
    nodes.INPLACE: inplace,
    nodes.NONCONTIGUOUS: noncontiguous,
    nodes.EMPTY: empty,
    nodes.ERROR: error,
}
