# Resizing by nearest, linear, cubic and antialiased interpolation.
import torch
from harness import Case, T, cases_to_tests

F32 = (torch.float32,)
FLOATS = (torch.float32, torch.bfloat16, torch.float64)
U8 = (torch.uint8,)
TOL = {torch.float32: (1e-4, 3e-5), torch.bfloat16: (5e-2, 5e-2)}
INPUTS = {1: (2, 3, 5), 2: (2, 3, 5, 4), 3: (1, 2, 3, 4, 2)}
OUTPUTS = {
    1: {"double": [10], "other": [7], "smaller": [3], "one": [1], "same": [5]},
    2: {"double": [10, 8], "other": [7, 9], "smaller": [3, 2], "mixed": [4, 8]},
    3: {"double": [6, 8, 4], "other": [4, 3, 5]},
}


def resize(op, rank, *flags, dtypes=F32):
    for name, size in OUTPUTS[rank].items():
        label = " ".join([name, *(str(f) for f in flags)])
        x = T(*INPUTS[rank])
        yield Case(f"aten::{op}", x, size, *flags, name=label, dtypes=dtypes, tol=TOL)


CASES = [
    *resize("upsample_nearest1d", 1),
    *resize("upsample_nearest2d", 2, dtypes=FLOATS),
    *resize("upsample_nearest3d", 3),
    *resize("_upsample_nearest_exact1d", 1),
    *resize("_upsample_nearest_exact2d", 2),
    *resize("_upsample_nearest_exact3d", 3),
]
for align in (False, True):
    CASES += [
        *resize("upsample_linear1d", 1, align),
        *resize("upsample_bilinear2d", 2, align, dtypes=FLOATS),
        *resize("upsample_trilinear3d", 3, align),
        *resize("upsample_bicubic2d", 2, align),
        *resize("_upsample_bilinear2d_aa", 2, align),
        *resize("_upsample_bicubic2d_aa", 2, align),
    ]


# Bytes are CPU's, to the last: it computes with weights of 16 bits and rounds after each dim.
IMAGE = T(1, 2, 37, 50, low=0, high=255)
for op in ("upsample_bilinear2d", "upsample_bicubic2d", "_upsample_bilinear2d_aa"):
    for size in ([41, 90], [11, 7]):
        for align in (False, True):
            name = f"image to {size} {align}"
            CASES.append(Case(f"aten::{op}", IMAGE, size, align, name=name, dtypes=U8))

CASES += [
    Case(
        "aten::upsample_nearest2d", T(1, 2, 5, 6, low=0, high=255), [7, 9], name="image", dtypes=U8
    ),
    Case(
        "aten::upsample_bilinear2d",
        T(2, 3, 5, 4),
        [8, 7],
        False,
        1.7,
        1.8,
        name="scales",
        dtypes=F32,
        tol=TOL,
    ),
    Case("aten::upsample_nearest1d", T(2, 3, 5), [8], 1.7, name="scales", dtypes=F32),
    Case("aten::upsample_nearest2d", T(0, 3, 5, 4), [10, 8], name="no batch", dtypes=F32),
    Case(
        "interpolate factor",
        T(1, 2, 6, 6),
        fn=lambda x: torch.nn.functional.interpolate(x, scale_factor=1.5, mode="bilinear"),
        dtypes=F32,
        tol=TOL,
    ),
]

test_upsample = cases_to_tests(CASES)
