# Random numbers: reproducible, independent, the right distributions, state in and out.
import math

import pytest
import torch
import torch.nn.functional as F
from support import DEVICE, ON_TPU, tpu_only

DRAWS = {
    "rand": lambda d, g: torch.rand(64, device=d, generator=g),
    "randn": lambda d, g: torch.randn(64, device=d, generator=g),
    "randint": lambda d, g: torch.randint(0, 1000, (64,), device=d, generator=g),
    "randperm": lambda d, g: torch.randperm(64, device=d, generator=g),
    "uniform_": lambda d, g: torch.empty(64, device=d).uniform_(-1, 1, generator=g),
    "normal_": lambda d, g: torch.empty(64, device=d).normal_(2, 3, generator=g),
    "bernoulli_": lambda d, g: torch.empty(256, device=d).bernoulli_(0.3, generator=g),
    "bernoulli": lambda d, g: torch.bernoulli(torch.full((256,), 0.5, device=d), generator=g),
    "exponential_": lambda d, g: torch.empty(64, device=d).exponential_(2, generator=g),
    "random_": lambda d, g: torch.empty(64, dtype=torch.int64, device=d).random_(generator=g),
    "multinomial": lambda d, g: torch.multinomial(torch.ones(50, device=d), 20, generator=g),
}


@pytest.mark.parametrize("name", DRAWS)
def test_equal_seeds_equal_draws(device, name):
    draw = DRAWS[name]
    first, second = torch.Generator(device).manual_seed(5), torch.Generator(device).manual_seed(5)
    a, b = draw(device, first), draw(device, first)
    assert torch.equal(a.cpu(), draw(device, second).cpu())
    assert torch.equal(b.cpu(), draw(device, second).cpu())
    assert not torch.equal(a.cpu(), b.cpu())
    other = draw(device, torch.Generator(device).manual_seed(6))
    assert not torch.equal(a.cpu(), other.cpu())


@pytest.mark.parametrize("name", DRAWS)
def test_default_generator_follows_manual_seed(device, name):
    torch.manual_seed(1)
    a = DRAWS[name](device, None)
    torch.manual_seed(1)
    assert torch.equal(a.cpu(), DRAWS[name](device, None).cpu())


def test_generator_state_replays(device):
    g = torch.Generator(device).manual_seed(9)
    torch.rand(3, device=device, generator=g)
    state = g.get_state()
    a = torch.randn(10, device=device, generator=g)
    g.set_state(state)
    assert torch.equal(torch.randn(10, device=device, generator=g).cpu(), a.cpu())
    assert state.device.type == "cpu"
    assert state.dtype == torch.uint8
    other = torch.Generator(device)
    other.set_state(state)
    assert torch.equal(torch.randn(10, device=device, generator=other).cpu(), a.cpu())
    assert g.initial_seed() == 9
    twin = g.clone_state()
    assert torch.equal(
        torch.rand(4, device=device, generator=g).cpu(),
        torch.rand(4, device=device, generator=twin).cpu(),
    )


@tpu_only
def test_module_functions_and_fork_rng():
    torch.tpu.manual_seed(4)
    assert torch.tpu.initial_seed() == 4
    state = torch.tpu.get_rng_state()
    a = torch.rand(3, device=DEVICE)
    with torch.random.fork_rng(devices=[0], device_type="tpu"):
        torch.rand(100, device=DEVICE)
    b = torch.rand(3, device=DEVICE)
    torch.tpu.set_rng_state(state)
    assert torch.equal(torch.rand(3, device=DEVICE).cpu(), a.cpu())
    assert torch.equal(torch.rand(3, device=DEVICE).cpu(), b.cpu())
    assert torch.tpu.seed() == torch.tpu.initial_seed()


@tpu_only
def test_drawing_on_the_device_leaves_the_cpu_generator_alone():
    torch.manual_seed(3)
    a = torch.rand(4)
    torch.manual_seed(3)
    torch.rand(100, device=DEVICE)
    assert torch.equal(torch.rand(4), a)


N = 200_000


def moments(x):
    x = x.double().cpu()
    return x.mean().item(), x.std().item()


# Bounds are five standard errors: of the mean std/sqrt(N), of the std about std * sqrt(k/N) with k
# at most 2 for these distributions.
@pytest.mark.parametrize(
    ("draw", "mean", "std"),
    [
        (lambda d: torch.rand(N, device=d), 0.5, math.sqrt(1 / 12)),
        (lambda d: torch.randn(N, device=d), 0, 1),
        (lambda d: torch.randn(N, device=d, dtype=torch.float64), 0, 1),
        (lambda d: torch.empty(N, device=d).uniform_(-2, 4), 1, math.sqrt(3)),
        (lambda d: torch.empty(N, device=d).normal_(3, 0.5), 3, 0.5),
        (lambda d: torch.empty(N, device=d).bernoulli_(0.2), 0.2, 0.4),
        (lambda d: torch.empty(N, device=d).exponential_(2), 0.5, 0.5),
        (lambda d: torch.randint(0, 10, (N,), device=d), 4.5, math.sqrt(8.25)),
        (lambda d: torch.randint(-5, 5, (N,), device=d, dtype=torch.int32), -0.5, math.sqrt(8.25)),
    ],
    ids=[
        "rand",
        "randn",
        "randn64",
        "uniform",
        "normal",
        "bernoulli",
        "exponential",
        "randint",
        "randint32",
    ],
)
def test_moments(device, draw, mean, std):
    torch.manual_seed(2)
    found_mean, found_std = moments(draw(device))
    assert abs(found_mean - mean) < 5 * std / math.sqrt(N)
    assert abs(found_std - std) < 5 * std * math.sqrt(2 / N)


def test_uniform_covers_its_range_evenly(device):
    torch.manual_seed(2)
    x = torch.rand(N, device=device).cpu()
    assert x.min() >= 0
    assert x.max() < 1
    counts = torch.histc(x, 20, 0, 1)
    chi2 = ((counts - N / 20) ** 2 / (N / 20)).sum().item()
    assert chi2 < 60  # 19 degrees of freedom: exceeded once in 200,000 seeds
    neighbours = torch.corrcoef(torch.stack([x[:-1], x[1:]]))[0, 1].item()
    assert abs(neighbours) < 5 / math.sqrt(N)


def test_half_precision_stays_in_range(device):
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.rand(N, device=device, dtype=dtype).cpu().float()
        assert x.min() >= 0
        assert x.max() < 1
        assert abs(x.mean().item() - 0.5) < 0.01


def test_randint_covers_all_values(device):
    x = torch.randint(3, 9, (2000,), device=device).cpu()
    assert sorted(x.unique().tolist()) == [3, 4, 5, 6, 7, 8]


def test_randperm_is_a_permutation(device):
    x = torch.randperm(1000, device=device).cpu()
    assert sorted(x.tolist()) == list(range(1000))
    assert x.tolist() != list(range(1000))


def test_dropout_scales_and_drops(device):
    torch.manual_seed(2)
    x = torch.ones(N, device=device)
    out = F.dropout(x, 0.25).cpu()
    kept = out[out != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / 0.75))
    assert abs(kept.numel() / N - 0.75) < 5 * math.sqrt(0.75 * 0.25 / N)
    assert torch.equal(F.dropout(x, 0.25, training=False).cpu(), x.cpu())
    assert F.dropout(x, 1.0).abs().max().item() == 0


def test_multinomial(device):
    torch.manual_seed(2)
    weights = torch.tensor([0.0, 1.0, 3.0], device=device)
    x = torch.multinomial(weights, 40_000, replacement=True).cpu()
    shares = torch.bincount(x, minlength=3) / 40_000
    torch.testing.assert_close(shares, torch.tensor([0, 0.25, 0.75]), rtol=0, atol=0.012)
    picked = torch.multinomial(torch.ones(5, device=device), 5).cpu()
    assert sorted(picked.tolist()) == [0, 1, 2, 3, 4]


@pytest.mark.skipif(not ON_TPU, reason="a CPU generator is the right one on cpu")
def test_generator_of_another_device_is_refused():
    with pytest.raises(RuntimeError, match="device"):
        torch.rand(2, device=DEVICE, generator=torch.Generator("cpu"))
