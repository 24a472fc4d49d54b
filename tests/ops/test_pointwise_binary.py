# Pointwise operators of two and three tensors, with PyTorch's promotion, signs and NaNs.
import math

import pytest
import torch
from harness import BOOL, COMPLEX, FLOATS, INTS, B, Case, P, T, V, cases_to_tests
from support import DEVICE, tpu_only

NAN, INF = math.nan, math.inf
NUMBERS = FLOATS + INTS
ALL = NUMBERS + BOOL
F32 = (torch.float32,)
F64 = torch.float64
VALUES = ("functional",)
CORE = ("functional", "inplace", "backward")
# Every pair of these: A has shape (n, 1), B (1, n).
LINE = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 3.0, -7.0, 0.3, INF, -INF, NAN]
A, Z = V([[x] for x in LINE]), V([LINE])
WHOLE = [1, -1, 2, -2, 3, -3, 7, -7, 48, -48, 127, -128]
IA, IZ = V([[x] for x in [0, *WHOLE]]), V([WHOLE])
SIGNED = (torch.int32, torch.int8, torch.int16, torch.int64)


def pairs(op, dtypes=F32, left=A, right=Z, **options):
    return Case(f"aten::{op}", left, right, name="pairs", dtypes=dtypes, forms=VALUES, **options)


def whole_pairs(op, dtypes=SIGNED, **options):
    return Case(f"aten::{op}", IA, IZ, name="whole", dtypes=dtypes, forms=VALUES, **options)


SUMS = [
    Case("aten::add.Tensor", T(2, 3), T(3), dtypes=ALL + COMPLEX, pointwise=True),
    Case("aten::add.Tensor", T(2, 3), T(3), kwargs={"alpha": 2.5}, name="alpha", forms=CORE),
    Case(
        "aten::add.Tensor",
        T(2, 3),
        T(3),
        kwargs={"alpha": -3},
        name="whole alpha",
        dtypes=INTS,
        forms=VALUES,
    ),
    Case("aten::add.Tensor", T(2, 3), 1.25, name="number", dtypes=FLOATS),
    Case(
        "aten::add.Tensor", V([255, 3], dtype=torch.uint8), 1, name="wrap", dtypes=F32, forms=VALUES
    ),
    Case(
        "aten::sub.Tensor", V([255, 3], dtype=torch.uint8), 5, name="wrap", dtypes=F32, forms=VALUES
    ),
    Case("aten::sub.Tensor", T(2, 3), T(2, 1), dtypes=NUMBERS + COMPLEX, pointwise=True),
    Case(
        "aten::sub.Tensor",
        T(2, 3),
        2,
        kwargs={"alpha": 3},
        name="alpha",
        dtypes=NUMBERS,
        forms=CORE,
    ),
    Case("aten::rsub.Tensor", T(2, 3), T(3), kwargs={"alpha": 2}, dtypes=NUMBERS, forms=CORE),
    Case("aten::rsub.Scalar", T(2, 3), 1, dtypes=NUMBERS, forms=CORE),
    Case("aten::mul.Tensor", T(2, 3), T(3), dtypes=ALL + COMPLEX, pointwise=True),
    Case("aten::mul.Tensor", T(2, 3), 0.1, name="number", dtypes=FLOATS + COMPLEX),
]

PROMOTION = [
    Case("int and number", T(3, dtype=torch.int32), fn=lambda x: x * 2.0, dtypes=F32),
    Case("bool and number", B(3), fn=lambda x: x + 1, dtypes=F32, backward=False),
    Case("0-dim double", T(3), V(2.5, dtype=F64), fn=torch.mul, dtypes=FLOATS),
    Case("int and bfloat16", V([301, 7], dtype=torch.int32), T(2), fn=torch.add, dtypes=FLOATS),
    Case("float and complex", T(3), V([1j, 2, 3]), fn=torch.add, dtypes=COMPLEX),
    Case(
        "uint8 and int8",
        V([200, 3], dtype=torch.uint8),
        V([-1, 5], dtype=torch.int8),
        fn=torch.add,
        dtypes=F32,
    ),
    Case("int and double product", T(3, dtype=F64), T(3), T(3), fn=torch.addcmul, dtypes=F32),
]

QUOTIENTS = [
    Case("aten::div.Tensor", T(2, 3), P(3), dtypes=FLOATS + COMPLEX, pointwise=True),
    Case(
        "aten::div.Tensor",
        T(2, 3),
        V([2, -3, 5]),
        name="integers",
        dtypes=INTS + BOOL[:0],
        forms=VALUES,
    ),
    Case("aten::div.Tensor", T(2, 3), 0.3, name="number", dtypes=FLOATS, forms=CORE),
    pairs("div.Tensor"),
    *(
        Case(
            "aten::div.Tensor_mode",
            T(2, 3),
            P(3),
            kwargs={"rounding_mode": mode},
            name=str(mode),
            forms=CORE,
        )
        for mode in (None, "trunc", "floor")
    ),
    *(
        Case(
            "aten::div.Tensor_mode",
            A,
            Z,
            kwargs={"rounding_mode": mode},
            name=f"pairs {mode}",
            dtypes=FLOATS,
            forms=VALUES,
        )
        for mode in ("trunc", "floor")
    ),
    *(
        Case(
            "aten::div.Tensor_mode",
            IA,
            IZ,
            kwargs={"rounding_mode": mode},
            name=f"whole {mode}",
            dtypes=SIGNED,
            forms=VALUES,
        )
        for mode in ("trunc", "floor")
    ),
    Case("aten::floor_divide", T(2, 3), P(3), dtypes=FLOATS, backward=False, strides="plain"),
    Case(
        "aten::floor_divide", T(2, 3), 49, name="number", dtypes=NUMBERS, backward=False, forms=CORE
    ),
    pairs("floor_divide", FLOATS),
    whole_pairs("floor_divide"),
    *(Case(f"aten::{n}.Tensor", T(2, 3), P(3), forms=CORE) for n in ("remainder", "fmod")),
    *(pairs(f"{n}.Tensor", FLOATS) for n in ("remainder", "fmod")),
    *(whole_pairs(f"{n}.Tensor") for n in ("remainder", "fmod")),
    *(
        Case(f"aten::{n}.Scalar", T(3, 4), 0.1, name="number", dtypes=FLOATS, forms=VALUES)
        for n in ("remainder", "fmod")
    ),
    Case("aten::remainder.Scalar", T(3, 4), -3, name="whole", dtypes=INTS[:2], forms=CORE),
    Case("aten::remainder.Scalar_Tensor", 7, V([2, -2, 3]), dtypes=NUMBERS[:5], forms=VALUES),
]

POWERS = [
    Case("aten::pow.Tensor_Tensor", P(2, 3), T(3), dtypes=FLOATS + COMPLEX, pointwise=True),
    pairs("pow.Tensor_Tensor"),
    whole_pairs("pow.Tensor_Tensor"),
    Case(
        "aten::pow.Tensor_Tensor",
        V([[3], [7], [200]]),
        V([[0, 1, 2, 9, 200]]),
        name="bytes",
        dtypes=(torch.uint8,),
        forms=VALUES,
    ),
    *(
        Case("aten::pow.Tensor_Scalar", P(2, 3), e, name=str(e), forms=CORE)
        for e in (0, 1, 2, 3, -1, 0.5, -0.5, 1.7)
    ),
    *(
        Case("aten::pow.Tensor_Scalar", EDGE, e, name=f"{e} edges", dtypes=F32, forms=VALUES)
        for EDGE in [V(LINE)]
        for e in (0, 2, 3, -1, 0.5, 1.7)
    ),
    *(
        Case("aten::pow.Tensor_Scalar", T(2, 3), e, name=f"{e} whole", dtypes=INTS, forms=VALUES)
        for e in (0, 2, 3, 0.5)
    ),
    Case(
        "aten::pow.Tensor_Scalar",
        V([float(k) for k in range(10)]),
        3.0,
        name="report",
        dtypes=(torch.bfloat16,),
        forms=VALUES,
    ),
    Case("aten::pow.Scalar", 2, T(2, 3), forms=CORE),
    Case("aten::pow.Scalar", 0.9, T(2, 3), name="fraction", dtypes=NUMBERS[:6], forms=CORE),
]

EXTREMES = [
    *(Case(f"aten::{n}", T(2, 3), T(3), dtypes=ALL) for n in ("maximum", "minimum")),
    *(Case(f"aten::{n}", T(2, 3), T(3), dtypes=ALL, forms=CORE) for n in ("fmax", "fmin")),
    *(pairs(n, FLOATS) for n in ("maximum", "minimum", "fmax", "fmin")),
]

FLOATING = [
    *(
        Case(f"aten::{n}", T(2, 3), T(3), forms=CORE)
        for n in ("atan2", "hypot", "logaddexp", "logaddexp2")
    ),
    Case("aten::logaddexp", T(2, 3), T(3), name="complex", dtypes=COMPLEX, forms=VALUES),
    Case("aten::copysign.Tensor", T(2, 3), T(3), dtypes=NUMBERS, forms=CORE),
    Case("aten::copysign.Scalar", T(2, 3), -0.0, forms=CORE),
    Case("aten::xlogy.Tensor", T(2, 3), P(3), forms=CORE),
    Case(
        "aten::nextafter",
        T(2, 3),
        T(3),
        dtypes=(torch.float32, F64, torch.bfloat16),
        backward=False,
        tol=(0, 0),
    ),
    Case("aten::heaviside", V([-1.0, 0.0, 2.0, -0.0]), T(4), dtypes=FLOATS, backward=False),
    *(
        pairs(n, tol=(1.3e-6, 1e-5))
        for n in (
            "atan2",
            "hypot",
            "copysign.Tensor",
            "logaddexp",
            "logaddexp2",
            "xlogy.Tensor",
            "nextafter",
            "heaviside",
        )
    ),
    Case(
        "aten::gcd",
        V([0, 12, -18, 7]),
        V([5, 18, 12, 0]),
        dtypes=INTS[:2] + INTS[3:],
        backward=False,
    ),
    Case(
        "aten::lcm",
        V([0, 12, -18, 7]),
        V([5, 18, 12, 0]),
        dtypes=INTS[:2] + INTS[3:],
        backward=False,
    ),
]

COMPARISONS = [
    Case("aten::eq.Tensor", T(2, 3), T(3), dtypes=ALL + COMPLEX, backward=False, pointwise=True),
    Case("aten::lt.Tensor", T(2, 3), T(3), dtypes=ALL, backward=False, pointwise=True),
    *(
        Case(f"aten::{n}.Tensor", T(2, 3), T(3), dtypes=ALL, backward=False, forms=CORE)
        for n in ("ne", "le", "gt", "ge")
    ),
    *(pairs(f"{n}.Tensor") for n in ("eq", "ne", "lt", "le", "gt", "ge")),
    *(
        Case(
            f"aten::{n}.Scalar",
            V([0.1, 0.3, 1.0, NAN]),
            0.1,
            name="number",
            dtypes=FLOATS,
            backward=False,
            forms=CORE,
        )
        for n in ("eq", "ne", "lt", "le", "gt", "ge")
    ),
    Case("aten::gt.Scalar", T(3), 2.5, name="whole", dtypes=INTS, backward=False, forms=VALUES),
    Case(
        "aten::eq.Tensor",
        V([2**40 + 1, 3]),
        V([2**40, 3]),
        name="wide",
        dtypes=(torch.int64,),
        backward=False,
        forms=VALUES,
    ),
]

BITS = [
    Case(
        "aten::logical_and",
        V([0, 1, 2, 0]),
        V([0.0, NAN, 0.0, 1.0], dtype=torch.float32),
        dtypes=ALL + COMPLEX,
        backward=False,
    ),
    *(
        Case(f"aten::{n}", V([0, 1, 2, 0]), V([0, 1, 0, 3]), dtypes=ALL, backward=False, forms=CORE)
        for n in ("logical_or", "logical_xor")
    ),
    *(
        Case(f"aten::bitwise_{n}.Tensor", T(2, 3), T(3), dtypes=INTS + BOOL, backward=False)
        for n in ("and", "or", "xor")
    ),
    Case(
        "aten::bitwise_and.Tensor",
        V([True, False], dtype=torch.bool),
        V([1, 3], dtype=torch.uint8),
        name="report",
        dtypes=F32,
        forms=VALUES,
    ),
    Case("aten::bitwise_or.Scalar", T(2, 3), 5, dtypes=INTS, backward=False, forms=CORE),
    *(
        Case(
            f"aten::{n}.Tensor",
            V([[1], [-1], [-7], [100], [-128]]),
            V([[0, 1, 7, 8, 31, 32, 64, -1]]),
            name="amounts",
            dtypes=SIGNED,
            backward=False,
            forms=VALUES,
        )
        for n in ("bitwise_left_shift", "bitwise_right_shift", "__lshift__", "__rshift__")
    ),
    Case(
        "aten::bitwise_left_shift.Tensor",
        V([[1], [200]]),
        V([[0, 1, 7, 8, 200]]),
        name="bytes",
        dtypes=(torch.uint8,),
        backward=False,
        forms=VALUES,
    ),
    Case(
        "aten::bitwise_right_shift.Tensor",
        V([256, -256], dtype=torch.int32),
        V(4),
        name="0-dim",
        dtypes=(torch.int64,),
        backward=False,
        forms=CORE,
    ),
    Case("aten::__lshift__.Scalar", T(3), 2, dtypes=INTS, backward=False, forms=CORE),
]

BOUNDS = [
    Case("aten::clamp", T(3, 4), -0.5, 0.75, dtypes=FLOATS, pointwise=True),
    Case("aten::clamp", T(3, 4), None, 0.3, name="no min", forms=CORE),
    Case("aten::clamp", T(3, 4), 0.3, name="no max", forms=CORE),
    Case("aten::clamp", T(3, 4), 1, -1, name="crossed", dtypes=NUMBERS, forms=CORE),
    Case("aten::clamp", T(3, 4), -1.5, 2, name="promoted", dtypes=INTS[:2], forms=VALUES),
    Case("aten::clamp", V(LINE), NAN, 1.0, name="nan", dtypes=F32, forms=VALUES),
    Case("aten::clamp.Tensor", T(3, 4), T(4), T(3, 1), forms=CORE),
    Case("aten::clamp.Tensor", T(3, 4), None, T(4), name="no min", forms=CORE),
    Case("aten::clamp.Tensor", A, Z, None, name="pairs", dtypes=F32, forms=VALUES),
    *(Case(f"aten::clamp_{n}", T(3, 4), 0.25, forms=CORE) for n in ("min", "max")),
    *(Case(f"aten::clamp_{n}.Tensor", T(3, 4), T(4), forms=CORE) for n in ("min", "max")),
]

TERNARY = [
    Case("aten::addcmul", T(2, 3), T(3), T(2, 1), kwargs={"value": 2.5}, dtypes=FLOATS),
    Case("aten::addcmul", T(2, 3), T(3), T(2, 1), name="one", dtypes=NUMBERS + COMPLEX, forms=CORE),
    Case("aten::addcdiv", T(2, 3), T(3), P(2, 1), kwargs={"value": -0.3}, dtypes=FLOATS),
    Case("aten::lerp.Scalar", T(2, 3), T(3), 0.3, dtypes=FLOATS),
    Case("aten::lerp.Scalar", V(LINE[:-3]), V(LINE[:-3][::-1]), 0.8, name="far", forms=CORE),
    Case("aten::lerp.Tensor", T(2, 3), T(3), T(2, 3), forms=CORE),
    Case("aten::where.self", B(2, 3), T(2, 3), T(3), dtypes=ALL + COMPLEX),
    Case(
        "aten::where.self",
        B(2, 3),
        T(2, 3, dtype=torch.int32),
        T(),
        name="promoted",
        forms=("functional", "backward"),
    ),
    Case("where with number", B(2, 3), T(2, 3), fn=lambda m, x: torch.where(m, x, 2.5)),
    Case("aten::masked_fill.Scalar", T(2, 3), B(2, 1), -INF, dtypes=FLOATS),
    Case("aten::masked_fill.Scalar", T(2, 3), B(3), 5, name="whole", dtypes=ALL, forms=CORE),
    Case("aten::masked_fill.Tensor", T(2, 3), B(2, 1), T(), dtypes=FLOATS, forms=CORE),
]

PARTS = [
    Case("aten::complex", T(2, 1), T(3), dtypes=(torch.float32, F64)),
    Case("aten::polar", P(2, 3), T(3), dtypes=(torch.float32, F64)),
]

test_binary = cases_to_tests(
    SUMS + PROMOTION + QUOTIENTS + POWERS + EXTREMES + FLOATING + COMPARISONS + BITS
)
test_ternary = cases_to_tests(BOUNDS + TERNARY + PARTS)


def test_integers_to_a_negative_power_raise():
    x = torch.tensor([1, 2, 3], device=DEVICE)
    assert (x**3).tolist() == [1, 8, 27]
    with pytest.raises(RuntimeError, match="negative integer powers"):
        x**-3


@tpu_only
@pytest.mark.parametrize("mode", ["strict", "defer"])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.uint8])
def test_integers_divided_by_constant_zeros(mode, dtype):
    """Constants too: XLA divides them while it compiles, by an instruction that traps."""
    with torch.tpu.eager_mode(mode):
        one, zero = torch.ones(2, device=DEVICE), torch.zeros(2, device=DEVICE)
        a, b = one.to(dtype) * 5, zero.to(dtype)
        all_ones = -1 if dtype.is_signed else 255
        for quotient in (a // b, torch.div(a, b, rounding_mode="trunc"), a // 0):
            assert quotient.tolist() == [all_ones] * 2
        assert (a % b).tolist() == [5, 5]
        assert torch.fmod(a, b).tolist() == [5, 5]
        least = torch.full_like(a, torch.iinfo(dtype).min)
        assert (least // torch.full_like(a, -1)).shape == (2,)
