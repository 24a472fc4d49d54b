# Rearranging: cat, flip, roll, repeat, triangles, windows, distances.
import torch
from harness import BOOL, COMPLEX, FLOATS, INTS, Case, T, cases_to_tests

NUMBERS = FLOATS + INTS
ALL = NUMBERS + BOOL
F32_F64 = (torch.float32, torch.float64)
# CPU rounds every step of an accumulation to the half type.
HALF = {torch.bfloat16: (3e-2, 6e-2), torch.float16: (4e-3, 8e-3)}

MOVES = [
    Case("aten::cat", [T(2, 3), T(1, 3), T(4, 3)], dtypes=ALL + COMPLEX),
    Case("aten::cat", [T(2, 3), T(2, 1)], -1, name="last dim"),
    Case("aten::cat", [T(2, 3, dtype=torch.int64), T(2, 1)], 1, name="promotes"),
    Case("aten::cat", [T(0), T(2, 3)], 0, name="legacy empty"),
    Case("aten::cat", [T(0, 3), T(2, 3)], 0, name="empty"),
    Case("aten::cat", [T(2), T(0)], 0, name="rank 1"),
    Case("aten::stack", [T(2, 3), T(2, 3)], 1, dtypes=ALL),
    Case("aten::stack", [T(), T(), T()], 0, name="scalars"),
    Case("aten::_chunk_cat", [T(3, 4, 2), T(5, 2)], 0, 2, dtypes=NUMBERS, backward=False),
    Case("aten::_chunk_cat", [T(2, 3, 4), T(2, 5, 2)], 1, 2, name="inner", backward=False),
    Case("aten::_chunk_cat", [T(2, 3), T(2, 5)], -1, 4, name="last", backward=False),
    Case("aten::split_copy.Tensor", T(5, 4), 2, dtypes=ALL + COMPLEX),
    Case("aten::split_with_sizes_copy", T(5, 4), [1, 0, 3], -1, dtypes=ALL + COMPLEX),
    Case("aten::flip", T(2, 3, 4), [0, -1], dtypes=ALL + COMPLEX),
    Case("aten::flip", T(2, 3), [], name="no dims"),
    Case("aten::flip", T(), [], name="scalar"),
    Case("aten::roll", T(3, 4), [1], [1], dtypes=ALL + COMPLEX),
    Case("aten::roll", T(3, 4), [-5, 2], [0, 1], name="two dims"),
    Case("aten::roll", T(3, 4), [5], [], name="flat"),
    Case("aten::roll", T(0, 4), [5], [0], name="no elements"),
    Case("aten::roll", T(), [1], [], name="scalar"),
    Case("aten::repeat", T(2, 3), [2, 1], dtypes=ALL + COMPLEX),
    Case("aten::repeat", T(2, 1), [3, 1, 2], name="new dim"),
    Case("aten::repeat", T(2), [0], name="zero"),
    Case("aten::repeat", T(), [2, 2], name="scalar"),
    Case("rot90", T(2, 3), fn=lambda x: x.rot90(1, [0, 1])),
    Case("aten::channel_shuffle", T(2, 6, 2, 3), 3, dtypes=NUMBERS),
    Case("aten::pixel_shuffle", T(2, 8, 2, 3), 2, dtypes=NUMBERS),
    Case("aten::pixel_shuffle", T(9, 1, 2), 3, name="no batch"),
    Case("aten::pixel_unshuffle", T(2, 2, 4, 6), 2, dtypes=NUMBERS),
    Case("aten::tril", T(3, 4), dtypes=ALL + COMPLEX),
    Case("aten::tril", T(2, 3, 4), -1, name="below"),
    Case("aten::triu", T(3, 4), 1, dtypes=ALL + COMPLEX),
    Case("aten::triu", T(4, 3), -2, name="most"),
    Case("diag_embed", T(2, 3), fn=lambda x: x.diag_embed(1)),
    Case("kron", T(2, 3), T(2, 2), fn=torch.kron),
]

SCATTERS = [
    Case("aten::select_scatter", T(3, 4), T(4), 0, 1),
    Case("aten::slice_scatter", T(5, 4), T(2, 4), 0, 1, 5, 2),
    Case("aten::diagonal_scatter", T(3, 4), T(3)),
    Case("aten::select_backward", T(4), [3, 4], 0, 2),
    Case("aten::slice_backward", T(2, 4), [5, 4], 0, 1, 5, 2),
    Case("aten::diagonal_backward", T(3), [3, 4], 0, 0, 1),
]

WINDOWS = [
    Case("aten::unfold_backward", T(2, 3, 4), [2, 6], 1, 4, 1, tol=HALF),
    Case("aten::unfold_backward", T(3, 2, 3), [8, 2], 0, 3, 2, name="step", tol=HALF),
    Case("aten::unfold_backward", T(3, 2), [9], 0, 2, 3, name="gaps"),
    Case("aten::unfold_backward", T(1, 5), [7], 0, 5, 3, name="one window", tol=HALF),
    Case("aten::unfold_backward", T(1), [], 0, 1, 1, name="scalar"),
    Case("aten::im2col", T(2, 3, 5, 6), [2, 3], [1, 1], [0, 0], [1, 1], dtypes=FLOATS),
    Case("aten::im2col", T(2, 3, 7, 8), [2, 3], [2, 1], [1, 2], [2, 3], name="all options"),
    Case("aten::im2col", T(3, 5, 6), [3, 3], [1, 1], [1, 1], [1, 1], name="no batch"),
    Case("aten::col2im", T(2, 18, 16), [5, 6], [2, 3], [1, 1], [0, 0], [1, 1], tol=HALF),
    Case(
        "aten::col2im",
        T(2, 18, 16),
        [7, 8],
        [2, 3],
        [2, 1],
        [1, 2],
        [2, 3],
        name="all options",
        tol=HALF,
    ),
    Case(
        "aten::col2im", T(18, 16), [5, 6], [2, 3], [1, 1], [0, 0], [1, 1], name="no batch", tol=HALF
    ),
]

DISTANCES = (
    [
        Case("aten::_cdist_forward", T(2, 3, 4), T(2, 5, 4), p, None, name=f"p {p}", dtypes=F32_F64)
        for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf"))
    ]
    + [
        Case(
            "aten::_cdist_backward",
            T(2, 3, 5),
            T(2, 3, 4),
            T(2, 5, 4),
            p,
            T(2, 3, 5, low=0.5, high=2),
            name=f"p {p}",
            dtypes=F32_F64,
            backward=False,
        )
        for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf"))
    ]
    + [
        Case(
            "aten::_cdist_forward",
            T(30, 4),
            T(28, 4),
            2.0,
            None,
            name="by product",
            dtypes=F32_F64,
            tol=(1e-4, 1e-4),
        ),
        Case(
            "aten::_cdist_forward", T(1, 3, 4), T(2, 5, 4), 2.0, 2, name="batches", dtypes=F32_F64
        ),
        Case(
            "aten::_cdist_forward",
            T(3, 0),
            T(5, 0),
            2.0,
            None,
            name="no columns",
            dtypes=F32_F64,
            backward=False,
        ),
        Case("cdist", T(4, 3), T(5, 3), fn=lambda x, y: torch.cdist(x, y, p=1.5), dtypes=F32_F64),
    ]
    + [
        Case("aten::_pdist_forward", T(5, 3), p, name=f"p {p}", dtypes=F32_F64)
        for p in (0.0, 1.0, 2.0, 3.0, float("inf"))
    ]
    + [
        Case(
            "aten::_pdist_backward",
            T(10),
            T(5, 3),
            p,
            T(10, low=0.5, high=2),
            name=f"p {p}",
            dtypes=F32_F64,
            backward=False,
        )
        for p in (1.0, 2.0, 3.0, float("inf"))
    ]
)

CASES = MOVES + SCATTERS + WINDOWS + DISTANCES
test_shape = cases_to_tests(CASES)
