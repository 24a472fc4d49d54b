# Special functions, against CPU PyTorch.
import math

import torch
from harness import Case, P, T, V, cases_to_tests

NAN, INF = math.nan, math.inf
F32_F64 = (torch.float32, torch.float64)
F32 = (torch.float32,)
VALUES = ("functional",)
CORE = ("functional", "out", "backward")
WIDE = V([0.0, -0.5, 1.0, -3.0, 7.9, 8.1, -20.0, 60.0])
EDGES = V([0.0, -0.0, INF, -INF, NAN])
TOLERANCE = {torch.float32: (2e-5, 1e-6), torch.float64: (1e-10, 1e-12)}


def special(op, spec=WIDE, **options):
    return Case(
        f"aten::{op}", spec, **{"dtypes": F32_F64, "tol": TOLERANCE, "forms": CORE, **options}
    )


POLYNOMIALS = (
    *(f"{shift}chebyshev_polynomial_{kind}" for shift in ("", "shifted_") for kind in "tuvw"),
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
)

FUNCTIONS = [
    *(special(n) for n in ("special_i0e", "special_i1e", "i0", "special_i1")),
    special("special_erfcx", V([0.0, 0.3, -0.5, 2.0, 30.0, 1e4, -4.0])),
    special("special_log_ndtr", V([0.0, 0.9, -0.9, -1.1, -5.0, -30.0, 6.0])),
    special("special_ndtri", V([0.5, 0.3, 0.04, 0.06, 0.97, 1e-3, 1e-10, 1e-30, 0.999])),
    special("special_ndtri", V([0.0, 1.0, -0.5, 1.5, NAN]), name="edges", forms=VALUES),
    special("special_entr", V([0.0, 0.5, 2.0, -1.0, NAN, INF]), backward=False),
    *(
        special(n, EDGES, name="edges", forms=VALUES)
        for n in ("special_i0e", "special_i1e", "special_erfcx", "special_log_ndtr")
    ),
    Case(
        "aten::special_zeta",
        P(3, low=1.5, high=5),
        P(3),
        dtypes=F32_F64,
        tol=TOLERANCE,
        backward=False,
    ),
    *(
        Case(
            "aten::polygamma",
            n,
            P(4),
            name=str(n),
            dtypes=F32_F64,
            tol=(1e-4, 1e-5),
            forms=("functional", "backward"),
        )
        for n in (0, 1, 2)
    ),
    *(
        Case(
            "aten::polygamma",
            n,
            V([-7.4, -1.5, -0.1, 0.0, -1.0, -3.0, 1e-8, 0.3, 7.0, 1e6, -40.3, INF, -INF, NAN]),
            name=f"{n} edges",
            dtypes=(torch.float64,),
            tol=(1e-9, 1e-9),
            forms=VALUES,
        )
        for n in (0, 1, 2, 3)
    ),
    *(
        Case(
            "aten::special_zeta",
            V([x]),
            V([-7.4, -1.5, 0.0, -1.0, 1e-8, 0.3, 7.0, 1e6, -40.3, NAN]),
            name=f"{x} edges",
            dtypes=(torch.float64,),
            tol=(1e-9, 1e-9),
            forms=VALUES,
        )
        for x in (0.5, 1.0, 1.5, 2.0, 3.0, 60.0)
    ),
    *(
        Case(
            name,
            P(6, low=low, high=high, grad=False),
            P(6, low=low, high=high),
            name=f"to {high}",
            dtypes=F32_F64,
            tol=tol,
        )
        for name in ("aten::igamma", "aten::igammac")
        for low, high, tol in (
            (0.01, 1.5, {torch.float32: (1e-5, 1e-6), torch.float64: (1e-10, 1e-11)}),
            (1, 30, {torch.float32: (2e-5, 2e-6), torch.float64: (1e-10, 1e-11)}),
            (500, 600, {torch.float32: (1e-4, 1e-5), torch.float64: (1e-10, 1e-11)}),
        )
    ),
    *(
        Case(
            name,
            V([0.0, 0.0, 1.0, -1.0, 2.0, INF, INF, 2.0, NAN, 1.0, 3.0]),
            V([0.0, 1.0, 0.0, 1.0, -1.0, 2.0, INF, INF, 1.0, NAN, 3.0]),
            name="edges",
            dtypes=F32_F64,
            tol=(1e-6, 1e-7),
            forms=VALUES,
        )
        for name in ("aten::igamma", "aten::igammac")
    ),
    Case("aten::special_xlog1py", T(2, 3), P(3), dtypes=F32_F64, forms=CORE),
    Case(
        "aten::special_xlog1py",
        V([0.0, 0.0, 1.0]),
        V([NAN, INF, 0.0]),
        name="edges",
        dtypes=F32,
        forms=VALUES,
    ),
    Case(
        "mvlgamma",
        P(3, low=2, high=5),
        fn=lambda x: torch.mvlgamma(x, 2),
        dtypes=F32_F64,
        tol=(1e-4, 1e-5),
    ),
    # Inside, at and outside of the ends of the interval; degrees below 0, small, and large enough
    # for the closed forms.
    *(
        Case(
            f"aten::special_{name}",
            V([[-1.0], [-0.4], [0.0], [0.3], [1.0], [1.5]]),
            V([-2.0, 0.0, 1.0, 2.0, 5.7, 12.0]),
            name="degrees",
            dtypes=F32_F64,
            tol=(2e-4, 2e-4),
            backward=False,
        )
        for name in POLYNOMIALS
    ),
    *(
        Case(
            f"aten::special_{name}.n_scalar",
            T(2, 3),
            3,
            dtypes=F32_F64,
            tol=(1e-4, 1e-4),
            backward=False,
        )
        for name in POLYNOMIALS
    ),
]

test_special = cases_to_tests(FUNCTIONS)
