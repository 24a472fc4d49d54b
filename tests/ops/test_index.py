# Reading and writing by index tensors and masks.
import pytest
import torch
from harness import BOOL, COMPLEX, FLOATS, INTS, B, Case, I, T, V, cases_to_tests
from support import DEVICE

NUMBERS = FLOATS + INTS
ALL = NUMBERS + BOOL
F32 = (torch.float32,)
# CPU rounds every step of an accumulation to the half type.
HALF = {torch.bfloat16: (3e-2, 3e-2), torch.float16: (4e-3, 4e-3)}


def L(values):
    return V(values, dtype=torch.int64, grad=False)


def M(values):
    return V(values, dtype=torch.bool, grad=False)


def at(*index):
    """x[index] through Python, masks and slices included."""
    return lambda x, *tensors: x[tuple(tensors[i] if isinstance(i, int) else i for i in index)]


ALL_OF = slice(None)

READ = [
    Case("aten::index.Tensor", T(5, 3), [I(4, high=5)], dtypes=ALL + COMPLEX),
    Case("aten::index.Tensor", T(5, 3), [None, I(2, 2, high=3)], name="second"),
    Case("aten::index.Tensor", T(5, 3, 4), [I(2, 1, high=5), I(3, high=3)], name="broadcast"),
    Case("aten::index.Tensor", T(5, 3, 4), [I(2, high=5), None, I(2, high=4)], name="apart"),
    Case("aten::index.Tensor", T(2, 5, 3, 4), [None, I(2, high=5), I(2, high=3)], name="inside"),
    Case("aten::index.Tensor", T(5, 3), [L([-1, 0, -5])], name="negative"),
    Case("aten::index.Tensor", T(5, 3), [I(2, high=5, dtype=torch.int32)], name="int32"),
    Case("aten::index.Tensor", T(5), [I(high=5)], name="scalar index"),
    Case(
        "aten::index.Tensor", T(2, 3, 4, 5), [None, T(0, 6, dtype=torch.int64)], name="no indices"
    ),
    Case("aten::index_select", T(5, 3), 0, I(4, high=5), dtypes=ALL + COMPLEX),
    Case("aten::index_select", T(5, 3), -1, I(2, high=3, dtype=torch.int32), name="int32"),
    Case("aten::index_select", T(5, 3), 1, I(high=3), name="scalar index"),
    Case("aten::index_select", T(), 0, L([0]), name="scalar"),
    Case("aten::index_select", T(0, 1, 2, 0), 1, I(3, high=1), name="no elements"),
    Case("aten::gather", T(4, 3), 0, I(2, 3, high=4), dtypes=ALL + COMPLEX),
    Case("aten::gather", T(4, 3), 1, I(2, 5, high=3), name="fewer rows"),
    Case("aten::gather", T(4, 3, 2), -1, I(4, 1, 3, high=2), name="three dims"),
    Case("aten::gather", T(4, 3), 0, T(0, 3, dtype=torch.int64), name="no indices"),
    Case("aten::gather", T(), 0, L(0), name="scalar"),
    Case("aten::take", T(4, 3), I(2, 3, high=12), dtypes=ALL),
    Case("aten::take", T(4, 3), L([-1, 0]), name="negative"),
    Case("take_along_dim", T(4, 3), I(4, 1, high=3), fn=lambda x, i: x.take_along_dim(i, 1)),
    Case("x[mask]", T(4, 3), B(4, 3), fn=lambda x, m: x[m]),
    Case("x[:, mask]", T(4, 3), B(3), fn=lambda x, m: x[:, m]),
    Case("x[1:3, i]", T(4, 3), I(2, high=3), fn=at(slice(1, 3), 0)),
    Case("x[..., None, i]", T(4, 3), I(2, high=3), fn=at(Ellipsis, None, 0)),
]

WRITE = [
    Case("aten::index_put", T(5, 3), [L([3, 0, 1])], T(3, 3), dtypes=ALL),
    Case("aten::index_put", T(5, 3), [None, L([2, 0])], T(2), name="broadcast values"),
    Case("aten::index_put", T(5, 3, 4), [L([3, 1]), None, L([0, 2])], T(2, 3), name="apart"),
    Case("aten::index_put", T(5), [L([0, 0, -1])], T(3), True, name="accumulate", dtypes=NUMBERS),
    Case("aten::index_put", T(5, 3), [L([4, 1]), L([0, 2])], T(1), name="one value"),
    Case("aten::index_put", T(5, 3), [T(0, dtype=torch.int64)], T(1), name="no indices"),
    Case("aten::index_put", T(4, 3), [B(4, 3)], T(1), name="mask"),
    Case("aten::index_put", T(4, 3), [M([True, False, True, False])], T(2, 3), name="mask rows"),
    Case("aten::index_put", T(4, 3), [None, M([True, False, True])], T(4, 2), name="mask columns"),
    Case("aten::index_put", T(4, 3), [B(4, 3)], T(1), True, name="mask accumulate"),
    Case("aten::_unsafe_index.Tensor", T(5, 3), [I(4, high=5)], name="unsafe"),
    Case("aten::_unsafe_index_put", T(5), [L([3, 1])], T(2)),
    Case("aten::index_add", T(5, 3), 0, I(4, high=5), T(4, 3), dtypes=NUMBERS),
    Case(
        "aten::index_add",
        T(5, 3),
        1,
        L([2, 0]),
        T(5, 2),
        kwargs={"alpha": 3},
        name="alpha",
        tol=HALF,
    ),
    Case(
        "aten::index_add",
        T(5, 3),
        1,
        L([2, 2]),
        T(5, 2),
        kwargs={"alpha": -0.3},
        name="float alpha",
        tol=HALF,
    ),
    Case("aten::index_copy", T(5, 3), 0, L([4, 0]), T(2, 3), dtypes=ALL),
    Case("aten::index_copy", T(5, 3), -1, L([2, 0]), T(5, 2), name="last dim"),
    Case("aten::index_fill.int_Scalar", T(5, 3), 0, L([4, -5]), 2.5, dtypes=ALL),
    Case("aten::index_fill.int_Tensor", T(5, 3), 1, L([2, 0]), T(), name="tensor"),
    Case("aten::put", T(4, 3), L([0, 11, -2]), T(3), dtypes=ALL),
    Case("aten::put", T(4, 3), L([0, 11, 0]), T(3), True, name="accumulate", dtypes=NUMBERS),
] + [
    Case(
        "aten::index_reduce",
        T(5, 3, low=1, high=4),
        0,
        L([1, 3, 1, 4]),
        T(4, 3, low=1, high=4),
        how,
        kwargs={"include_self": itself},
        name=f"{how} {'with' if itself else 'without'} self",
        dtypes=NUMBERS,
    )
    for how in ("prod", "mean", "amax", "amin")
    for itself in (True, False)
]

# CPU lays the coordinates of nonzero out by dim, Meta those of nonzero_static; here both are rows.
MASKS = [
    Case("aten::nonzero", V([[0, 2, 0], [1, 0, 3]]), dtypes=ALL, backward=False, strides=False),
    Case("aten::nonzero", M([False, True, False, True, False]), name="rank 1", dtypes=BOOL),
    Case("aten::nonzero", V(True), name="scalar", dtypes=BOOL),
    Case("aten::nonzero", V(False), name="scalar zero", dtypes=BOOL),
    Case("aten::nonzero", T(0, 3), name="no elements", backward=False),
    Case("aten::nonzero", V([0.0, 0.0]), name="none", dtypes=F32, backward=False),
    Case(
        "aten::nonzero_static",
        V([[0, 2, 0], [1, 0, 3]]),
        kwargs={"size": 5},
        dtypes=ALL,
        backward=False,
        strides=False,
    ),
    Case(
        "aten::nonzero_static",
        V([[0, 2, 0], [1, 0, 3]]),
        kwargs={"size": 2, "fill_value": 7},
        name="cut",
        dtypes=INTS,
        strides=False,
    ),
    Case("aten::masked_select", T(4, 3), B(4, 3), dtypes=ALL),
    Case("aten::masked_select", T(4, 1), B(3), name="broadcast"),
    Case("aten::masked_scatter", T(4, 3), B(4, 3), T(12), dtypes=ALL),
    Case("aten::masked_scatter", T(4, 3), M([True, False, True]), T(8), name="broadcast"),
    Case(
        "aten::masked_scatter_backward",
        T(4, 3),
        B(4, 3),
        [20],
        fn=lambda x, m, n: torch.ops.aten.masked_scatter_backward(x, m, n),
    ),
]

SEARCH = [
    Case(
        "aten::searchsorted.Tensor",
        V([1, 3, 3, 5]),
        V([0, 1, 3, 4, 6]),
        dtypes=NUMBERS,
        backward=False,
    ),
    Case(
        "aten::searchsorted.Tensor",
        V([1, 3, 3, 5]),
        V([0, 1, 3, 4, 6]),
        kwargs={"right": True, "out_int32": True},
        name="right",
        backward=False,
    ),
    Case(
        "aten::searchsorted.Tensor",
        V([[1.0, 2.0, 3.0], [0.0, 0.5, 9.0]]),
        V([[2.0, 7.0], [0.5, -1.0]]),
        name="rows",
        backward=False,
    ),
    Case(
        "aten::searchsorted.Tensor",
        V([3.0, 1.0, 2.0]),
        V([2.0, 2.5]),
        kwargs={"sorter": L([1, 2, 0]), "side": "right"},
        name="sorter",
        backward=False,
    ),
    Case(
        "aten::searchsorted.Tensor",
        V([1.0, 2.0]),
        V([float("nan")]),
        name="nan",
        dtypes=F32,
        backward=False,
    ),
    Case("aten::searchsorted.Scalar", V([1.0, 2.0, 4.0]), 2.0, backward=False),
    Case("aten::bucketize.Tensor", T(3, 4), V([-1, 0, 2]), dtypes=NUMBERS, backward=False),
    Case(
        "aten::bucketize.Scalar",
        2,
        V([1, 2, 3]),
        kwargs={"right": True},
        dtypes=NUMBERS,
        backward=False,
    ),
    Case(
        "aten::isin.Tensor_Tensor",
        V([[1, 2], [3, 4]]),
        V([4, 1, 9]),
        dtypes=NUMBERS,
        backward=False,
        strides="plain",
    ),
    Case("aten::isin.Tensor_Tensor", V([1.0, 2.0]), T(0), name="empty", backward=False),
    Case(
        "aten::isin.Tensor_Scalar",
        V([1, 2, 3]),
        2,
        kwargs={"invert": True},
        dtypes=NUMBERS,
        backward=False,
    ),
    Case("aten::isin.Scalar_Tensor", 2, V([1, 2, 3]), dtypes=NUMBERS, backward=False),
    Case(
        "aten::isin.Tensor_Tensor",
        V([float("nan"), 1.0]),
        V([float("nan"), 1.0]),
        name="nan",
        dtypes=F32,
        backward=False,
    ),
    Case("aten::histc", T(20), 5, backward=False, dtypes=F32),
    Case("aten::histc", T(20), 4, -1, 1, name="range", backward=False, dtypes=F32),
    Case("aten::histc", V([2.0, 2.0]), 3, name="flat", backward=False, dtypes=F32),
    Case(
        "aten::repeat_interleave.Tensor",
        L([2, 0, 3]),
        kwargs={"output_size": 5},
        backward=False,
        dtypes=F32,
    ),
]

CASES = READ + WRITE + MASKS + SEARCH
test_index = cases_to_tests(CASES)


def test_half_precision_accumulates_in_float32():
    # A running float16 sum of 1/4096 stalls below 1; every slot here collects 131072 terms.
    index = torch.arange(4, device=DEVICE).view(1, 4, 1, 1).expand(2, 4, 256, 256)
    values = torch.full((2, 4, 256, 256), 1 / 4096, dtype=torch.float16, device=DEVICE)
    out = torch.zeros(4, dtype=torch.float16, device=DEVICE)
    out.index_put_((index,), values, accumulate=True)
    torch.testing.assert_close(
        out.cpu(), torch.full((4,), 32.0, dtype=torch.float16), rtol=5e-3, atol=0
    )


def test_out_of_range_reads_clamp_and_writes_drop():
    # What strict mode documents instead of CPU's error.
    x = torch.arange(3.0, device=DEVICE)
    far = torch.tensor([0, 7], device=DEVICE)
    assert x.index_select(0, far).tolist() == [0.0, 2.0]
    assert x.gather(0, far).tolist() == [0.0, 2.0]
    ones = torch.ones(2, device=DEVICE)
    assert x.scatter(0, far, ones).tolist() == [1.0, 1.0, 2.0]
    assert x.index_add(0, far, ones).tolist() == [1.0, 1.0, 2.0]
    # 2**32 must not wrap to 0.
    assert x.gather(0, torch.tensor([2**32], device=DEVICE)).tolist() == [2.0]
    assert x.scatter(0, torch.tensor([2**32], device=DEVICE), 9.0).tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("size", [1_000_000])
def test_large_mask(size):
    mask = torch.rand(size, generator=torch.Generator().manual_seed(0)) > 0.7
    assert torch.equal(mask.to(DEVICE).nonzero().cpu(), mask.nonzero())
