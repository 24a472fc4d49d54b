# sort, topk, elements at a rank, unique.
import torch
from harness import BOOL, FLOATS, INTS, Case, T, V, cases_to_tests

NAN, INF = float("nan"), float("inf")
NUMBERS = FLOATS + INTS
ALL = NUMBERS + BOOL
F32 = (torch.float32,)
MIXED = V([1.0, NAN, -0.0, 0.0, INF, NAN, -INF])


def values_only(got, want):
    """Indices of equal elements are unspecified: only values are compared."""
    if got.dtype != torch.int64:
        torch.testing.assert_close(got, want, equal_nan=True)


CASES = [
    Case("aten::sort", T(3, 5, unique=True), dtypes=NUMBERS),
    Case("aten::sort", T(3, 5, unique=True), 0, True, name="descending", dtypes=NUMBERS),
    Case("aten::sort.stable", V([2, 1, 2, 1, 3]), kwargs={"stable": True}, dtypes=NUMBERS),
    Case(
        "aten::sort.stable",
        V([2, 1, 2, 1, 3]),
        kwargs={"stable": True, "descending": True},
        name="descending",
        dtypes=NUMBERS,
    ),
    Case(
        "aten::sort.stable",
        V([True, False, True]),
        kwargs={"stable": True},
        name="bool",
        dtypes=BOOL,
    ),
    Case("aten::sort.stable", MIXED, kwargs={"stable": True}, name="nan", dtypes=FLOATS),
    Case(
        "aten::sort.stable",
        MIXED,
        kwargs={"stable": True, "descending": True},
        name="nan descending",
        dtypes=FLOATS,
    ),
    Case("aten::sort", T(), name="scalar"),
    Case("aten::sort", T(3, 0), name="no elements"),
    Case("aten::sort", T(2, 5), fn=lambda x: x.msort(), name="msort"),
    Case("aten::sort", T(2, 5, unique=True), fn=lambda x: x.argsort(1), name="argsort"),
    Case("aten::topk", T(3, 7, unique=True), 3, dtypes=NUMBERS),
    Case("aten::topk", T(3, 7, unique=True), 2, 0, False, name="smallest", dtypes=NUMBERS),
    Case("aten::topk", T(9, unique=True), 9, name="all"),
    Case("aten::topk", T(9), 0, name="zero"),
    Case("aten::topk", MIXED, 3, name="nan", dtypes=F32, check=values_only, backward=False),
    Case(
        "aten::topk",
        MIXED,
        6,
        -1,
        False,
        name="nan smallest",
        dtypes=F32,
        check=values_only,
        backward=False,
    ),
    Case("aten::kthvalue", T(3, 7, unique=True), 4, dtypes=NUMBERS),
    Case("aten::kthvalue", T(3, 7, unique=True), 1, 0, True, name="keepdim"),
    Case("aten::kthvalue", MIXED, 6, name="nan", dtypes=F32, check=values_only, backward=False),
    Case("aten::median", T(3, 5, unique=True), dtypes=NUMBERS),
    Case("aten::median", T(4, unique=True), name="even"),
    Case("aten::median", V([NAN, 1.0, 2.0]), name="nan", dtypes=F32),
    Case("aten::median", T(0), name="no elements", backward=False),
    Case("aten::median.dim", T(3, 6, unique=True), 1, dtypes=NUMBERS),
    Case("aten::median.dim", V([3.0, 1.0, 2.0, NAN, NAN]), 0, name="nan", dtypes=F32),
    Case("aten::median.dim", T(3, 6, unique=True), 0, True, name="keepdim"),
    Case("aten::nanmedian", V([NAN, 1.0, 2.0]), name="nan", dtypes=F32),
    Case("aten::nanmedian", T(5, unique=True), dtypes=NUMBERS),
    Case(
        "aten::nanmedian.dim",
        V([[NAN, 1.0, 5.0], [NAN, NAN, NAN]]),
        1,
        name="nan",
        dtypes=F32,
        backward=False,
    ),
    Case("aten::mode", V([[3, 1, 2, 1, 3], [4, 4, 0, 0, 0]]), dtypes=NUMBERS),
    Case("aten::mode", V([[3, 1], [2, 1]]), 0, True, name="keepdim"),
    Case("aten::_unique2", V([[3, 1, 3], [2, 1, 0]]), True, True, True, dtypes=ALL, backward=False),
    Case("aten::_unique2", V([[3, 1, 3], [2, 1, 0]]), name="values", dtypes=ALL, backward=False),
    Case(
        "aten::_unique2",
        V([3, 1, 3]),
        True,
        False,
        True,
        name="counts",
        dtypes=NUMBERS,
        backward=False,
    ),
    Case(
        "aten::_unique2",
        V([NAN, 1.0, NAN]),
        True,
        True,
        True,
        name="nan",
        dtypes=F32,
        backward=False,
    ),
    Case("aten::_unique2", T(0), True, True, True, name="no elements", backward=False),
    Case("aten::_unique", V([3, 1, 3]), True, True, dtypes=NUMBERS, backward=False),
    Case(
        "aten::unique_consecutive", V([1, 1, 2, 1, 1]), True, True, dtypes=NUMBERS, backward=False
    ),
    Case(
        "aten::unique_consecutive",
        V([[1, 1, 2], [3, 3, 4]]),
        True,
        True,
        1,
        name="dim",
        dtypes=NUMBERS,
        strides=False,
        backward=False,
    ),
    Case(
        "aten::unique_dim",
        V([[2, 1], [0, 3], [2, 1], [0, 1]]),
        0,
        True,
        True,
        True,
        dtypes=NUMBERS,
        backward=False,
    ),
    Case(
        "aten::unique_dim",
        V([[[2, 1], [0, 3], [2, 1]], [[0, 1], [5, 0], [0, 1]]]),
        1,
        True,
        True,
        True,
        name="middle",
        dtypes=NUMBERS,
        strides=False,
        backward=False,
    ),
    Case(
        "aten::unique_dim_consecutive",
        V([[1, 1], [1, 1], [2, 1]]),
        0,
        True,
        True,
        dtypes=NUMBERS,
        backward=False,
    ),
]
test_sort = cases_to_tests(CASES)


def test_topk_of_a_whole_row_is_a_permutation():
    x = torch.randn(2000, generator=torch.Generator().manual_seed(0)).bfloat16()
    values, indices = x.to("tpu").topk(2000)
    assert torch.equal(values.cpu(), x.topk(2000).values)
    assert torch.equal(x[indices.cpu()], values.cpu())
    assert torch.equal(indices.cpu().sort().values, torch.arange(2000))
