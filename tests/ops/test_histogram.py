# Counting: histogram, histogramdd, bincount.
import torch
from harness import INTS, B, Case, I, P, T, V, cases_to_tests
from support import DEVICE, assert_same, equals, no_compiles, tpu_only

WIDE = (torch.float32, torch.float64)
NAN = float("nan")
PLAIN = {"dtypes": WIDE, "backward": False}

HISTOGRAM = [
    Case("aten::histogram.bin_ct", T(5, 8), 7, **PLAIN),
    Case("aten::histogram.bin_ct", T(40), 7, kwargs={"range": [-1.0, 1.5]}, name="range", **PLAIN),
    Case("aten::histogram.bin_ct", T(40), 4, kwargs={"weight": P(40), "density": True},
         name="weighted density", **PLAIN),
    Case("aten::histogram.bin_ct", V([2.0, 2.0]), 3, name="one value", **PLAIN),
    Case("aten::histogram.bin_ct", T(0), 3, name="no elements", **PLAIN),
    Case("aten::histogram.bin_ct", V([0.0, 1.0, 2.0, NAN]), 2, kwargs={"range": [0.0, 2.0]},
         name="edges and nan", **PLAIN),
    Case("aten::histogram.bin_ct", T(4), 0, name="no bins", raises=RuntimeError, **PLAIN),
    Case("aten::histogram.bins_tensor", T(40), V([-1.0, 0.0, 0.25, 2.0]), **PLAIN),
    Case("aten::histogram.bins_tensor", T(40), V([-1.0, 0.0, 0.25, 2.0]), name="density",
         kwargs={"weight": P(40), "density": True}, **PLAIN),
    Case("aten::histogram.bins_tensor", T(4), V([[0.0, 1.0]]), name="two dims",
         raises=RuntimeError, **PLAIN),
    Case("histogramdd", T(30, 2), fn=lambda x: torch.histogramdd(x, [3, 4]), **PLAIN),
    Case("histogramdd of ranges", T(30, 2), **PLAIN,
         fn=lambda x: torch.histogramdd(x, [3, 4], range=[-1.0, 1.0, -2.0, 2.0], density=True)),
    Case("histogramdd of edges", T(30, 2), V([-1.0, 0.0, 2.0]), V([-1.0, 0.5]), **PLAIN,
         fn=lambda x, a, b: torch.histogramdd(x, [a, b], weight=x[:, 0].abs())),
]  # fmt: skip

COUNTS = [
    Case("aten::bincount", I(20, high=9), None, 0, dtypes=WIDE[:1]),
    Case("aten::bincount", T(20, low=0, high=9), None, 12, name="dtypes", dtypes=INTS),
    Case("aten::bincount", I(20, high=9), P(20, grad=False), 3, name="weights",
         dtypes=(*WIDE, torch.float16, torch.int32), tol=(1e-5, 1e-5)),
    Case("aten::bincount", I(0, high=1), None, 3, name="no elements", dtypes=WIDE[:1]),
    Case("aten::bincount", V([-1, 2]), None, 0, name="negative", dtypes=(torch.int64,),
         raises=RuntimeError),
    Case("aten::bincount", B(3), None, 0, name="bool", dtypes=(torch.bool,),
         raises=NotImplementedError),
    Case("aten::bincount", T(3), None, 0, name="floats", dtypes=WIDE[:1],
         raises=NotImplementedError),
]  # fmt: skip

test_histogram = cases_to_tests(HISTOGRAM + COUNTS)


def test_bins_of_histogram_are_given_back():
    edges = torch.tensor([0.0, 1.0, 3.0], device=DEVICE)
    counts, same = torch.histogram(torch.tensor([0.5, 2.0, 3.0], device=DEVICE), edges)
    equals(counts, [1.0, 2.0])
    assert_same(same, edges)


@tpu_only
def test_bincount_of_another_maximum_needs_no_new_program():
    torch.bincount(torch.tensor([1, 5, 6], device=DEVICE))
    numbers = torch.tensor([4, 0, 4], device=DEVICE)
    with no_compiles("bincount"):
        counts = torch.bincount(numbers)
    equals(counts, [1, 0, 0, 0, 2])
