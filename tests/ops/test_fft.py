# The transforms under torch.fft, and the front ends that bottom out in them.
import torch
from harness import COMPLEX, Case, T, cases_to_tests

REAL = (torch.float32, torch.float64)
TOL = {torch.float32: (1e-4, 1e-5), torch.complex64: (1e-4, 1e-5)}


def case(op, *args, **options):
    # Meta's strides follow the last transform's layout, CPU's do not; CPU drops imaginary parts
    # into a real out=.
    return Case(op, *args, tol=TOL, strides=False, out_dtype=False, **options)


CASES = (
    [
        case(
            "aten::_fft_c2c", T(3, 6), [1], norm, forward, name=f"{norm} {forward}", dtypes=COMPLEX
        )
        for norm in (0, 1, 2)
        for forward in (True, False)
    ]
    + [
        case("aten::_fft_c2c", T(2, 3, 4, 5), [0, 2], 0, True, name="two dims", dtypes=COMPLEX),
        case(
            "aten::_fft_c2c",
            T(2, 3, 2, 5),
            [0, 1, 2, 3],
            2,
            False,
            name="four dims",
            dtypes=COMPLEX,
        ),
    ]
    + [
        case("aten::_fft_r2c", T(3, n), [1], norm, half, name=f"{n} {norm} {half}", dtypes=REAL)
        for n in (6, 7)
        for norm in (0, 1)
        for half in (True, False)
    ]
    + [
        case("aten::_fft_r2c", T(3, 4, 5), [2, 0], 1, True, name="two dims", dtypes=REAL),
        case("aten::_fft_c2r", T(3, 4), [1], 0, 6, name="even", dtypes=COMPLEX),
        case("aten::_fft_c2r", T(3, 4), [1], 2, 7, name="odd", dtypes=COMPLEX),
        case("aten::_fft_c2r", T(4, 3, 2), [1, 0], 1, 6, name="two dims", dtypes=COMPLEX),
        case("rfft", T(3, 6), fn=lambda x: torch.fft.rfft(x, n=8), dtypes=REAL),
        case("irfft2", T(3, 4), fn=lambda x: torch.fft.irfft2(x), dtypes=COMPLEX),
        case("fftshift", T(3, 5), fn=lambda x: torch.fft.fftshift(x), dtypes=REAL),
    ]
)
test_fft = cases_to_tests(CASES)
