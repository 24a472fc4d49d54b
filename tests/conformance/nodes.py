# What the suite consists of: one node for each operator entry, dtype and kind of check.
"""Which dtypes a kind runs with is a table, DTYPES_OF: `forward` and `meta` meet every dtype that
the entry lists for CPU; the other kinds one dtype of each class, because their forms are derived
alike for all. COMPLEX32 is the one dtype that the device does not have."""

import fnmatch
from dataclasses import dataclass

import torch

FORWARD = "forward"
META = "meta"
OUT = "out"
INPLACE = "inplace"
NONCONTIGUOUS = "noncontiguous"
EMPTY = "empty"
ERROR = "error"
GRAD = "grad"
GRADCHECK = "gradcheck"
FORWARD_AD = "forward_ad"
VMAP = "vmap"
KINDS = (
    FORWARD,
    META,
    OUT,
    INPLACE,
    NONCONTIGUOUS,
    EMPTY,
    ERROR,
    GRAD,
    GRADCHECK,
    FORWARD_AD,
    VMAP,
)
NO_DTYPE = "-"
"""Error inputs choose their own dtypes: one node for each entry."""

# The first that an entry has stands for its class.
_CLASSES = {
    "float": (torch.float32, torch.float64, torch.bfloat16, torch.float16),
    "short": (torch.bfloat16, torch.float16),
    "int": (torch.int64, torch.int32, torch.uint8, torch.int16, torch.int8),
    "bool": (torch.bool,),
    "complex": (torch.complex64, torch.complex128),
}
_REPRESENTATIVES = {
    OUT: ("float", "int", "complex"),
    INPLACE: ("float", "short", "int", "bool", "complex"),
    NONCONTIGUOUS: ("float", "int", "complex"),
    EMPTY: ("float", "int", "bool", "complex"),
    GRAD: ("float", "short", "complex"),
    VMAP: ("float",),
}
_UNSUPPORTED = {torch.complex32}


@dataclass(frozen=True)
class Node:
    """One check; the unit that passes or fails."""

    op: str
    dtype: str
    kind: str

    def __str__(self) -> str:
        return f"{self.op} {self.dtype} {self.kind}"


def full_name(info) -> str:
    """ "add" or, with a variant, "nn.functional.pad.reflect"."""
    return f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def dtype_of(name: str) -> torch.dtype:
    return getattr(torch, name)


def _present(classes, dtypes):
    """The first dtype of each class that is among `dtypes`; any dtype where there is none."""
    found = [next((d for d in _CLASSES[c] if d in dtypes), None) for c in classes]
    found = list(dict.fromkeys(d for d in found if d is not None))
    return found or sorted(dtypes, key=str)[:1]


def _dtypes(info, kind):
    forward = set(info.dtypes) - _UNSUPPORTED
    backward = set(info.supported_backward_dtypes("cpu")) - _UNSUPPORTED if forward else set()
    if kind in (FORWARD, META):
        return sorted(forward, key=str)
    if kind == GRADCHECK:
        return [torch.float64] if torch.float64 in backward else []
    if kind == FORWARD_AD:
        both = info.supports_forward_ad and torch.float64 in forward
        return [torch.float64] if both else []
    if kind == GRAD:
        return _present(_REPRESENTATIVES[kind], backward) if backward else []
    return _present(_REPRESENTATIVES[kind], forward) if forward else []


def _applies(info, kind):
    if kind == OUT:
        return info.supports_out
    if kind == INPLACE:
        return info.inplace_variant is not None
    if kind == ERROR:
        return info.error_inputs_func is not None
    if kind in (GRAD, GRADCHECK):
        return info.supports_autograd
    return True


def of_entry(info) -> list[Node]:
    """Every node of an entry of op_db, those of one dtype together."""
    name = full_name(info)
    nodes = []
    for kind in KINDS:
        if not _applies(info, kind):
            continue
        if kind == ERROR:
            nodes.append(Node(name, NO_DTYPE, kind))
        else:
            nodes.extend(Node(name, dtype_name(d), kind) for d in _dtypes(info, kind))
    return sorted(nodes, key=lambda n: (n.dtype, KINDS.index(n.kind)))


def slice_of_entry(info) -> list[Node]:
    """The nodes of the slice: forward and gradient, each with the first representative."""
    chosen = []
    for kind, floating in ((FORWARD, True), (GRAD, False)):
        nodes = [n for n in of_entry(info) if n.kind == kind]
        names = [dtype_name(d) for c in _CLASSES.values() for d in c]
        nodes.sort(key=lambda n: names.index(n.dtype) if n.dtype in names else len(names))
        if nodes and (floating or nodes[0].dtype in ("float32", "float64")):
            chosen.append(nodes[0])
    return chosen


def matches(node: Node, op="*", dtype="*", kind="*") -> bool:
    """Whether shell patterns (a pattern, or a list of which one must match) fit the node."""
    for value, patterns in ((node.op, op), (node.dtype, dtype), (node.kind, kind)):
        patterns = [patterns] if isinstance(patterns, str) else patterns
        if not any(fnmatch.fnmatchcase(value, p) for p in patterns):
            return False
    return True
