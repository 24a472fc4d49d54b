# Reductions of consecutive segments; jagged tensors and compressed row indices.
import pytest
import torch
from harness import FLOATS, Case, T, V, cases_to_tests
from support import DEVICE, equals

F32 = (torch.float32,)
NAN = float("nan")
HALF = {torch.bfloat16: (3e-2, 3e-2), torch.float16: (4e-3, 4e-3)}


def whole(*numbers):
    return V(list(numbers), dtype=torch.int64, grad=False)


ODD = V([1.0, 0.0, 3.0, 0.0, 5.0, NAN, 2.0, 3.0, 0.0, 4.0])


def segments(name, data, reduce, **options):
    kwargs = {"lengths": whole(2, 0, 3), **options.pop("kwargs", {})}
    options = {"dtypes": F32, **options}
    return Case("aten::segment_reduce", data, reduce, kwargs=kwargs, name=name, **options)


SEGMENTS = [
    *[segments(r, T(5, 2), r, dtypes=FLOATS, tol=HALF) for r in ("sum", "mean", "max", "min")],
    segments("prod", T(5, 2), "prod", dtypes=FLOATS, tol=HALF),
    *[
        segments(f"{r} from 2", T(5, 2), r, kwargs={"initial": 2.0})
        for r in ("sum", "mean", "max", "min", "prod")
    ],
    *[
        segments(f"{r} of odd values", ODD, r, kwargs={"lengths": whole(4, 1, 3, 2)})
        for r in ("sum", "mean", "max", "min", "prod")
    ],
    segments("second axis", T(2, 4, 3), "sum", kwargs={
        "lengths": V([[1, 3, 0], [2, 1, 1]], dtype=torch.int64, grad=False), "axis": 1}),
    segments("offsets", T(2, 4, 3), "mean", kwargs={"lengths": None, "axis": 1,
        "offsets": V([[0, 2, 3, 4], [0, 1, 1, 4]], dtype=torch.int64, grad=False)}),
]  # fmt: skip

ROWS = whole(0, 0, 2, 3)
JAGGED = [
    Case("aten::_jagged_to_padded_dense_forward", T(5, 2), [whole(0, 2, 5)], [4], 9.0,
         dtypes=F32, backward=False),
    Case("aten::_jagged_to_padded_dense_forward", T(5), [whole(0, 2, 5)], [2], 0.5,
         name="one dim, cut", dtypes=F32, backward=False),
    Case("aten::_padded_dense_to_jagged_forward", T(2, 4, 3), [whole(0, 2, 5)], 5,
         dtypes=F32, backward=False),
    Case("aten::_padded_dense_to_jagged_forward", T(2, 4, 3), [whole(0, 1, 3)],
         name="length unknown", dtypes=F32, backward=False),
    # CPU takes only dense indices.
    Case("aten::_convert_indices_from_coo_to_csr", ROWS, 5, dtypes=F32, out_dtype=False,
         forms=("functional", "out")),
    Case("aten::_convert_indices_from_coo_to_csr", whole(), 3, name="none", dtypes=F32,
         forms=("functional",)),
    Case("aten::_convert_indices_from_csr_to_coo", whole(0, 2, 2, 4), whole(1, 2, 0, 1),
         dtypes=F32, forms=("functional",)),
    Case("aten::_convert_indices_from_csr_to_coo", whole(0, 2, 2, 4), whole(1, 2, 0, 1),
         kwargs={"out_int32": True, "transpose": True}, name="transposed", dtypes=F32,
         forms=("functional",)),
    Case("aten::_convert_indices_from_csr_to_coo",
         V([[0, 2, 2], [0, 1, 2]], dtype=torch.int64, grad=False),
         V([[1, 2], [0, 1]], dtype=torch.int64, grad=False), name="batch", dtypes=F32,
         forms=("functional",)),
]  # fmt: skip

test_segment_reduce = cases_to_tests(SEGMENTS + JAGGED)


def test_segment_lengths_are_checked_unless_they_are_said_to_be_right():
    data = torch.arange(5.0, device=DEVICE)
    short = torch.tensor([2, 1], device=DEVICE)
    with pytest.raises(RuntimeError, match="Expected all rows of lengths along axis to sum to"):
        torch.segment_reduce(data, "sum", lengths=short)
    with pytest.raises(RuntimeError, match="lengths contains negative value"):
        torch.segment_reduce(data, "sum", lengths=torch.tensor([6, -1], device=DEVICE))
    equals(torch.segment_reduce(data, "sum", lengths=short, unsafe=True), [1.0, 2.0])


def test_assertions_raise_their_message():
    torch._assert_async(torch.tensor([2], device=DEVICE))
    with pytest.raises(RuntimeError, match="must be positive"):
        torch._assert_async(torch.tensor(0.0, device=DEVICE), "must be positive")
    with pytest.raises(RuntimeError, match="nonzero value"):
        torch._assert_async(torch.tensor([False], device=DEVICE))


def test_a_file_becomes_a_tensor(tmp_path):
    path = tmp_path / "numbers"
    torch.tensor([1.0, 2.0, 3.0]).numpy().tofile(path)
    equals(torch.from_file(str(path), size=2, device=DEVICE), [1.0, 2.0])
