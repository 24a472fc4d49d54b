# Random programs of views, in-place writes and reads, compared with CPU PyTorch.
"""A program is a list of Python statements over a base `x`, views of it and of one another, and
results. Each statement runs on the CPU and on the device; both must raise or neither, and at the
end every name must hold the same values. A failing program is printed: it can be pasted and run.

Programs draw from a few bases, and for each base from a few chains of view operators, so that
programs meet the same layouts again and compiling does not dominate. Programs that see floats
as integers only move elements: arithmetic on such bits (subnormals, NaN) is not compared."""

import functools
import random

import pytest
import torch
from support import DEVICE, eager_mode

MODES = ("strict", "debug", "defer")
BASES = (
    ("float32", (2, 3, 4)),
    ("float32", (4, 6)),
    ("float32", (24,)),
    ("float32", (2, 4, 2, 3)),
    ("int64", (5, 5)),
    ("uint8", (4, 8)),
    ("bool", (3, 4)),
    ("complex64", (3, 4)),
)
CHAINS_PER_BASE = 7
# The fast set meets fewer layouts, so that it compiles a few hundred programs.
FAST_BASES = (BASES[0], BASES[1], BASES[4], BASES[7])
FAST_CHAINS = 3
NUMBER = {"bool": ("True", "False"), "complex64": ("2", "1j", "0")}


def make(dtype, shape):
    """Distinct small numbers, the same on every call."""
    count = torch.Size(shape).numel()
    values = torch.arange(count) % 2 if dtype == "bool" else torch.arange(count) + 1
    tensor = values.reshape(shape).to(getattr(torch, dtype))
    return tensor * (1 - 2j) if dtype == "complex64" else tensor


@functools.cache
def operand(dtype, shape, device):
    """The second argument of copy_ and add_; never written."""
    return make(dtype, shape).to(device)


def one_view(rng, v):
    """A view operator with arguments that suit `v`, as source text after the name, or None."""
    rank = v.dim()
    d = rng.randrange(rank) if rank else 0
    e = rng.randrange(rank) if rank else 0
    n = v.shape[d] if rank else 1
    full = ":, " * d
    start = rng.randrange(max(n, 1))
    kinds = {
        "select": f"[{full}{start}]" if rank and n else None,
        "narrow": f".narrow({d}, {start}, {n - start})" if rank and n else None,
        "slice": f"[{full}{start}::{rng.randint(1, 3)}]" if rank and n else None,
        "stop": f"[{full}:{max(n - 1, 1)}]" if rank else None,
        "empty": f"[{full}{n}:]" if rank and rng.random() < 0.2 else None,
        "transpose": f".transpose({d}, {e})" if rank > 1 else None,
        "permute": f".permute({rng.sample(range(rank), rank)})" if rank > 1 else None,
        "diagonal": f".diagonal({rng.randint(0, 1)}, {d}, {e})" if rank > 1 and d != e else None,
        "unfold": f".unfold({d}, {rng.randint(1, 2)}, {rng.randint(1, 3)})" if n > 1 else None,
        "unsqueeze": f".unsqueeze({d})",
        "expand": f".unsqueeze({d}).expand({[*v.shape[:d], 2, *v.shape[d:]]})",
        "flatten": ".view(-1)",
        "split": f".unflatten({d}, (2, {n // 2}))" if rank and n > 2 and n % 2 == 0 else None,
        "chunk": f".chunk(2, {d})[{rng.randint(0, 1)}]" if rank and n > 1 else None,
        "strided": f".as_strided((2, 3), ({rng.randint(1, 4)}, {rng.randint(1, 2)}), 1)",
        "dtype": None
        if v.dtype == torch.bool
        else f".view(torch.{rng.choice(('int32', 'int16', 'uint8', 'int64'))})",
        "complex": ".view_as_complex()",
        "part": rng.choice((".real", ".imag")) if v.is_complex() else None,
        "real": ".view_as_real()" if v.is_complex() else None,
    }
    names = ["part", "real"] if v.is_complex() and rng.random() < 0.3 else list(kinds)
    text = kinds[rng.choice(names)]
    if text and text.startswith(".view_as_"):
        return f"torch{text[:-2]}({{}})"
    return text and "{}" + text


def apply(text, v):
    return eval(text.format("v"), {"torch": torch, "v": v})


@functools.cache
def chains(base):
    """Chains of one to three view operators over a base: tuples of texts, {} for the operand."""
    rng = random.Random(f"chains {base}")
    found = []
    while len(found) < CHAINS_PER_BASE:
        v, chain = make(*base), []
        for _ in range(rng.randint(1, 3)):
            text = one_view(rng, v)
            try:
                view = apply(text, v) if text else v
            except (RuntimeError, IndexError):
                continue
            if view is not v:
                v, chain = view, [*chain, text]
        if chain and tuple(chain) not in found:
            found.append(tuple(chain))
    return found


def is_broadcast(v):
    return any(n > 1 and stride == 0 for n, stride in zip(v.shape, v.stride(), strict=True))


def is_repeated(v):
    """Whether two indices of `v` reach one element."""
    places = torch.zeros((), dtype=torch.int64)
    for size, stride in zip(v.shape, v.stride(), strict=True):
        places = places.unsqueeze(-1) + torch.arange(size) * stride
    return places.unique().numel() < places.numel()


def one_write(rng, name, v, arithmetic):
    """An in-place statement on `name`, whose value on the CPU is `v`."""
    dtype = str(v.dtype).removeprefix("torch.")
    number = rng.choice(NUMBER.get(dtype, ("2", "0", "3")))
    other = f"operand('{dtype}', {tuple(v.shape)})"
    # CPU writes a repeated element once per index: only equal values are comparable. Broadcasts
    # are refused.
    if is_repeated(v) and not is_broadcast(v):
        return f"{name}.fill_({number})"
    moves = [f"{name}.fill_({number})", f"{name}.copy_({other})", f"{name}[...] = {number}"]
    computes = [
        f"{name}.add_({number})",
        f"{name}.mul_({number})",
        f"{name}.add_({other})",
        f"torch.mul({other}, {number}, out={name})",
    ]
    return rng.choice(moves + computes if arithmetic else moves)


def one_read(rng, name, result, arithmetic):
    computes = (f"{result} = {name} * 1", f"{result} = {name} + {name}")
    return rng.choice((f"{result} = {name}.clone()", *(computes if arithmetic else ())))


def run(statement, names, device):
    """Whether the statement was refused."""
    scope = {"torch": torch, "operand": lambda dtype, shape: operand(dtype, shape, device)}
    try:
        exec(statement, scope, names)
    except RuntimeError:
        return True
    return False


def bits(v):
    return v.contiguous().view(-1).view(torch.uint8)


def same(cpu, device):
    if cpu.dtype != device.dtype or cpu.shape != device.shape:
        return False
    got = device.cpu()
    return torch.equal(got, cpu) or torch.equal(bits(got), bits(cpu))


def check(seed, bases=BASES, num_chains=CHAINS_PER_BASE):
    """Makes and runs the program of a seed."""
    rng = random.Random(seed)
    base = rng.choice(bases)
    program = [f"x = make{base}"]
    cpu, device = {"x": make(*base)}, {"x": make(*base).to(DEVICE)}

    def do(statement):
        program.append(statement)
        refused = run(statement, cpu, "cpu")
        assert run(statement, device, DEVICE) == refused, "\n".join(
            [*program, f"# refused on cpu: {refused}; on {DEVICE}: {not refused}"]
        )

    steps = [rng.choice(chains(base)[:num_chains]) for _ in range(rng.randint(2, 4))]
    exact = not (cpu["x"].is_floating_point() or cpu["x"].is_complex())
    arithmetic = exact or not any("(torch." in text for chain in steps for text in chain)
    for step, chain in enumerate(steps):
        name = "x"
        for text in chain:
            view = f"v{len(cpu)}"
            do(f"{view} = {text.format(name)}")
            name = view
        written = rng.choice((name, name, rng.choice(list(cpu))))
        do(one_write(rng, written, cpu[written], arithmetic))
        if rng.random() < 0.3:
            do(one_read(rng, rng.choice(list(cpu)), f"r{step}", arithmetic))
    for name, value in cpu.items():
        assert same(value, device[name]), "\n".join(
            [*program, f"# {name} on cpu:", str(value), f"# on {DEVICE}:", str(device[name].cpu())]
        )


@pytest.mark.parametrize(("mode", "programs"), [("strict", 300), ("debug", 100), ("defer", 300)])
def test_programs(mode, programs):
    with eager_mode(mode):
        for seed in range(programs):
            check(seed, FAST_BASES, FAST_CHAINS)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_5000_programs(mode):
    with eager_mode(mode):
        for seed in range(5000):
            check(seed)


def test_the_comparison_sees_a_lost_write():
    cpu, device = torch.arange(4.0), torch.arange(4.0).to(DEVICE)
    assert same(cpu, device)
    cpu[1:].add_(1)
    assert not same(cpu, device)
    assert same(torch.tensor([float("nan")]), torch.tensor([float("nan")]).to(DEVICE))


def test_pools_hold_every_kind_of_view():
    texts = " ".join(text for base in BASES for chain in chains(base) for text in chain)
    methods = "narrow transpose permute diagonal unfold expand unflatten chunk as_strided"
    missing = [kind for kind in [*methods.split(), "view_as_real", "(torch."] if kind not in texts]
    assert not missing
    layouts = {chain for base in BASES for chain in chains(base)}
    assert len(layouts) > 40
