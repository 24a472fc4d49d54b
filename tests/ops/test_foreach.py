# Every foreach operator, functional and in place, over lists of unequal shapes.
import pytest
import torch
from harness import Case, P, T, cases_to_tests
from support import DEVICE

LIST = [P(2, 3), P(4), P()]
SMALL = [P(2, 3, high=0.9), P(4, high=0.9), P(high=0.9)]
MATS = [T(2, 3), T(4, 3)]

UNARY = [
    "abs",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "expm1",
    "floor",
    "frac",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "neg",
]
UNARY += [
    "reciprocal",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "atan",
    "max",
]
SCALARS = [0.5, 2.0, 3.5]


def case(overload, *args, **options):
    return Case(
        f"aten::_foreach_{overload}", *args, dtypes=(torch.float32, torch.float64), **options
    )


CASES = [case(name, LIST) for name in UNARY]
CASES += [case(name, SMALL) for name in ("acos", "asin")]
for name in ("add", "sub", "mul", "div", "clamp_max", "clamp_min", "maximum", "minimum", "pow"):
    CASES += [
        case(f"{name}.List", LIST, LIST),
        case(f"{name}.Scalar", LIST, 1.25),
        case(f"{name}.ScalarList", LIST, SCALARS),
    ]
CASES += [
    case("add.List", LIST, LIST, kwargs={"alpha": 0.3}, name="alpha"),
    # PyTorch's own formulas of these fail ("inconsistent range for TensorList output").
    case("add.Tensor", LIST, P(), backward=False),
    case("add.Tensor", LIST, P(), kwargs={"alpha": 3}, name="alpha", backward=False),
    case("mul.Tensor", LIST, P(), backward=False),
    case("div.Tensor", LIST, P(), backward=False),
    case("pow.ScalarAndTensor", 2.5, LIST, strides="plain"),
    case("lerp.List", LIST, LIST, SMALL),
    case("lerp.Scalar", LIST, LIST, 0.3),
    case("lerp.ScalarList", LIST, LIST, SCALARS),
    case("norm.Scalar", LIST),
    case("norm.Scalar", LIST, 1, name="one"),
    case("norm.Scalar", LIST, float("inf"), name="infinity"),
    # PyTorch has no derivatives of powsum, copy and zero.
    case("powsum.Scalar", LIST, 3, backward=False),
    case("copy", LIST, LIST, backward=False),
    case("clone", LIST),
    case("zero", LIST, backward=False),
    case("mm", MATS, [T(3, 2), T(3, 5)]),
]
VECTORS = LIST[:2]
for name in ("addcmul", "addcdiv"):
    # PyTorch's formula of addcdiv selects from every tensor, which a 0-dim one refuses.
    options = {"backward": name == "addcmul"}
    CASES += [
        case(f"{name}.Scalar", LIST, LIST, LIST, 0.3, **options),
        case(f"{name}.ScalarList", LIST, LIST, LIST, SCALARS, **options),
        # The numbers are a host tensor, as PyTorch demands; see below.
    ]
GRADIENTS = {"name": "gradients", "forms": ("functional", "backward")}
CASES += [
    case("addcdiv.Scalar", VECTORS, VECTORS, VECTORS, 0.3, **GRADIENTS),
    case("addcdiv.ScalarList", VECTORS, VECTORS, VECTORS, SCALARS[:2], **GRADIENTS),
]
test_foreach = cases_to_tests(CASES)

# In place: what the optimizers call.
IN_PLACE = {
    "add_": (lambda t: torch._foreach_add_(t, 1.5)),
    "mul_": (lambda t: torch._foreach_mul_(t, [0.5, 2.0])),
    "sub_": (lambda t: torch._foreach_sub_(t, t, alpha=0.25)),
    "lerp_": (lambda t: torch._foreach_lerp_(t, [x * 2 for x in t], 0.1)),
    "addcmul_": (lambda t: torch._foreach_addcmul_(t, t, t, 0.5)),
    "addcdiv_": (lambda t: torch._foreach_addcdiv_(t, t, t, [1.5, 0.5])),
    "sqrt_": (lambda t: torch._foreach_sqrt_(t)),
    "zero_": (lambda t: torch._foreach_zero_(t)),
    "maximum_": (lambda t: torch._foreach_maximum_(t, 1.0)),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_writes_the_tensors_of_the_list(name):
    def run(device):
        base = torch.arange(1.0, 7.0).view(2, 3).to(device)
        tensors = [torch.linspace(0.5, 2, 4).to(device), base.t()]
        IN_PLACE[name](tensors)
        return [tensors[0].cpu(), base.cpu()]

    for got, want in zip(run(DEVICE), run("cpu"), strict=True):
        torch.testing.assert_close(got, want)


@pytest.mark.parametrize("op", [torch._foreach_addcmul, torch._foreach_addcdiv])
def test_numbers_from_a_host_tensor(op):
    tensors = [torch.tensor([1.0, 2.0]), torch.tensor([3.0])]
    numbers = torch.tensor([0.5, 2.0])
    want = op(tensors, tensors, tensors, numbers)
    there = [t.to(DEVICE) for t in tensors]
    for got, expected in zip(op(there, there, there, numbers), want, strict=True):
        torch.testing.assert_close(got.cpu(), expected)


def test_out_writes_the_given_tensors():
    outs = [torch.empty(2, device=DEVICE), torch.empty(1, device=DEVICE)]
    inputs = [torch.tensor([1.0, 4.0], device=DEVICE), torch.tensor([9.0], device=DEVICE)]
    torch.ops.aten._foreach_sqrt.out(inputs, out=outs)
    assert [o.tolist() for o in outs] == [[1.0, 2.0], [3.0]]


def test_every_overload_has_a_case():
    names = {op.partition(".")[0] for op in torch._C._dispatch_get_all_op_names()}
    bases = {n for n in names if n.startswith("aten::_foreach_") and not n.endswith("_")}
    assert bases == {c.op.partition(".")[0] for c in CASES}
