# What a declared operator case is: its arguments, and the overloads that belong to it.
"""Used through harness.py, whose first lines explain how to write cases."""

import contextlib
import dataclasses
import zlib

import torch
from torch.utils._pytree import tree_leaves, tree_map

FLOATS = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
INTS = (torch.int32, torch.int64, torch.uint8, torch.int8, torch.int16)
BOOL = (torch.bool,)
COMPLEX = (torch.complex64, torch.complex128)
MODES = ("debug", "defer")
FORMS = ("functional", "inplace", "out", "foreach", "strided", "edge", "backward") + tuple(
    f"mode_{m}" for m in MODES
)
DEV = object()


@dataclasses.dataclass(frozen=True)
class Spec:
    """One tensor argument: how to make it, on CPU, from a generator."""

    shape: tuple
    low: float | None = None
    high: float | None = None
    dtype: torch.dtype | None = None
    grad: bool = True
    unique: bool = False
    contiguous: bool = False
    values: object = None

    def make(self, dtype, gen):
        dtype = self.dtype or dtype
        if self.values is not None:
            return torch.tensor(self.values, dtype=dtype)
        if dtype == torch.bool:
            return torch.rand(self.shape, generator=gen) > 0.5
        if self.unique:
            numel = torch.Size(self.shape).numel()
            return (torch.randperm(numel, generator=gen) - numel // 2).reshape(self.shape).to(dtype)
        if self.low is None and self.high is None and (dtype.is_floating_point or dtype.is_complex):
            wide = torch.complex128 if dtype.is_complex else torch.float64
            return torch.randn(self.shape, generator=gen, dtype=wide).to(dtype)
        exact = not (dtype.is_floating_point or dtype.is_complex)
        low = self.low if self.low is not None else (0 if dtype in _UNSIGNED else -5)
        high = self.high if self.high is not None else 6
        values = torch.rand(self.shape, generator=gen, dtype=torch.float64) * (high - low) + low
        return (values.floor() if exact else values).to(dtype)


_UNSIGNED = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)


def T(*shape, **options):
    return Spec(shape, **options)


def P(*shape, **options):
    return Spec(shape, **{"low": 0.25, "high": 4.0, **options})


def I(*shape, high, **options):
    return Spec(shape, **{"low": 0, "high": high, "dtype": torch.int64, "grad": False, **options})


def B(*shape):
    return Spec(shape, dtype=torch.bool, grad=False)


def V(values, **options):
    return Spec((), values=values, **options)


class Case:
    """One declared case; see the top of this file."""

    def __init__(
        self,
        op,
        *args,
        fn=None,
        kwargs=None,
        dtypes=FLOATS,
        tol=None,
        backward=True,
        forms=FORMS,
        pointwise=False,
        name="",
        check=None,
        strides=True,
        out_dtype=True,
        exact=False,
        raises=None,
    ):
        self.op, self.args, self.fn, self.kwargs = op, list(args), fn, dict(kwargs or {})
        self.dtypes, self.tol, self.backward, self.forms = dtypes, tol, backward, forms
        self.pointwise, self.name, self.check = pointwise, name, check
        self.strides, self.out_dtype, self.raises = strides, out_dtype, raises
        self.exact, self.widened = exact, False
        self.overload = None if fn else find_overload(op)

    @property
    def id(self):
        op = self.op.removeprefix("aten::").replace(" ", "_")
        return f"{op}-{self.name}" if self.name else op

    def call(self, args, kwargs):
        return (self.fn or self.overload)(*args, **kwargs)

    def inputs(self, dtype, device, variant=0, reshape=None):
        """Fresh arguments; the same numbers for every device and form."""
        gen = torch.Generator().manual_seed(zlib.crc32(self.id.encode()) + variant)

        def make(arg):
            if arg is DEV:
                return torch.device(device)
            if not isinstance(arg, Spec):
                return arg
            if reshape:
                arg = dataclasses.replace(arg, shape=reshape(arg.shape))
            made = arg.make(dtype, gen)
            return made.double() if self.widened and made.is_floating_point() else made.to(device)

        return tree_map(make, self.args), tree_map(make, self.kwargs)

    @contextlib.contextmanager
    def in_float64(self):
        """Meanwhile `inputs` gives the same numbers as float64 tensors on CPU."""
        self.widened = True
        try:
            yield
        finally:
            self.widened = False

    def specs(self):
        return [a for a in tree_leaves((self.args, self.kwargs)) if isinstance(a, Spec)]


def find_overload(name):
    """The OpOverload of "aten::base.overload"; no overload part means the default one."""
    namespace, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base)
    return getattr(packet, overload or "default")


def _overloads(namespace, base):
    try:
        packet = getattr(getattr(torch.ops, namespace), base)
    except AttributeError:
        return []
    return [getattr(packet, name) for name in packet.overloads()]


def _signature(schema):
    return [(a.name, str(a.type)) for a in schema.arguments if not a.is_out]


def _base(case):
    return case.overload._schema.name.partition("::")


def inplace_overload(case):
    namespace, _, base = _base(case)
    want = _signature(case.overload._schema)
    for other in _overloads(namespace, base + "_"):
        if _signature(other._schema) == want:
            return other
    return None


def out_overload(case):
    namespace, _, base = _base(case)
    want = _signature(case.overload._schema)
    for other in _overloads(namespace, base):
        outs = [a for a in other._schema.arguments if a.is_out]
        if outs and _signature(other._schema) == want:
            return other
    return None


def foreach_overloads(case):
    """The functional and in-place foreach overloads whose arguments correspond to the case's."""
    namespace, _, base = _base(case)
    found = []
    for suffix in ("", "_"):
        for other in _overloads(namespace, f"_foreach_{base}{suffix}"):
            params = [a for a in other._schema.arguments if not a.is_out]
            if not any(a.is_out for a in other._schema.arguments) and _corresponds(case, params):
                found.append(other)
                break
    return found


def _corresponds(case, params):
    positional = [p for p in params if not p.kwarg_only]
    keywords = {p.name for p in params if p.kwarg_only}
    if len(positional) != len(case.args) or not set(case.kwargs) <= keywords:
        return False
    for param, arg in zip(positional, case.args, strict=True):
        kind = str(param.type)
        is_list = "List[Tensor]" in kind
        is_number = isinstance(arg, int | float) and not isinstance(arg, bool)
        if isinstance(arg, Spec) != is_list or (is_number and "number" not in kind):
            return False
    return True
