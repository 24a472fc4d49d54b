# Pointwise operators of one tensor: signs, rounding, NaN tests, mathematical functions, complex.
import math

import torch
from harness import BOOL, COMPLEX, FLOATS, INTS, Case, P, T, V, cases_to_tests

NAN, INF = math.nan, math.inf
NUMBERS = FLOATS + INTS
ALL = NUMBERS + BOOL
F32 = (torch.float32,)
VALUES = ("functional",)
# The forms are derived, the same for all: the families run them all on their first members.
CORE = ("functional", "inplace", "backward")
EDGES = V([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 20.0, INF, -INF, NAN])


def unary(op, spec=None, **options):
    return Case(f"aten::{op}", T(3, 4) if spec is None else spec, **options)


def edges(op, dtypes=F32, **options):
    return unary(op, EDGES, name="edges", dtypes=dtypes, forms=VALUES, **options)


SIGNS = [
    unary("abs", dtypes=NUMBERS + COMPLEX, pointwise=True),
    unary("neg", dtypes=NUMBERS + COMPLEX, pointwise=True),
    *(unary(n, dtypes=ALL, forms=CORE) for n in ("sign", "signbit")),
    unary("sgn", dtypes=NUMBERS + COMPLEX, forms=CORE),
    unary("sgn", V([0j, 3 + 4j, -2j]), name="zero", dtypes=COMPLEX, forms=VALUES),
    *(edges(n, FLOATS) for n in ("abs", "neg", "sign", "sgn", "signbit")),
]

ROUNDING = [
    unary("floor", dtypes=NUMBERS, pointwise=True),
    *(unary(n, dtypes=NUMBERS, forms=CORE) for n in ("ceil", "round", "trunc")),
    unary("frac", forms=CORE),
    *(edges(n, FLOATS) for n in ("ceil", "floor", "round", "trunc")),
    *(
        Case("aten::round.decimals", T(3, 4), kwargs={"decimals": d}, name=str(d), forms=CORE)
        for d in (0, 2, -1)
    ),
]

TESTS = [
    *(edges(n, FLOATS) for n in ("isnan", "isinf", "isfinite", "isposinf", "isneginf")),
    *(
        unary(n, dtypes=INTS + BOOL, forms=VALUES, backward=False)
        for n in ("isnan", "isinf", "isfinite", "isposinf", "isneginf")
    ),
    *(
        unary(
            n,
            V([1 + 1j, complex(NAN, 0), complex(0, -INF)]),
            name="complex",
            dtypes=COMPLEX,
            forms=VALUES,
        )
        for n in ("isnan", "isinf", "isfinite")
    ),
    unary("logical_not", V([0, 1, 2]), dtypes=ALL + COMPLEX),
    edges("logical_not"),
    unary("bitwise_not", dtypes=INTS + BOOL),
    unary("nan_to_num", EDGES, dtypes=FLOATS),
    Case("aten::nan_to_num", EDGES, 1.5, None, -3.0, name="numbers"),
    unary("nan_to_num", V([complex(NAN, INF), 1j]), name="complex", dtypes=COMPLEX, forms=VALUES),
    unary("nan_to_num", T(3), name="integers", dtypes=INTS, forms=VALUES),
]

# Functions on the whole line, of positive numbers, of (-1, 1) and of numbers above 1.
LINE = [
    "exp2",
    "expm1",
    "sin",
    "cos",
    "tan",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "erf",
    "erfc",
    "sigmoid",
    "sinc",
    "lgamma",
    "digamma",
]
POSITIVE = ["sqrt", "rsqrt", "reciprocal", "log2", "log10", "log1p"]
UNIT = ["asin", "acos", "atanh", "erfinv"]
COMPLEX_FUNCTIONS = [
    "sqrt",
    "rsqrt",
    "reciprocal",
    "exp",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sigmoid",
]
# The plugin's lgamma is good to 1e-6 absolute around its zeros at 1 and 2.
LOOSE = {"lgamma": (1e-4, 2e-5), "digamma": (1e-4, 1e-5)}

FUNCTIONS = [
    unary("exp", dtypes=FLOATS + (torch.int64,) + BOOL, pointwise=True),
    unary("log", P(3, 4), dtypes=FLOATS + (torch.int64,), pointwise=True),
    *(unary(n, P(3, 4) if n in LOOSE else None, forms=CORE, tol=LOOSE.get(n)) for n in LINE),
    *(unary(n, P(3, 4), forms=CORE) for n in POSITIVE),
    *(unary(n, T(3, 4, low=-0.9, high=0.9), forms=CORE) for n in UNIT),
    unary("acosh", T(3, 4, low=1.1, high=4), forms=CORE),
    unary("logit", T(3, 4, low=0.1, high=0.9), exact=True),
    Case("aten::logit", T(3, 4, low=0.0, high=1.0), 0.2, name="eps", forms=CORE, exact=True),
    Case("aten::logit", V([0.0, 1.0, -1.0, 0.5]), name="edges", dtypes=F32, forms=VALUES),
    *(edges(n, tol=LOOSE.get(n)) for n in ["exp", "log", "acosh", *LINE, *POSITIVE, *UNIT]),
    *(
        unary(n, T(3, dtype=torch.int32), name="int", dtypes=F32, forms=VALUES, backward=False)
        for n in ("sqrt", "exp2", "tanh", "sigmoid", "reciprocal", "sinc", "erf")
    ),
    *(
        unary(n, T(3, 2), name="complex", dtypes=COMPLEX, forms=("functional", "backward"))
        for n in COMPLEX_FUNCTIONS
    ),
]

# floor(log2(8)) must be 3: whole powers of the base are exact.
EXACT = [
    unary(
        "log2",
        V([2.0**k for k in range(-20, 21)]),
        name="powers",
        dtypes=F32,
        forms=VALUES,
        tol=(0, 0),
    ),
    unary(
        "log10",
        V([10.0**k for k in range(-20, 21)]),
        name="powers",
        dtypes=F32,
        forms=VALUES,
        tol=(0, 0),
    ),
    unary(
        "exp2",
        V([float(k) for k in range(-20, 21)]),
        name="whole",
        dtypes=F32,
        forms=VALUES,
        tol=(0, 0),
    ),
]

PARTS = [
    unary("angle", dtypes=NUMBERS + COMPLEX),
    edges("angle", FLOATS),
    unary("conj_physical", dtypes=COMPLEX),
    unary("conj_physical", name="real", dtypes=F32, forms=VALUES),
    unary("positive", dtypes=NUMBERS, forms=VALUES),
    Case("imag of product", T(3), dtypes=COMPLEX, fn=lambda z: (z * 2j).imag),
    Case("abs of real", T(3), dtypes=COMPLEX, fn=lambda z: z.real.abs() + z.imag),
]

test_unary = cases_to_tests(SIGNS + ROUNDING + TESTS + FUNCTIONS + EXACT + PARTS)
