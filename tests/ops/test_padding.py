# Padding by a constant, by reflection and by repetition.
import torch
from harness import BOOL, FLOATS, INTS, Case, T, cases_to_tests
from torch.nn import functional as F

F32 = (torch.float32,)
TOL = {torch.bfloat16: (3e-2, 3e-2), torch.float16: (4e-3, 4e-3)}

CASES = [
    Case("aten::constant_pad_nd", T(2, 3, 4), [1, 2], dtypes=FLOATS + INTS),
    Case("aten::constant_pad_nd", T(2, 3, 4), [1, -2, 0, 3], 2.5, name="cropped"),
    Case("aten::constant_pad_nd", T(2, 3), [1, 1], True, name="bool", dtypes=BOOL),
    Case("aten::constant_pad_nd", T(2, 0, 4), [1, 2, 2, 0], 1.5, name="no elements", dtypes=F32),
    Case("pad None", T(1, 1, 2, 2), fn=lambda x: F.pad(x, (1, 0, 0, 1), value=None), dtypes=F32),
    Case(
        "pad circular",
        T(1, 2, 4, 5),
        fn=lambda x: F.pad(x, (1, 2, 2, 1), mode="circular"),
        dtypes=F32,
    ),
]
SHAPES = {1: (2, 3, 5), 2: (2, 3, 5, 4), 3: (1, 2, 4, 5, 3)}
for rank, shape in SHAPES.items():
    for kind in ("reflection", "replication"):
        op = f"aten::{kind}_pad{rank}d"
        dtypes = FLOATS if rank == 2 else F32
        CASES += [
            Case(op, T(*shape), [1, 2] * rank, dtypes=dtypes, tol=TOL),
            Case(op, T(*shape), [2, 0] * rank, name="one side", dtypes=F32),
            Case(op, T(*shape[1:]), [1, 1] * rank, name="unbatched", dtypes=F32),
        ]
CASES += [
    Case("aten::replication_pad2d", T(1, 2, 3, 3), [7, 1, 5, 0], name="wide", dtypes=F32),
    Case(
        "aten::reflection_pad1d",
        T(2, 3, 5),
        [5, 0],
        name="too wide",
        dtypes=F32,
        raises=RuntimeError,
    ),
]

test_padding = cases_to_tests(CASES)
