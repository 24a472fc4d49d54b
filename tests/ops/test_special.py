# Special functions, against CPU PyTorch.
import math

import torch
from harness import Case, P, T, V, cases_to_tests
from support import DEVICE, near

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

# PyTorch's own float64 values of these are off by up to 1e-7 beyond 5 (seen with mpmath).
BESSEL = [
    special(f"special_{name}", spec, name=label, tol={torch.float32: (2e-5, 1e-6),
            torch.float64: (1e-6, 3e-7)}, backward=False, forms=("functional", "out"))
    for label, spec in {
        "values": V([1e-30, 1e-3, 0.5, 1.9, 2.1, 4.0, 7.9, 8.1, 20.0, 90.0, 600.0]),
        "negative": V([-0.3, -1.9, -2.1, -8.1, -20.0]),
        "ends": EDGES,
    }.items()
    for name in (
        "bessel_j0",
        "bessel_j1",
        "spherical_bessel_j0",
        "bessel_y0",
        "bessel_y1",
        "modified_bessel_i0",
        "modified_bessel_i1",
        "modified_bessel_k0",
        "modified_bessel_k1",
        "scaled_modified_bessel_k0",
        "scaled_modified_bessel_k1",
        "airy_ai",
    )
]  # fmt: skip

test_special = cases_to_tests(FUNCTIONS + BESSEL)


# Digits from mpmath: closer than PyTorch's own.
def test_bessel_functions_keep_float64():
    x = torch.tensor([5.0, 20.0], dtype=torch.float64, device=DEVICE)
    y0 = [-0.30851762524903376, 0.06264059680938384]
    j0 = [-0.1775967713143383, 0.16702466434058316]
    near(torch.special.bessel_j0(x), j0, rtol=1e-14, atol=1e-16)
    near(torch.special.bessel_y0(x), y0, rtol=1e-14, atol=1e-16)
    near(torch.special.airy_ai(-x[1:] / 2), [0.040241238486441955], rtol=1e-13)
