# Tensors made from numbers: fills, ranges, the identity, triangle indices.
import torch
from harness import BOOL, COMPLEX, DEV, FLOATS, INTS, Case, T, cases_to_tests

F32 = (torch.float32,)
I64 = torch.int64
VALUES = ("functional",)
ON = {"device": DEV}


def made(op, *args, name="", out=False, **kwargs):
    """A factory call; `dtype=` and the like go to the operator."""
    forms = ("functional", "out") if out else VALUES
    return Case(f"aten::{op}", *args, kwargs={**ON, **kwargs}, name=name, dtypes=F32, forms=forms)


FILLS = [
    Case("aten::fill_.Scalar", T(2, 3, grad=False), 2.5, dtypes=FLOATS + COMPLEX, backward=False),
    Case(
        "aten::fill_.Scalar",
        T(2, 3, grad=False),
        3,
        name="whole",
        dtypes=FLOATS + INTS + BOOL,
        backward=False,
    ),
    Case("aten::fill_.Tensor", T(2, 3, grad=False), T(grad=False), dtypes=FLOATS, backward=False),
    Case("aten::zero_", T(2, 3, grad=False), dtypes=FLOATS + INTS + BOOL, backward=False),
    Case("fill a row", T(3, 4, grad=False), fn=lambda x: x[1].fill_(7) + x, dtypes=FLOATS),
    made("full", [2, 3], 2.5),
    made("full", [2, 3], 7, name="whole", dtype=I64),
    made("full", [0, 3], 7, name="empty"),
    made("zeros", [2, 3]),
    made("ones", [2, 3], dtype=torch.bool),
    made("scalar_tensor", 2.5),
]

RANGES = [
    made("arange", 5, out=True),
    made("arange", 5.5, name="float"),
    made("arange", 0, name="empty"),
    made("arange.start", 2, 7, dtype=torch.int32),
    made("arange.start_step", 0, 1, 0.1, out=True),
    made("arange.start_step", 10, -3, -4, name="down"),
    made("arange.start_step", 1, 3, 0.25, name="bfloat16", dtype=torch.bfloat16),
    made("arange.start_step", 0.5, 6, 2, name="narrowed", dtype=I64),
    made("linspace", -1, 2, 7, out=True),
    made("linspace", 3, 3.5, 1, name="one"),
    made("linspace", 3, 4, 0, name="none"),
    made("linspace", 0, 10, 4, name="whole", dtype=I64),
    made("linspace", 0, 1, 5, name="double", dtype=torch.float64),
    made("logspace", 0, 3, 4, out=True),
    made("logspace", 0, 6, 7, 2.0, name="base 2", dtype=I64),
    Case(
        "linspace of tensors",
        T(),
        T(),
        fn=lambda a, b: torch.linspace(a, b, 5, device=a.device),
        dtypes=F32,
        backward=False,
    ),
]

MATRICES = [
    made("eye", 3, out=True),
    made("eye.m", 2, 4, out=True, dtype=torch.int32),
    made("eye.m", 3, 2, name="bool", dtype=torch.bool),
    *(
        made(f"{n}_indices", rows, columns, offset, name=f"{rows} {columns} {offset}")
        for n in ("tril", "triu")
        for rows, columns, offset in [
            (3, 3, 0),
            (4, 2, 0),
            (2, 5, 0),
            (3, 4, 1),
            (3, 4, -1),
            (5, 3, -2),
            (3, 3, 9),
            (3, 3, -9),
            (4, 6, 2),
            (0, 3, 0),
            (60, 40, 3),
        ]
    ),
]

test_factory = cases_to_tests(FILLS + RANGES + MATRICES)
