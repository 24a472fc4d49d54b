# Runs declared operator cases in every form against CPU PyTorch.
"""How to write cases (tests/ops/test_<family>.py):

    from harness import BOOL, DEV, FLOATS, INTS, B, Case, I, P, T, V, cases_to_tests

    test_activation = cases_to_tests([
        Case("aten::relu", T(3, 4), dtypes=FLOATS + INTS, pointwise=True),
        Case("aten::add.Tensor", T(2, 3), T(3), kwargs={"alpha": 2}, dtypes=FLOATS + INTS),
        Case("aten::mul.Tensor", T(2, 3), 2.5, name="number"),
        Case("aten::log", P(3, 4)),
        Case("aten::gather", T(4, 3), 0, I(2, 3, high=4)),
        Case("aten::arange", 5, kwargs={"device": DEV}),
        Case("aten::cat", [T(2, 3), T(1, 3)], 0),
        Case("stack then sum", T(2, 3), fn=lambda x: torch.stack([x, x]).sum(0)),
        Case("aten::mm", T(2, 3), T(4, 5), raises=RuntimeError),
    ])

The name is an overload as PyTorch prints it ("aten::add.Tensor", "aten::relu"); it is called with
the given arguments. `fn=` replaces it (then only functional, strided, backward and modes run).
Arguments: T(*shape) normal values in the case's dtype; P positive; I integer indices (int64, needs
high=); B bool; V(literal) given values. T(...) takes low=, high= (uniform), dtype= (fixed),
grad=False, unique=True (no ties), contiguous=True (kept so in the strided run). DEV is the device.
Case options: kwargs; dtypes (default FLOATS); tol=(rtol, atol) or {dtype: (rtol, atol)};
backward=False; forms=(...) to restrict; pointwise=True adds the 0-dim and zero-size runs; name=
sets cases of one overload apart; check=f(actual, expected) replaces the comparison of values;
strides=False where Meta and CPU are known to differ ("plain": only for permuted arguments);
out_dtype=False where CPU has its own rule for an out= of another dtype; exact=True where CPU rounds
every step to float16 or bfloat16: those values are then compared with what CPU gives in float64,
rounded once; raises=type: CPU and device both raise it.

What runs, found from the schema (a form that the schema lacks is not a test):
  functional  values, dtype, shape, strides, and the inputs afterwards, against CPU
  inplace     `op_` on a plain tensor and on a transposed view; the base around it is checked too
  out         right, empty and wrong size, strided view, wrong dtype
  foreach     `_foreach_op` and `_foreach_op_` where their arguments correspond
  strided     transposed and step-2 sliced arguments, functional
  edge        every tensor 0-dim, then with no elements (pointwise=True)
  backward    gradients of all floating inputs against CPU
  mode_NAME   each of MODES gives bit for bit what strict gives
What CPU refuses (an int out= for a float result) the device must refuse with the same type.

Fast set (compiles cost 30 to 80 ms): every case runs its first dtype functional; each other form,
and one dtype of another kind, run for the first case of an overload that has them. Everything else
is marked slow: `pytest --slow`. `pytest --ops-coverage` prints the overloads that reached the
device. Tolerances are torch.testing's defaults unless tol= is given."""

import checks
import pytest
import torch
from cases import (
    BOOL,
    COMPLEX,
    DEV,
    FLOATS,
    FORMS,
    INTS,
    MODES,
    B,
    Case,
    I,
    P,
    Spec,
    T,
    V,
    foreach_overloads,
    inplace_overload,
    out_overload,
)

__all__ = [
    "BOOL",
    "COMPLEX",
    "DEV",
    "FLOATS",
    "FORMS",
    "INTS",
    "MODES",
    "B",
    "Case",
    "I",
    "P",
    "T",
    "V",
    "cases_to_tests",
    "expand",
    "run_one",
]

_CHECKS = {
    "functional": checks.functional,
    "inplace": checks.inplace,
    "out": checks.out,
    "foreach": checks.foreach,
    "strided": checks.strided,
    "edge": checks.edge,
    "backward": checks.backward,
}


def _applies(case, dtype, form):
    if form not in case.forms:
        return False
    if form == "functional":
        return True
    if case.raises:
        return False
    if form == "edge":
        return case.pointwise
    if form == "backward":
        floating = dtype.is_floating_point or dtype.is_complex
        fixed = any(s.dtype and s.dtype.is_floating_point and s.grad for s in case.specs())
        return case.backward and bool(case.specs()) and (floating or fixed)
    if form == "strided":
        return bool(case.specs())
    if form.startswith("mode_"):
        return True
    if case.fn or not case.args:
        return form == "out" and not case.fn and out_overload(case) is not None
    if form == "inplace":
        return isinstance(case.args[0], Spec) and inplace_overload(case) is not None
    return (out_overload(case) is not None) if form == "out" else bool(foreach_overloads(case))


def _kind(dtype):
    return (dtype.is_floating_point, dtype.is_complex, dtype == torch.bool)


def expand(cases):
    """(case, dtype, form, slow) of every test; the fast set is explained at the top."""
    met = set()
    for case in cases:
        first = case.dtypes[0]
        others = [d for d in case.dtypes[1:] if _kind(d) != _kind(first)] or case.dtypes[1:2]
        for dtype in case.dtypes:
            for form in FORMS:
                if not _applies(case, dtype, form):
                    continue
                # Forms are derived, and derived alike for all arguments: once for each operator.
                kind = "another kind" if dtype in others[:1] and form == "functional" else form
                fast = dtype == first or kind != form
                fast = fast and (kind == "functional" or (case.op, kind) not in met)
                if fast:
                    met.add((case.op, kind))
                yield case, dtype, form, not fast


def run_one(case, dtype, form):
    if form.startswith("mode_"):
        checks.mode(case, dtype, form.removeprefix("mode_"))
    else:
        _CHECKS[form](case, dtype)


def cases_to_tests(cases):
    """A parametrised test function for module level: `test_family = cases_to_tests([...])`."""
    names = [c.id for c in cases]
    twice = {n for n in names if names.count(n) > 1}
    assert not twice, f"cases need name= to set them apart: {sorted(twice)}"
    params = [
        pytest.param(
            case,
            dtype,
            form,
            id=f"{case.id}-{str(dtype).removeprefix('torch.')}-{form}",
            marks=[pytest.mark.slow] if slow else [],
        )
        for case, dtype, form, slow in expand(cases)
    ]

    @pytest.mark.parametrize(("case", "dtype", "form"), params)
    def test(case, dtype, form):
        run_one(case, dtype, form)

    return test
