# Losses: reductions, weights, ignored labels, and gradients.
import math

import pytest
import torch
from harness import Case, I, T, V, cases_to_tests
from support import DEVICE, equals, near, tpu_only

F = torch.nn.functional
NAN = math.nan
F32 = (torch.float32,)
NARROW = (torch.float32, torch.float64, torch.bfloat16)
BOTH = ("functional", "backward")
REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
UNIT = {"low": 0.05, "high": 0.95}
LABELS = V([0, 2, -1, 4], dtype=torch.int64)
WEIGHT = V([0.5, 1.0, 2.0, 0.25, 1.5], grad=False)
GRID_LABELS = I(2, 3, 2, high=5)


def each_reduction(op, *args, name="", **options):
    options = {"forms": BOTH, **options}
    for word, number in REDUCTIONS.items():
        at = [number if a == "reduction" else a for a in args]
        yield Case(f"aten::{op}", *at, name=f"{name} {word}".strip(), **options)


DISTANCES = [
    Case("aten::mse_loss", T(3, 4), T(3, 4), name="all forms"),
    *each_reduction("mse_loss", T(3, 4), T(3, 4), "reduction"),
    *each_reduction("smooth_l1_loss", T(3, 4), T(3, 4), "reduction", 0.5),
    *each_reduction("huber_loss", T(3, 4), T(3, 4), "reduction", 0.5),
    Case("aten::mse_loss", T(0, 3), T(0, 3), name="no elements", backward=False, dtypes=F32),
    Case(
        "aten::smooth_l1_loss", V([0.0, 1.0, -3.0]), V([1.0, 1.0, 1.0]), name="at beta", forms=BOTH
    ),
    Case("aten::huber_loss", V([0.0, 1.0, -3.0]), V([1.0, 1.0, 1.0]), name="at delta", forms=BOTH),
    Case("l1", T(3, 4), T(3, 4), fn=F.l1_loss),
    Case("smooth l1 of beta 0", T(3, 4), T(3, 4), fn=lambda x, y: F.smooth_l1_loss(x, y, beta=0.0)),
]

ENTROPIES = [
    *each_reduction(
        "binary_cross_entropy", T(3, 4, **UNIT), T(3, 4, grad=False, **UNIT), None, "reduction"
    ),
    *each_reduction(
        "binary_cross_entropy",
        T(3, 4, **UNIT),
        T(3, 4, grad=False, **UNIT),
        T(4, grad=False, **UNIT),
        "reduction",
        name="weight",
    ),
    Case(
        "aten::binary_cross_entropy",
        V([0.0, 1.0, 0.0, 1.0]),
        V([0.0, 1.0, 1.0, 0.0]),
        None,
        0,
        name="certain",
        dtypes=F32,
        forms=BOTH,
    ),
    Case(
        "bce with logits",
        T(3, 4),
        T(3, 4, grad=False, **UNIT),
        fn=F.binary_cross_entropy_with_logits,
    ),
    Case(
        "bce with logits and weights",
        T(3, 4),
        T(3, 4, grad=False, **UNIT),
        T(4, grad=False, **UNIT),
        fn=lambda x, y, w: F.binary_cross_entropy_with_logits(x, y, pos_weight=w, weight=w),
    ),
    Case(
        "soft margin",
        T(3, 4),
        V([[1.0, -1.0, 1.0, -1.0]] * 3, grad=False),
        fn=F.soft_margin_loss,
        dtypes=NARROW,
    ),
    Case(
        "kl div",
        T(3, 4),
        T(3, 4, grad=False, **UNIT),
        fn=lambda x, y: F.kl_div(x, y, reduction="batchmean"),
    ),
    Case("kl div of logarithms", T(3, 4), T(3, 4), fn=lambda x, y: F.kl_div(x, y, log_target=True)),
]

LIKELIHOODS = [
    *each_reduction("nll_loss_forward", T(4, 5), LABELS, None, "reduction", -1, dtypes=NARROW),
    *each_reduction(
        "nll_loss_forward", T(4, 5), LABELS, WEIGHT, "reduction", -1, name="weight", dtypes=NARROW
    ),
    *each_reduction(
        "nll_loss_forward",
        T(5),
        V(3, dtype=torch.int64),
        WEIGHT,
        "reduction",
        -100,
        name="one",
        dtypes=NARROW,
    ),
    *each_reduction(
        "nll_loss2d_forward", T(2, 5, 3, 2), GRID_LABELS, None, "reduction", 1, dtypes=NARROW
    ),
    *each_reduction(
        "nll_loss2d_forward",
        T(2, 5, 3, 2),
        GRID_LABELS,
        WEIGHT,
        "reduction",
        -100,
        name="weight",
        dtypes=NARROW,
    ),
    Case(
        "aten::nll_loss_forward",
        V([[-math.inf, 0.0, 1.0], [1.0, -math.inf, 2.0]]),
        V([1, -100], dtype=torch.int64),
        None,
        1,
        -100,
        name="infinite",
        dtypes=F32,
        forms=BOTH,
    ),
    Case(
        "aten::nll_loss_forward",
        T(0, 3),
        I(0, high=3),
        None,
        1,
        -100,
        name="empty batch",
        dtypes=F32,
        forms=("functional",),
    ),
    Case("cross entropy", T(6, 5), I(6, high=5), fn=F.cross_entropy, dtypes=NARROW),
    Case(
        "smoothed cross entropy",
        T(6, 5),
        I(6, high=5),
        fn=lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1),
        dtypes=NARROW,
    ),
    Case(
        "cross entropy of probabilities",
        T(6, 5),
        T(6, 5, grad=False, **UNIT),
        fn=F.cross_entropy,
        dtypes=NARROW,
    ),
]

test_loss = cases_to_tests(DISTANCES + ENTROPIES + LIKELIHOODS)


def test_ignored_labels_do_not_count():
    labels = torch.tensor([-1, -1, 3]).to(DEVICE)
    loss = F.cross_entropy(torch.ones(3, 5).to(DEVICE), labels, ignore_index=-1)
    near(loss, math.log(5))


def test_all_labels_ignored_gives_nan_and_no_gradient():
    x = torch.zeros(2, 3).to(DEVICE).requires_grad_()
    loss = F.nll_loss(x, torch.tensor([0, 0]).to(DEVICE), ignore_index=0)
    loss.backward()
    equals(loss, NAN)
    equals(x.grad, [[0.0] * 3] * 2)


@tpu_only
def test_debug_mode_refuses_a_label_out_of_bounds():
    x, labels = torch.zeros(2, 3).to(DEVICE), torch.tensor([0, 7]).to(DEVICE)
    with torch.tpu.eager_mode("debug"), pytest.raises(IndexError, match="out of bounds"):
        F.nll_loss(x, labels)
