# Connectionist temporal classification, and margin losses over classes.
import pytest
import torch
from harness import Case, I, T, V, cases_to_tests
from support import DEVICE, no_compiles, tpu_only

F = torch.nn.functional
WIDE = (torch.float32, torch.float64)
TOLERANCE = {torch.float32: (1e-4, 1e-5), torch.float64: (1e-10, 1e-12)}
TARGETS = V([[1, 2, 2], [3, 1, 0], [2, 0, 0]], dtype=torch.int64, grad=False)
# CPU misreads targets in one row that are strided.
ROW = V([1, 2, 2, 3, 1], dtype=torch.int64, grad=False, contiguous=True)


def ctc(name, targets, inputs, lengths, **options):
    def run(x, y):
        return F.ctc_loss(x.log_softmax(-1), y, inputs, lengths, **options)

    return Case(f"ctc {name}", T(7, 3, 4), targets, fn=run, dtypes=WIDE, tol=TOLERANCE)


FULL, SHORT = [6, 5, 7], [3, 2, 0]
CTC = [
    *[ctc(f"{r}", TARGETS, FULL, SHORT, reduction=r) for r in ("none", "mean", "sum")],
    ctc("in one row", ROW, FULL, SHORT),
    ctc("lengths as tensors", ROW, torch.tensor(FULL), torch.tensor(SHORT)),
    ctc("too long to fit", TARGETS, [4, 5, 0], [3, 2, 1], reduction="none"),
    ctc("too long, forgiven", TARGETS, [2, 5, 0], [3, 2, 1], reduction="none", zero_infinity=True),
    ctc("blank of 3", V([[1, 2, 2], [0, 1, 0], [2, 0, 0]], dtype=torch.int64, grad=False), FULL,
        SHORT, blank=3),
    ctc("no targets", V([[], [], []], dtype=torch.int64, grad=False), FULL, [0, 0, 0]),
    Case("ctc unbatched", T(7, 4), V([1, 2], dtype=torch.int64, grad=False), dtypes=WIDE,
         tol=TOLERANCE, fn=lambda x, y: F.ctc_loss(x.log_softmax(-1), y, (7,), (2,))),
]  # fmt: skip

LABELS = V([0, 2, 4], dtype=torch.int64, grad=False)
SETS = V([[3, 0, -1, 1], [-1, 0, 0, 0], [0, 1, 2, 3]], dtype=torch.int64, grad=False)
CLASS_WEIGHT = T(5, low=0, high=1, grad=False)
MARGINS = [
    Case(f"multi_margin {p} {reduction} {weight is not None}", T(3, 5), LABELS,
         *([weight] if weight else []), dtypes=WIDE,
         fn=lambda x, y, w=None, p=p, r=reduction: F.multi_margin_loss(x, y, p, 0.7, w,
                                                                       reduction=r))
    for p in (1, 2)
    for reduction in ("none", "mean", "sum")
    for weight in (None, CLASS_WEIGHT)
] + [
    Case("multi_margin of one", T(5), I(high=5), dtypes=WIDE[:1], fn=F.multi_margin_loss),
    *[
        Case("aten::multilabel_margin_loss_forward", T(3, 4), SETS, number, name=str(number),
             dtypes=WIDE, forms=("functional", "strided", "backward", "mode_debug"))
        for number in (0, 1, 2)
    ],
    Case("multilabel of one", T(4), V([3, 0, -1, 1], dtype=torch.int64, grad=False),
         dtypes=WIDE[:1], fn=F.multilabel_margin_loss),
]  # fmt: skip

test_loss_ctc = cases_to_tests(CTC + MARGINS)


def test_lengths_that_do_not_fit_are_refused():
    x, y = torch.randn(7, 3, 4).to(DEVICE), torch.ones(3, 2, dtype=torch.long).to(DEVICE)
    with pytest.raises(RuntimeError, match="value at most 7"):
        F.ctc_loss(x, y, [8, 1, 1], [1, 1, 1])


@tpu_only
def test_new_lengths_need_no_new_program():
    x = torch.randn(7, 3, 4).log_softmax(-1).to(DEVICE)
    y = torch.ones(3, 2, dtype=torch.long).to(DEVICE)
    F.ctc_loss(x, y, [7, 5, 6], [2, 1, 1]).cpu()
    with no_compiles("ctc_loss of other lengths"):
        F.ctc_loss(x, y, [4, 6, 7], [1, 2, 2]).cpu()
