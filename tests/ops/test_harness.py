# The harness itself: example cases, and proof that it fails when a device computes wrong numbers.
import cases
import checks
import harness
import pytest
import torch
from harness import FLOATS, INTS, B, Case, I, P, T, V, cases_to_tests
from support import tpu_only

EXAMPLES = [
    Case(
        "aten::add.Tensor", T(2, 3), T(3), kwargs={"alpha": 2}, dtypes=FLOATS + INTS, pointwise=True
    ),
    Case("aten::mul.Tensor", T(2, 3), 2.5, name="number"),
    Case("aten::sqrt", P(2, 3), pointwise=True),
    Case("aten::sort", T(3, 4, unique=True), dtypes=FLOATS + INTS),
    Case("aten::gather", T(4, 3), 0, I(2, 3, high=4), dtypes=FLOATS),
    Case("aten::where.self", B(2, 3), T(2, 3), T(3)),
    Case("aten::cat", [T(2, 3), T(1, 3)], 0),
    Case("aten::fill_.Scalar", T(2, 3, grad=False), 5, backward=False),
    Case("aten::mm", T(2, 3), T(4, 5), raises=RuntimeError, name="shapes"),
    Case("aten::neg", V([1.0, -0.0, float("nan")]), name="nan", dtypes=(torch.float32,)),
    Case("stack then sum", T(2, 3), fn=lambda x: torch.stack([x, x]).sum(0)),
]
test_example = cases_to_tests(EXAMPLES)


def forms_of(case):
    return [form for c, dtype, form, _ in harness.expand([case]) if dtype == case.dtypes[0]]


def test_forms_come_from_the_schema():
    assert forms_of(EXAMPLES[0]) == list(harness.FORMS)
    assert forms_of(EXAMPLES[3]) == [
        "functional",
        "out",
        "strided",
        "backward",
        "mode_debug",
        "mode_defer",
    ]
    assert forms_of(EXAMPLES[8]) == ["functional"]
    assert cases.out_overload(EXAMPLES[0]) is torch.ops.aten.add.out
    assert cases.inplace_overload(EXAMPLES[0]) is torch.ops.aten.add_.Tensor
    assert cases.foreach_overloads(EXAMPLES[0]) == [
        torch.ops.aten._foreach_add.List,
        torch.ops.aten._foreach_add_.List,
    ]
    assert cases.foreach_overloads(EXAMPLES[1]) == [
        torch.ops.aten._foreach_mul.Scalar,
        torch.ops.aten._foreach_mul_.Scalar,
    ]


def test_fast_set_is_one_dtype_in_all_forms_and_one_more():
    fast = [(d, f) for _, d, f, slow in harness.expand(EXAMPLES[:1]) if not slow]
    assert fast == [(torch.float32, f) for f in harness.FORMS] + [(torch.int32, "functional")]


def test_other_cases_of_an_overload_run_functional_only():
    twice = [Case("aten::exp", T(2)), Case("aten::exp", T(3), name="again")]
    fast = [(c.name, d, f) for c, d, f, slow in harness.expand(twice) if not slow]
    assert [x for x in fast if x[0] == "again"] == [("again", torch.float32, "functional")]


@tpu_only
@pytest.mark.parametrize("form", ["functional", "strided", "backward"])
def test_exact_cases_are_compared_with_float64(form):
    """CPU and device agree in bfloat16, and both are wrong."""
    case = Case(
        "scaled", T(2, 3), exact=True, fn=lambda x: x * (1.1 if x.element_size() == 2 else 1)
    )
    harness.run_one(case, torch.float32, form)
    with pytest.raises(AssertionError, match="not close"):
        harness.run_one(case, torch.bfloat16, form)


class Broken(Case):
    """A case whose operator gives `damage(right result)` on every call after the first, which the
    harness makes on CPU."""

    def __init__(self, *args, damage, **options):
        super().__init__(*args, **options)
        self.damage, self.calls = damage, 0

    def call(self, args, kwargs):
        self.calls += 1
        right = super().call(args, kwargs)
        return right if self.calls == 1 else self.damage(right)


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda r: r * 1.001, "not close"),
        (lambda r: r.double(), "dtype"),
        (lambda r: r[:1], "shape"),
        (lambda r: r.t().contiguous().t(), "strides"),
        (lambda r: torch.full_like(r, float("nan")), "not close"),
    ],
)
@pytest.mark.parametrize("form", ["functional", "strided"])
def test_harness_fails_on_wrong_results(damage, complaint, form):
    with pytest.raises(AssertionError, match=complaint):
        case = Broken("aten::exp", T(2, 3, contiguous=True), damage=damage)
        harness.run_one(case, torch.float32, form)


def test_harness_fails_on_wrong_gradients():
    case = Broken("aten::exp", T(2, 3), damage=lambda r: r * 1.01)
    with pytest.raises(AssertionError, match="not close"):
        harness.run_one(case, torch.float32, "backward")


def test_harness_fails_on_damaged_inputs():
    def write_to_input(x):
        write_to_input.calls += 1
        if write_to_input.calls > 1:
            x.add_(1)
            return (x - 1).exp()
        return x.exp()

    write_to_input.calls = 0
    with pytest.raises(AssertionError, match="not close"):
        harness.run_one(Case("writes", T(2, 3), fn=write_to_input), torch.float32, "functional")


def test_harness_fails_when_a_mode_differs():
    case = Broken("aten::exp", T(2, 3), damage=lambda r: r + 1)
    with pytest.raises(AssertionError, match="not equal"):
        harness.run_one(case, torch.float32, "mode_debug")


def test_missing_operator_is_not_cpus_refusal():
    errors = iter([RuntimeError("shape"), NotImplementedError("aten::mm")])

    def first_cpu_then_device(device):
        raise next(errors)

    with pytest.raises(AssertionError, match="CPU raises"):
        checks.same_outcome(EXAMPLES[0], torch.float32, first_cpu_then_device)
