# Compares what the device gives with what CPU gives, at the tolerances that op_db declares.
import torch
from torch.testing._internal.common_device_type import precisionOverride, toleranceOverride
from torch.testing._internal.opinfo.core import DecorateInfo
from torch.utils._pytree import tree_leaves

from .samples import NotJudged

# Overrides for other devices say nothing about this one.
_DEVICES = (None, "cpu", "cuda")
_FLOAT8 = {
    torch.float8_e4m3fn,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2,
    torch.float8_e5m2fnuz,
}
_NOISY = ("determin", "undefined", "noise", "random")


def _decorators(info, dtype):
    for d in info.decorators:
        if not isinstance(d, DecorateInfo):
            yield None, d
        elif d.device_type in _DEVICES and (d.dtypes is None or dtype in d.dtypes):
            for inner in d.decorators:
                yield d, inner


def tolerance(info, dtype):
    """(rtol, atol): the widest that op_db declares for CPU or CUDA, (0, 0) where it has none."""
    rtol = atol = 0.0
    for _, d in _decorators(info, dtype):
        if isinstance(d, toleranceOverride) and dtype in d.d:
            rtol, atol = max(rtol, d.d[dtype].rtol), max(atol, d.d[dtype].atol)
        elif isinstance(d, precisionOverride) and dtype in d.d:
            atol = max(atol, d.d[dtype])
    return rtol, atol


def declared_random(info, dtype):
    """Whether op_db says that results of two devices cannot be compared."""
    if info.has_nondeterministic_output:
        return True
    for where, d in _decorators(info, dtype):
        if where is None or where.test_name != "test_compare_cpu":
            continue
        # unittest.skip keeps its reason in a closure.
        cells = [c.cell_contents for c in getattr(d, "__closure__", None) or ()]
        if any(isinstance(c, str) and any(w in c for w in _NOISY) for c in cells):
            return True
    return False


def declared_wrong(info, dtype, test):
    """Whether op_db skips a test of PyTorch's suite, or expects it to fail, on CPU."""
    for where, d in _decorators(info, dtype):
        if where is not None and where.test_name == test and where.device_type != "cuda":
            return not isinstance(d, toleranceOverride | precisionOverride)
    return False


def plain(t):
    """On CPU, in a dtype that torch.testing compares, without lazy conjugation."""
    t = t.detach().cpu().resolve_conj().resolve_neg()
    if t.dtype in _FLOAT8:
        return t.float()
    return t.view(torch.int64) if t.dtype == torch.uint64 else t


def significant_strides(t):
    """Strides of dimensions longer than one; none for an empty tensor (they address nothing)."""
    if t.numel() == 0:
        return ()
    return tuple(s for n, s in zip(t.shape, t.stride(), strict=True) if n > 1)


def same_form(got, want, strides=False, judge="CPU"):
    """Equal dtype and shape, on request equal strides."""
    assert got.dtype == want.dtype, f"dtype {got.dtype}, {judge} gives {want.dtype}"
    assert got.shape == want.shape, f"shape {tuple(got.shape)}, {judge} gives {tuple(want.shape)}"
    if strides:
        mine, theirs = significant_strides(got), significant_strides(want)
        assert mine == theirs, f"strides {got.stride()}, {judge} gives {want.stride()}"


# Results (by position) that are not unique: which of several equal elements an index names. CPU
# sorts the short dtypes, whose elements are often equal, stably only where it is asked to.
UNDEFINED = {"mode": (1,), "topk": (1,), "kthvalue": (1,), "sort": (1,), "argsort": (0,)}
# Where `dim` stands among the arguments of these.
_DIM = {"mode": 1, "topk": 2, "kthvalue": 2, "sort": 1, "argsort": 1}


def with_named_elements(name, call, result):
    """`result` and the elements of the first argument that its indices name, which are unique."""
    if name not in _DIM:
        return result
    at = _DIM[name]
    dim = call.kwargs.get("dim", call.args[at] if len(call.args) > at else -1)
    indices = result if name == "argsort" else result[1]
    x = call.args[0].detach()
    if x.dim() == 0:
        return (*tree_leaves(result), x.reshape(1).gather(0, indices.reshape(1)))
    if indices.dim() < x.dim():
        indices = indices.unsqueeze(dim)
    return (*tree_leaves(result), x.gather(dim, indices))


# Vectors that are unique but for a factor of modulus 1: only moduli are compared.
PHASES = {"linalg.eig": (1,), "linalg.eigh": (1,), "linalg.svd": (0, 2), "svd": (0, 2)}


def same(got, want, device, tolerances=(0.0, 0.0), exact=None, values=True, name=""):
    """Equal results of a call: structure, device, dtype, shape and, on request, values, as far as
    they are unique for the entry `name`.

    `exact()` gives CPU's results computed in float64. A value off the tolerance is right when it is
    no farther from the exact one than CPU's own is, or than the worst of CPU's is from its: both
    round, but in other places.
    """
    got, want = tree_leaves(got), tree_leaves(want)
    assert len(got) == len(want), f"{len(got)} results, CPU gives {len(want)}"
    for i, (mine, theirs) in enumerate(zip(got, want, strict=True)):
        if not isinstance(theirs, torch.Tensor):
            if values and i not in UNDEFINED.get(name, ()):
                torch.testing.assert_close(mine, theirs, equal_nan=True)
            continue
        if theirs.layout != torch.strided or theirs.is_nested:
            raise NotJudged(f"result of layout {theirs.layout}")
        assert isinstance(mine, torch.Tensor), f"{type(mine)}, CPU gives a tensor"
        assert mine.device.type == device, f"result is on {mine.device}"
        same_form(mine, theirs)
        if values and i not in UNDEFINED.get(name, ()):
            modulus = i in PHASES.get(name, ())
            if modulus:
                mine, theirs = mine.abs(), theirs.abs()
            _same_values(mine, theirs, tolerances, _nth(exact, i, modulus))


def _nth(exact, i, modulus):
    def right():
        found = tree_leaves(exact())[i]
        return found.abs() if modulus else found

    return right


def _same_values(mine, theirs, tolerances, exact):
    mine, theirs = plain(mine), plain(theirs)
    rtol, atol = tolerances
    default = torch.testing._comparison.default_tolerances(theirs)
    try:
        torch.testing.assert_close(
            mine,
            theirs,
            rtol=max(rtol, default[0]),
            atol=max(atol, default[1]),
            equal_nan=True,
        )
    except AssertionError:
        if not (theirs.is_floating_point() or theirs.is_complex()):
            raise
        right = _exact_or_none(exact)
        if right is None or right.shape != theirs.shape or not _no_worse(mine, theirs, right):
            raise


def _exact_or_none(exact):
    # Not every operator takes float64: then there is nothing to appeal to.
    try:
        right = exact()
        return plain(right) if isinstance(right, torch.Tensor) else None
    except Exception:
        return None


def _no_worse(mine, theirs, right):
    wide = torch.complex128 if theirs.is_complex() else torch.float64
    rounded = right.to(theirs.dtype).to(wide)
    mine, theirs, right = mine.to(wide), theirs.to(wide), right.to(wide)
    error, allowed = (mine - right).abs(), (theirs - right).abs()
    largest = allowed[allowed.isfinite()].max() if allowed.isfinite().any() else 0.0
    fine = (mine == theirs) | (mine == rounded) | (error <= allowed) | (error <= largest)
    return bool((fine | (mine.isnan() & theirs.isnan())).all())
