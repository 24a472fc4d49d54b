# Convolutions, plain and transposed, with their gradients and the gradients of those.
import pytest
import torch
from harness import FLOATS, Case, T, cases_to_tests
from support import DEVICE
from torch.nn import functional as F

TOL = {
    torch.float32: (1e-4, 1e-4),
    torch.bfloat16: (5e-2, 5e-2),
    torch.float16: (1e-2, 1e-2),
}
F32 = (torch.float32,)


def geometry(stride, padding, dilation, transposed=False, output_padding=0, groups=1, rank=2):
    def spread(value):
        return list(value) if isinstance(value, tuple) else [value] * rank

    values = (spread(stride), spread(padding), spread(dilation), transposed, spread(output_padding))
    return (*values, groups)


def plain(name, *geo, x=(2, 4, 9, 8), w=(6, 4, 3, 2), dtypes=F32, **options):
    args = (T(*x), T(*w), T(w[0]), *geometry(*geo, rank=len(x) - 2, **options))
    return Case("aten::convolution", *args, name=name, dtypes=dtypes, tol=TOL)


def transposed(name, *geo, x=(2, 4, 5, 4), w=(4, 3, 3, 2), dtypes=F32, groups=1, **options):
    rank = len(x) - 2
    geo = geometry(*geo, rank=rank, transposed=True, groups=groups, **options)
    args = (T(*x), T(*w), T(w[1] * groups), *geo)
    return Case("aten::convolution", *args, name=name, dtypes=dtypes, tol=TOL)


CASES = [
    plain("plain", 1, 0, 1, dtypes=FLOATS),
    plain("one dim", 2, 1, 1, x=(2, 4, 9), w=(6, 4, 3)),
    plain("three dims", 2, 1, 1, x=(1, 2, 5, 6, 4), w=(3, 2, 3, 2, 2)),
    plain("strides", (2, 3), (1, 0), 1),
    plain("dilation", 1, 2, (2, 3)),
    plain("rounded away", 3, 0, 1),
    plain("wide padding", 1, 4, 1),
    plain("pointwise", 2, 0, 1, w=(6, 4, 1, 1)),
    plain("groups", 2, 1, 1, w=(6, 2, 3, 2), groups=2, dtypes=FLOATS),
    plain("depthwise", 1, 1, 2, w=(8, 1, 3, 3), groups=4),
    plain("no batch", 1, 1, 1, x=(0, 4, 9, 8)),
    # the same sizes with another dilation must be another program
    plain("dilation 1", 3, 0, 1, x=(1, 1, 9, 9), w=(1, 1, 2, 2)),
    plain("dilation 2", 3, 0, 2, x=(1, 1, 9, 9), w=(1, 1, 2, 2)),
    transposed("transposed", 1, 0, 1, dtypes=FLOATS),
    transposed("transposed one dim", 2, 1, 1, x=(2, 4, 5), w=(4, 3, 3)),
    transposed("transposed three dims", 2, 1, 1, x=(1, 2, 3, 4, 3), w=(2, 3, 3, 2, 2)),
    transposed("transposed groups", 2, 1, 1, w=(4, 3, 3, 2), groups=2),
    transposed("transposed dilation", (1, 2), 0, (3, 2), output_padding=(2, 1)),
    transposed("transposed no batch", 2, 1, 1, x=(0, 4, 5, 4)),
    transposed("output padding 10", 2, 1, 1, w=(4, 3, 3, 3), output_padding=(1, 0)),
    transposed("output padding 01", 2, 1, 1, w=(4, 3, 3, 3), output_padding=(0, 1)),
    transposed("output padding 11", 2, 1, 1, w=(4, 3, 3, 3), output_padding=(1, 1)),
]


def penalty(x, w, **options):
    """The squared gradient of a convolution's sum: its gradient needs the second derivative."""
    x, w = (v.detach().requires_grad_() for v in (x, w))
    y = options.pop("conv", F.conv2d)(x, w, **options).pow(2).sum()
    inner = torch.autograd.grad(y, (x, w), create_graph=True)
    return torch.autograd.grad(sum(g.pow(2).sum() for g in inner), (x, w))


def second(name, *args, **options):
    return Case(
        name,
        *args,
        fn=lambda x, w: penalty(x, w, **options),
        dtypes=F32,
        backward=False,
        tol=(1e-3, 1e-2),
    )


SECOND = [
    second("penalty strided", T(2, 3, 8, 8), T(4, 3, 3, 3), stride=2, padding=1),
    second("penalty groups", T(2, 4, 7, 6), T(4, 2, 3, 2), padding=1, dilation=2, groups=2),
    second(
        "penalty transposed",
        T(2, 3, 4, 4),
        T(3, 2, 3, 3),
        conv=F.conv_transpose2d,
        stride=2,
        padding=1,
        output_padding=1,
    ),
]

FRONT_ENDS = [
    Case("conv2d unbatched", T(4, 9, 8), T(6, 4, 3, 2), fn=F.conv2d, dtypes=F32, tol=TOL),
    Case(
        "conv1d same",
        T(2, 4, 9),
        T(6, 4, 4),
        fn=lambda x, w: F.conv1d(x, w, padding="same"),
        dtypes=F32,
        tol=TOL,
    ),
    Case(
        "conv2d complex",
        T(2, 3, 5, 5),
        T(2, 3, 3, 3),
        fn=F.conv2d,
        dtypes=(torch.complex64,),
        tol=(1e-4, 1e-4),
    ),
]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("name", ["conv{}d", "conv_transpose{}d"])
def test_negative_padding_is_refused(name, rank):
    x, w = torch.ones(1, 1, *[4] * rank, device=DEVICE), torch.ones(1, 1, *[2] * rank).to(DEVICE)
    with pytest.raises(RuntimeError, match="negative padding is not supported"):
        getattr(F, name.format(rank))(x, w, padding=-1)


test_convolution = cases_to_tests(CASES + SECOND + FRONT_ENDS)
