# A GPT-2-style decoder: causal attention, tanh GELU, tied embeddings, KV cache written in place.
import torch
import torch.nn.functional as F
from modelcheck import compare_forward, compare_training, twins
from support import DEVICE, compile_count, to_device
from torch import nn

VOCAB, WIDTH, HEADS, DEPTH, LENGTH = 61, 32, 4, 2, 24


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(WIDTH, 3 * WIDTH)
        self.c_proj = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, cache=None, position=None):
        batch, length, _ = x.shape
        q, k, v = (
            t.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
            for t in self.c_attn(x).split(WIDTH, dim=2)
        )
        if cache is None:
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            keys, values = cache
            keys[:, :, position : position + 1] = k
            values[:, :, position : position + 1] = v
            seen = torch.arange(keys.shape[2], device=x.device) <= position
            out = F.scaled_dot_product_attention(q, keys, values, attn_mask=seen[None, :])
        return self.c_proj(out.transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn = Attention()
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(approximate="tanh"), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x, cache=None, position=None):
        x = x + self.attn(self.ln_1(x), cache, position)
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCAB, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.ln_f = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)
        self.head.weight = self.wte.weight
        nn.init.normal_(self.wte.weight, std=0.3)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))

    def new_cache(self, batch):
        shape, device = (batch, HEADS, LENGTH, WIDTH // HEADS), self.wte.weight.device
        return [
            (torch.zeros(shape, device=device), torch.zeros(shape, device=device))
            for _ in self.blocks
        ]

    def step(self, ids, caches, position):
        """Logits after `ids` of shape (batch, 1) at `position`; writes the caches."""
        x = self.wte(ids) + self.wpe.weight[position]
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, cache, position)
        return self.head(self.ln_f(x))[:, -1]


def model():
    torch.manual_seed(1)
    return GPT()


def token_batches(count):
    gen = torch.Generator().manual_seed(2)
    for _ in range(count):
        ids = torch.randint(0, VOCAB, (3, LENGTH + 1), generator=gen)
        yield ids[:, :-1].contiguous(), ids[:, 1:].contiguous()


def loss_of(module, batch):
    ids, targets = batch
    return F.cross_entropy(module(ids).flatten(0, 1), targets.flatten())


def greedy(module, first, count):
    """Token ids of a greedy decode, and the number of compiles before each step."""
    module.eval()
    caches, ids, tokens, compiles = module.new_cache(first.shape[0]), first, [], []
    with torch.no_grad():
        for position in range(count):
            compiles.append(compile_count())
            ids = module.step(ids, caches, position).argmax(-1, keepdim=True)
            tokens.append(ids)
    compiles.append(compile_count())
    return torch.cat(tokens, 1), compiles


def test_forward():
    compare_forward(model(), next(token_batches(1))[0])


def test_three_training_steps():
    # eps 1e-4 keeps AdamW's step a smooth function of gradients near zero; at the default 1e-8 the
    # sign of rounding noise would decide a full step of lr.
    def adamw(parameters):
        return torch.optim.AdamW(parameters, lr=1e-3, eps=1e-4)

    losses = compare_training(model(), adamw, loss_of, list(token_batches(1)) * 3)
    assert losses[2] < losses[0]


def test_embeddings_stay_tied():
    _, dev = twins(model())
    assert dev.head.weight is dev.wte.weight
    assert dev.head.weight.device.type == torch.device(DEVICE).type


def test_greedy_decode_with_cache():
    cpu, dev = twins(model())
    first = torch.tensor([[5], [17]])
    expected, _ = greedy(cpu, first, LENGTH)
    actual, compiles = greedy(dev, to_device(first), LENGTH)
    # The cached decode must agree with the whole-sequence forward, whose top two logits must stand
    # apart further than rounding for equality of tokens to be a fair demand.
    with torch.no_grad():
        logits = cpu(torch.cat([first, expected[:, :-1]], 1))
    assert torch.equal(logits.argmax(-1), expected)
    top = logits.topk(2, -1).values
    assert (top[..., 0] - top[..., 1]).min() > 1e-4
    assert torch.equal(actual.cpu(), expected)
    # Positions 0, 1 and 2 may be constants of their programs; from the fifth step on, nothing may.
    assert compiles[-1] == compiles[4], f"compiles before each step: {compiles}"


def test_second_decode_compiles_nothing():
    _, dev = twins(model())
    first = to_device(torch.tensor([[5], [17]]))
    greedy(dev, first, 4)
    _, compiles = greedy(dev, first, LENGTH)
    assert compiles[-1] == compiles[0]
