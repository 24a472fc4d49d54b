# What the tests of the deferred mode share: the mode, a stack of blocks, strict against deferred.
import torch
import torch.nn.functional as F
from support import DEVICE
from torch import nn


def defer():
    return torch.tpu.eager_mode("defer")


class Block(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def stack(layers):
    torch.manual_seed(1)
    return nn.Sequential(*[Block() for _ in range(layers)]).to(DEVICE)


def close(actual, expected, tolerance=2e-5):
    torch.testing.assert_close(
        torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.detach().cpu(), actual),
        torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.detach().cpu(), expected),
        rtol=tolerance,
        atol=tolerance,
    )


def in_both_modes(work):
    """Runs `work` strict, then deferred, each from the same seed; gives both results."""
    results = []
    for mode in ("strict", "defer"):
        torch.manual_seed(7)
        with torch.tpu.eager_mode(mode):
            results.append(work())
    return results
