# Activations and their gradients, at ordinary inputs and at the boundaries of their pieces.
import math

import torch
from harness import COMPLEX, FLOATS, INTS, Case, T, V, cases_to_tests
from support import DEVICE

NAN, INF = math.nan, math.inf
F32 = (torch.float32,)
VALUES = ("functional",)
CORE = ("functional", "inplace", "backward")
BOTH = ("functional", "backward")
LINE = [0.0, -0.0, 1.0, -1.0, 3.0, -3.0, 0.5, -0.5, 25.0, -25.0, INF, -INF, NAN]
# NaN is left out of gradients by a choice: the CPU's vector and scalar loops differ there.
GRAD_LINE = LINE[:-1]
# What a CPU's vector loop gives for the gelu of infinity depends on the CPU.
FINITE = [x for x in LINE if abs(x) != INF]
# tanh and erf of large inputs: what is left is rounding of 1.
GELU = {torch.float32: (1e-5, 1e-6), torch.float64: (1e-7, 1e-7)}


def edges(op, *args, **options):
    options = {"dtypes": F32, "forms": VALUES, "name": "edges", **options}
    return Case(f"aten::{op}", V(LINE), *args, **options)


def gradient(op, *args, before=(), tail=(), **options):
    """`op`_backward called as autograd does: grad_output, numbers, the input, numbers."""
    grad = V([0.5 + 0.25 * i for i in range(len(GRAD_LINE))])
    options = {"dtypes": F32, "forms": VALUES, "name": "edges", **options}
    return Case(f"aten::{op}_backward", grad, *before, V(GRAD_LINE), *args, *tail, **options)


ACTIVATIONS = [
    Case("aten::relu", T(3, 4), dtypes=FLOATS + INTS, pointwise=True),
    Case("aten::gelu", T(3, 4), dtypes=FLOATS, tol=GELU),
    Case("aten::gelu", T(3, 4), kwargs={"approximate": "tanh"}, name="tanh", forms=CORE, tol=GELU),
    Case("aten::silu", T(3, 4), dtypes=FLOATS),
    Case("aten::silu", T(3, 4), name="complex", dtypes=COMPLEX, forms=VALUES),
    *(Case(f"aten::{n}", T(3, 4), forms=CORE) for n in ("mish", "hardswish", "hardsigmoid")),
    Case("aten::leaky_relu", T(3, 4), 0.2, forms=CORE),
    Case("aten::elu", T(3, 4), 1.5, forms=CORE),
    Case("aten::elu", T(3, 4), 1.5, 2, 0.5, name="scales", forms=CORE),
    Case("selu", T(3, 4), fn=torch.nn.functional.selu),
    Case("celu", T(3, 4), fn=lambda x: torch.nn.functional.celu(x, 0.7)),
    Case("relu6", T(3, 4), fn=lambda x: torch.nn.functional.relu6(x * 5)),
    Case("aten::hardtanh", T(3, 4), -0.5, 0.75, dtypes=FLOATS + INTS[:1], forms=CORE),
    Case("aten::hardshrink", T(3, 4), 0.3, forms=CORE),
    Case("aten::softshrink", T(3, 4), 0.3, forms=CORE),
    Case("aten::softplus", T(3, 4), forms=CORE),
    Case("aten::softplus", T(3, 4), 2, 1.5, name="threshold", forms=CORE),
    Case("aten::threshold", T(3, 4), 0.2, -7, forms=CORE),
    Case("logsigmoid", T(3, 4), fn=torch.nn.functional.logsigmoid, strides="plain"),
    *(Case("aten::glu", T(2, 4, 6), dim, name=f"dim {dim}", forms=BOTH) for dim in (-1, 0, 1)),
    *(
        Case(
            "aten::glu_jvp",
            *(T(2, 3), T(*wide), T(*wide), dim),
            name=f"dim {dim}",
            dtypes=(torch.float32, torch.float64),  # CPU has no others
            backward=False,
            strides="plain",
        )
        for dim, wide in ((1, (2, 6)), (-2, (4, 3)))
    ),
    Case("prelu", T(2, 3, 4), T(3), fn=torch.nn.functional.prelu),
    Case("prelu of one weight", T(2, 3), T(1), fn=torch.nn.functional.prelu),
    Case(
        "rrelu at test time",
        T(3, 4),
        fn=lambda x: torch.nn.functional.rrelu(x, 0.1, 0.4),
        strides="plain",
    ),
]

EDGES = [
    *(
        edges(n)
        for n in (
            "relu",
            "silu",
            "mish",
            "hardswish",
            "hardsigmoid",
            "hardtanh",
            "hardshrink",
            "softshrink",
            "softplus",
            "elu",
            "leaky_relu",
        )
    ),
    Case("aten::gelu", V(FINITE), dtypes=F32, forms=VALUES, name="edges", tol=GELU[torch.float32]),
    edges("gelu", kwargs={"approximate": "tanh"}, name="tanh edges", tol=GELU[torch.float32]),
    edges("threshold", 0.5, 9),
    Case(
        "logsigmoid edges", V(LINE), fn=torch.nn.functional.logsigmoid, dtypes=F32, backward=False
    ),
    # A bound of 0.3 is what the dtype holds of it: the input 0.3 lies on it.
    Case("aten::hardshrink", V([0.3, -0.3, 0.31]), 0.3, name="bound", forms=BOTH),
    Case("aten::softshrink", V([0.3, -0.3, 0.31]), 0.3, name="bound", forms=BOTH),
]

GRADIENTS = [
    *(gradient(n) for n in ("silu", "mish", "hardswish", "hardsigmoid")),
    gradient("gelu", tol=GELU[torch.float32]),
    gradient("gelu", kwargs={"approximate": "tanh"}, name="tanh", tol=GELU[torch.float32]),
    gradient("threshold", 0.5),
    gradient("hardtanh", -1, 1),
    gradient("hardshrink", 0.5),
    gradient("softshrink", 0.5),
    gradient("softplus", 1, 20),
    gradient("leaky_relu", 0.2, False),
    gradient("elu", before=(1.5, 2, 0.5, False), name="input"),
    gradient("elu", before=(1.5, 2, 0.5, True), name="result"),
    Case("aten::sigmoid_backward", T(3, 4), T(3, 4), dtypes=FLOATS + COMPLEX),
    Case("aten::tanh_backward", T(3, 4), T(3, 4), dtypes=FLOATS + COMPLEX, forms=BOTH),
    Case("aten::logit_backward", T(3, 4), T(3, 4, low=-0.2, high=1.2), forms=VALUES),
    Case(
        "aten::logit_backward", T(3, 4), T(3, 4, low=-0.2, high=1.2), 0.1, name="eps", forms=VALUES
    ),
]

test_activation = cases_to_tests(ACTIVATIONS + EDGES + GRADIENTS)


def test_rrelu_training_keeps_gradients():
    from support import DEVICE

    x = torch.tensor([-2.0, -1.0, 3.0]).to(DEVICE).requires_grad_()
    y = torch.nn.functional.rrelu(x, 0.1, 0.4, training=True)
    y.sum().backward()
    slopes = (y.detach() / x.detach()).cpu()
    torch.testing.assert_close(x.grad.cpu(), slopes)
    assert slopes[2] == 1
    assert ((slopes[:2] >= 0.1) & (slopes[:2] <= 0.4)).all()


def test_gelu_of_infinity():
    assert torch.nn.functional.gelu(torch.tensor([INF, 1e38], device=DEVICE)).tolist() == [
        INF,
        torch.tensor(1e38).item(),
    ]
