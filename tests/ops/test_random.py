# Random operators: ranges, moments, reproducibility, and agreement of dropout with its gradient.
import math

import pytest
import torch
from support import DEVICE, equals, tpu_only

N = 40_000
FLOATS = (torch.float32, torch.bfloat16, torch.float16, torch.float64)


def device_empty(*shape, dtype=torch.float32):
    return torch.empty(*shape, dtype=dtype, device=DEVICE)


def draw(name, *args, dtype=torch.float32, n=N, **kwargs):
    """n numbers drawn by the in-place operator `name`, on CPU; floats as float64."""
    torch.manual_seed(7)
    x = getattr(device_empty(n, dtype=dtype), name)(*args, **kwargs)
    assert x.dtype == dtype
    return x.cpu().double() if dtype.is_floating_point else x.cpu()


def assert_moments(x, mean, std):
    """Mean and deviation within five standard errors (of a bell-like distribution)."""
    assert abs(x.mean() - mean) < 5 * std / math.sqrt(len(x)) + 1e-3 * std
    assert abs(x.std() - std) < 0.03 * std


# Largest distance between the drawn and the true distribution function; 1.95 / sqrt(N) is
# exceeded by one right draw in a thousand, and the seeds are fixed.
def assert_distribution(x, cdf):
    x = x.sort().values
    steps = torch.arange(len(x) + 1, dtype=torch.float64) / len(x)
    at = cdf(x)
    assert max((at - steps[:-1]).max(), (steps[1:] - at).max()) < 1.95 / math.sqrt(len(x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_excludes_its_end(dtype):
    x = draw("uniform_", dtype=dtype)
    assert x.min() >= 0
    assert x.max() < 1
    assert_moments(x, 0.5, 1 / math.sqrt(12))
    if dtype in (torch.float32, torch.float64):
        assert_distribution(x, lambda t: t)


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_between(dtype):
    x = draw("uniform_", 1, 2, dtype=dtype)
    assert x.min() >= 1
    assert x.max() < 2


def test_uniform_of_complex_numbers_draws_both_parts():
    x = torch.view_as_real(draw("uniform_", 1, 2, dtype=torch.complex64))
    assert x.min() >= 1
    assert x.max() < 2
    assert_moments(x, 1.5, 1 / math.sqrt(12))
    assert (x[..., 0] != x[..., 1]).any()


@pytest.mark.parametrize("dtype", FLOATS)
def test_normal(dtype):
    x = draw("normal_", 3, 2, dtype=dtype)
    assert_moments(x, 3, 2)
    if dtype in (torch.float32, torch.float64):
        assert_distribution(x, lambda t: 0.5 * (1 + torch.erf((t - 3) / 2 / math.sqrt(2))))


def test_normal_of_tensors():
    torch.manual_seed(3)
    mean, std = torch.full((N,), 10.0).to(DEVICE), torch.full((N,), 0.5).to(DEVICE)
    assert_moments(torch.normal(mean, std).cpu().double(), 10, 0.5)
    assert_moments(torch.normal(mean, 2.0).cpu().double(), 10, 2)
    assert_moments(torch.normal(1.0, std).cpu().double(), 1, 0.5)


def test_complex_uniform_draws_both_parts():
    x = draw("uniform_", -1, 2, dtype=torch.complex64)
    for part in (x.real, x.imag):
        assert -1 <= part.min() < -0.9
        assert 1.9 < part.max() < 2
    assert torch.corrcoef(torch.stack([x.real, x.imag]))[0, 1].abs() < 0.05


def test_complex_normal_has_unit_variance():
    torch.manual_seed(3)
    z = torch.randn(N, dtype=torch.complex64, device=DEVICE).cpu()
    assert_moments(z.real.double(), 0, math.sqrt(0.5))
    assert_moments(z.imag.double(), 0, math.sqrt(0.5))
    assert abs((z.real * z.imag).mean()) < 0.02


DISTRIBUTIONS = {
    "exponential_": ((0.5,), lambda t: 1 - torch.exp(-0.5 * t)),
    "cauchy_": ((1, 2), lambda t: torch.atan((t - 1) / 2) / math.pi + 0.5),
    "log_normal_": ((0.5, 0.75), lambda t: 0.5 * (1 + torch.erf((t.log() - 0.5) / 0.75 / 2**0.5))),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name):
    args, cdf = DISTRIBUTIONS[name]
    x = draw(name, *args)
    assert torch.isfinite(x).all()
    assert_distribution(x, cdf)


def test_exponential_is_never_zero():
    assert draw("exponential_", n=1_000_000).min() > 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_geometric(dtype):
    x = draw("geometric_", 0.25, dtype=dtype).double()
    assert x.min() == 1
    assert_moments(x, 4, math.sqrt(0.75) / 0.25)
    assert abs((x == 1).double().mean() - 0.25) < 0.01


INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_random_range_is_exact(dtype):
    x = draw("random_", 3, 11, dtype=dtype).long()
    counts = torch.bincount(x, minlength=11)[3:]
    assert (x.min(), x.max()) == (3, 10)
    assert (counts - N / 8).abs().max() < 5 * math.sqrt(N / 8)


@pytest.mark.parametrize(
    ("dtype", "last"),
    [
        (torch.int8, 2**7 - 1), (torch.uint8, 2**8 - 1), (torch.int16, 2**15 - 1),
        (torch.int32, 2**31 - 1), (torch.int64, 2**63 - 1), (torch.float32, 2**24),
        (torch.bfloat16, 2**8), (torch.float16, 2**11), (torch.float64, 2**53), (torch.bool, 1),
    ],
)  # fmt: skip
def test_random_without_a_range(dtype, last):
    x = draw("random_", dtype=dtype).double()
    assert x.min() >= 0
    assert x.max() <= last
    assert abs(x.mean() / last - 0.5) < 0.02


def test_random_of_wide_ranges():
    x = draw("random_", -(2**63), None, dtype=torch.int64).double()
    assert x.min() < -(2**62)
    assert x.max() > 2**62
    x = draw("random_", 2**40, 2**40 + 3, dtype=torch.int64)
    assert sorted(x.unique().tolist()) == [2**40, 2**40 + 1, 2**40 + 2]


def test_short_floats_stay_below_the_end():
    # 999 of bfloat16 rounds to 1000, which is outside.
    assert draw("random_", 0, 1000, dtype=torch.bfloat16).max() < 1000


def test_randint():
    torch.manual_seed(1)
    x = torch.randint(5, 9, (N,), device=DEVICE)
    assert x.dtype == torch.int64
    assert sorted(x.unique().tolist()) == [5, 6, 7, 8]


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_bernoulli(p):
    assert abs(draw("bernoulli_", p).mean() - p) < 0.015
    torch.manual_seed(1)
    x = torch.bernoulli(torch.full((N,), p).to(DEVICE))
    assert abs(x.mean().item() - p) < 0.015
    assert abs(draw("bernoulli_", torch.full((N,), p).to(DEVICE)).mean() - p) < 0.015


def test_bernoulli_of_each_element():
    equals(torch.bernoulli(torch.tensor([0.0, 1.0, 0.0, 1.0]).to(DEVICE)), [0.0, 1.0, 0.0, 1.0])


@pytest.mark.parametrize("n", [0, 1, 17, 1000])
def test_randperm(n):
    torch.manual_seed(2)
    x = torch.randperm(n, device=DEVICE)
    assert x.dtype == torch.int64
    assert sorted(x.tolist()) == list(range(n))
    if n == 1000:
        assert x.tolist() != list(range(n))


def test_randperm_is_uniform():
    torch.manual_seed(2)
    first = [torch.randperm(4, device=DEVICE)[0].item() for _ in range(400)]
    assert all(60 < first.count(k) < 140 for k in range(4))


def test_multinomial_with_replacement():
    torch.manual_seed(4)
    weights = torch.tensor([[1.0, 0.0, 3.0, 4.0], [0.0, 0.0, 0.0, 2.0]]).to(DEVICE)
    x = torch.multinomial(weights, 8000, replacement=True).cpu()
    counts = torch.bincount(x[0], minlength=4) / 8000
    torch.testing.assert_close(counts, torch.tensor([0.125, 0, 0.375, 0.5]), rtol=0, atol=0.03)
    assert counts[1] == 0
    assert (x[1] == 3).all()


def test_multinomial_without_replacement():
    torch.manual_seed(4)
    weights = torch.tensor([1.0, 0.0, 3.0, 4.0]).to(DEVICE).expand(3000, 4)
    x = torch.multinomial(weights, 3).cpu()
    assert x.dtype == torch.int64
    assert (x.sort().values == torch.tensor([0, 2, 3])).all()
    first = torch.bincount(x[:, 0], minlength=4) / 3000
    torch.testing.assert_close(first, torch.tensor([0.125, 0, 0.375, 0.5]), rtol=0, atol=0.05)
    one = torch.multinomial(weights, 1).cpu()
    one = torch.bincount(one[:, 0], minlength=4) / 3000
    torch.testing.assert_close(one, torch.tensor([0.125, 0, 0.375, 0.5]), rtol=0, atol=0.05)


@tpu_only
def test_multinomial_debug_mode_refuses_negative_weights():
    with torch.tpu.eager_mode("debug"), pytest.raises(RuntimeError, match="element < 0"):
        torch.multinomial(torch.tensor([1.0, -1.0]).to(DEVICE), 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_dropout_gradient_is_zero_where_the_output_is(dtype):
    torch.manual_seed(5)
    x = torch.ones(N, dtype=dtype).to(DEVICE).requires_grad_()
    y = torch.nn.functional.dropout(x, 0.25)
    y.sum().backward()
    kept = y.detach().cpu() != 0
    assert abs(kept.double().mean() - 0.75) < 0.015
    torch.testing.assert_close(x.grad.cpu(), y.detach().cpu())
    torch.testing.assert_close(
        y.detach().cpu()[kept], torch.full((int(kept.sum()),), 4 / 3, dtype=dtype)
    )


def test_native_dropout():
    torch.manual_seed(5)
    x = torch.ones(N).to(DEVICE)
    y, mask = torch.native_dropout(x, 0.25, True)
    assert mask.dtype == torch.bool
    torch.testing.assert_close(y.cpu(), mask.cpu().float() / 0.75)
    y, mask = torch.native_dropout(x, 0.25, False)
    assert mask.all()
    torch.testing.assert_close(y.cpu(), x.cpu())
    grad = torch.ops.aten.native_dropout_backward(
        torch.full((3,), 2.0).to(DEVICE), torch.tensor([True, False, True]).to(DEVICE), 1.5
    )
    equals(grad, [3.0, 0.0, 3.0])
    y, mask = torch.native_dropout(x, 1.0, True)
    assert not mask.any()
    assert not y.any()


def test_equal_seeds_give_equal_draws_and_calls_differ():
    torch.manual_seed(11)
    a, b = torch.rand(100, device=DEVICE).cpu(), torch.rand(100, device=DEVICE).cpu()
    torch.manual_seed(11)
    torch.testing.assert_close(torch.rand(100, device=DEVICE).cpu(), a, rtol=0, atol=0)
    assert (a != b).any()
    assert len(a.unique()) > 95


@pytest.mark.parametrize("make", [torch.rand_like, torch.randn_like])
def test_like(make):
    x = make(device_empty(3, 0, 2))
    assert x.shape == (3, 0, 2)
    y = make(device_empty(2, 3, dtype=torch.bfloat16))
    assert y.dtype == torch.bfloat16
    assert torch.isfinite(y).all()


# --- draws by rejection, and their gradients ------------------------------------------------------


def filled(*values, dtype=torch.float32, n=N):
    return [torch.full((n,), v, dtype=dtype, device=DEVICE) for v in values]


def drawn(sample, *parameters):
    torch.manual_seed(7)
    x = sample(*parameters)
    assert x.dtype == parameters[0].dtype
    assert x.isfinite().all()
    return x.cpu().double()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rate", [0.25, 4.0, 12.0, 100.0])
def test_poisson(rate, dtype):
    x = drawn(torch.poisson, *filled(rate, dtype=dtype))
    assert_moments(x, rate, math.sqrt(rate))


def test_poisson_probabilities():
    x = drawn(torch.poisson, *filled(12.0))
    for k in (5, 12, 20):
        p = math.exp(k * math.log(12) - 12 - math.lgamma(k + 1))
        assert abs((x == k).double().mean() - p) < 5 * math.sqrt(p / N)


def test_poisson_of_nothing_is_nothing():
    equals(torch.poisson(torch.zeros(3, device=DEVICE)), [0.0] * 3)
    assert torch.poisson(torch.zeros(0, device=DEVICE)).numel() == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("n", "p"), [(10, 0.3), (10, 0.9), (40, 0.5), (1000, 0.995), (5000, 0.3)])
def test_binomial(n, p, dtype):
    x = drawn(torch.binomial, *filled(n, p, dtype=dtype))
    assert x.min() >= 0
    assert x.max() <= n
    assert_moments(x, n * p, math.sqrt(n * p * (1 - p)))


def test_certain_binomials():
    counts, chances = torch.tensor([0.0, 7.0, 7.0]), torch.tensor([0.5, 0.0, 1.0])
    equals(torch.binomial(counts.to(DEVICE), chances.to(DEVICE)), [0.0, 0.0, 7.0])


def test_binomial_wants_one_dtype():
    with pytest.raises(RuntimeError):
        torch.binomial(*filled(3.0, n=2), filled(0.5, n=2, dtype=torch.float64)[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [0.2, 1.0, 3.0, 100.0])
def test_gamma(shape, dtype):
    x = drawn(torch._standard_gamma, *filled(shape, dtype=dtype))
    assert x.min() > 0
    assert_moments(x, shape, math.sqrt(shape))
    at = torch.tensor(shape, dtype=torch.float64)
    assert_distribution(x, lambda t: torch.special.gammainc(at, t))


def test_dirichlet():
    alpha = torch.tensor([0.5, 1.0, 3.0], device=DEVICE)
    torch.manual_seed(7)
    x = torch._sample_dirichlet(alpha.expand(N, 3)).cpu().double()
    assert (x.sum(-1) - 1).abs().max() < 1e-6
    for k, a in enumerate(alpha.tolist()):
        assert_moments(x[:, k], a / 4.5, math.sqrt(a * (4.5 - a) / (4.5**2 * 5.5)))
    small = torch._sample_dirichlet(torch.full((50, 3), 0.01, device=DEVICE))
    assert small.isfinite().all()


def test_draws_by_rejection_repeat_from_a_seed():
    for sample, parameters in (
        (torch.poisson, filled(20.0, n=50)),
        (torch.binomial, filled(100.0, 0.4, n=50)),
        (torch._standard_gamma, filled(2.0, n=50)),
    ):
        assert (drawn(sample, *parameters) == drawn(sample, *parameters)).all()


# PyTorch's own gradients are approximations, good to some 1e-3.
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gamma_gradient(dtype):
    torch.manual_seed(0)
    alpha = torch.cat([torch.rand(300) * 20 + 0.05, torch.rand(50) * 900 + 20]).to(dtype)
    x = torch._standard_gamma(alpha)
    got = torch._standard_gamma_grad(alpha.to(DEVICE), x.to(DEVICE)).cpu()
    torch.testing.assert_close(got, torch._standard_gamma_grad(alpha, x), rtol=2e-3, atol=1e-3)


# x of shape 1 is exponential: the quantile's derivative, by central differences of gammainc.
def test_gamma_gradient_is_exact():
    alpha = torch.tensor([0.7, 1.0, 5.0, 99.0, 101.0], dtype=torch.float64)
    x = alpha * torch.tensor([0.5, 1.5, 1.2, 0.9, 1.1], dtype=torch.float64)
    step = 1e-5
    change = torch.special.gammainc(alpha + step, x) - torch.special.gammainc(alpha - step, x)
    density = torch.exp((alpha - 1) * x.log() - x - torch.lgamma(alpha))
    got = torch._standard_gamma_grad(alpha.to(DEVICE), x.to(DEVICE)).cpu()
    torch.testing.assert_close(got, -change / (2 * step) / density, rtol=1e-5, atol=0.0)


def test_dirichlet_gradient():
    torch.manual_seed(0)
    alpha = torch.rand(300, 3, dtype=torch.float64) * 10 + 0.1
    x = torch._sample_dirichlet(alpha)
    arguments = (x, alpha, alpha.sum(-1, keepdim=True).expand_as(alpha))
    got = torch._dirichlet_grad(*(t.to(DEVICE) for t in arguments)).cpu()
    torch.testing.assert_close(got, torch._dirichlet_grad(*arguments), rtol=3e-3, atol=1e-4)


def test_multinomial_draws_at_least_once():
    with pytest.raises(RuntimeError, match="cannot sample n_sample <= 0"):
        torch.multinomial(torch.ones(3, device=DEVICE), 0)


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float8_e5m2])
@pytest.mark.parametrize("name", ["normal_", "uniform_", "exponential_", "cauchy_", "log_normal_"])
def test_fills_of_other_dtypes_are_refused(name, dtype):
    x = torch.zeros(3, dtype=dtype)
    with pytest.raises((RuntimeError, NotImplementedError)) as on_cpu:
        getattr(x.clone(), name)()
    with pytest.raises(type(on_cpu.value)) as here:
        getattr(x.to(DEVICE), name)()
    assert str(here.value).splitlines()[0] == str(on_cpu.value).splitlines()[0]
