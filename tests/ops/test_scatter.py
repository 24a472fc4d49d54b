# scatter, scatter_add, scatter_reduce.
import torch
from harness import BOOL, COMPLEX, FLOATS, INTS, Case, I, T, V, cases_to_tests

NUMBERS = FLOATS + INTS
ALL = NUMBERS + BOOL


def L(values):
    return V(values, dtype=torch.int64, grad=False)


ONCE = L([[3, 0, 1], [2, 1, 0]])

CASES = [
    Case("aten::scatter.src", T(4, 3), 0, ONCE, T(2, 3), dtypes=ALL + COMPLEX),
    # PyTorch differentiates only where src has the shape of index.
    Case(
        "aten::scatter.src",
        T(4, 3),
        1,
        L([[1, 2], [0, 1]]),
        T(5, 4),
        name="larger src",
        backward=False,
    ),
    Case("aten::scatter.src", T(3), 0, T(0, dtype=torch.int64), T(0), name="no indices"),
    Case("aten::scatter.src", T(), 0, L(0), T(), name="scalar"),
    Case("aten::scatter.value", T(4, 3), 0, ONCE, 2.5, dtypes=FLOATS),
    Case("aten::scatter.value", T(4, 3), 0, ONCE, 1, name="int", dtypes=ALL),
    Case(
        "aten::scatter.reduce",
        T(4, 3),
        0,
        I(6, 3, high=4),
        T(6, 3),
        kwargs={"reduce": "add"},
        backward=False,
    ),
    Case(
        "aten::scatter.reduce",
        T(4, 3),
        0,
        I(3, 3, high=4),
        T(3, 3),
        kwargs={"reduce": "multiply"},
        name="multiply",
        dtypes=NUMBERS,
        backward=False,
    ),
    Case(
        "aten::scatter.value_reduce",
        T(4, 3),
        1,
        I(4, 2, high=3),
        2,
        kwargs={"reduce": "add"},
        backward=False,
    ),
    Case("aten::scatter_add", T(4, 3), 0, I(6, 3, high=4), T(6, 3), dtypes=NUMBERS + COMPLEX),
    Case("aten::scatter_add", T(4, 3), -1, I(2, 5, high=3), T(4, 6), name="crop", backward=False),
] + [
    Case(
        "aten::scatter_reduce.two",
        T(4, 3, low=1, high=4),
        0,
        L([[1, 0, 3], [1, 2, 3], [0, 0, 1]]),
        T(3, 3, low=1, high=4),
        how,
        kwargs={"include_self": itself},
        name=f"{how} {'with' if itself else 'without'} self",
        dtypes=NUMBERS,
    )
    for how in ("sum", "prod", "mean", "amax", "amin")
    for itself in (True, False)
]
CASES += [
    Case(
        "aten::scatter_reduce.two",
        V([1.0, 2.0]),
        0,
        L([0, 0, 1]),
        V([3.0, float("nan"), 1.0]),
        "amax",
        name="nan",
        backward=False,  # PyTorch's formula divides by zero here
        dtypes=(torch.float32,),
    ),
    Case(
        "aten::scatter_reduce.two",
        V([-7, 5, 0]),
        0,
        L([0, 0, 1]),
        V([-2, 0, 2]),
        "mean",
        name="rounds down",
        dtypes=INTS[:2],
    ),
]
test_scatter = cases_to_tests(CASES)
