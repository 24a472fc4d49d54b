# A small vision transformer on nn.MultiheadAttention.
import torch
import torch.nn.functional as F
from modelcheck import compare_forward, compare_training
from torch import nn


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, width=24, heads=3, depth=2, patch=4, image=16, classes=5):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.cls = nn.Parameter(torch.randn(1, 1, width) * 0.1)
        self.positions = nn.Parameter(torch.randn(1, (image // patch) ** 2 + 1, width) * 0.1)
        self.layers = nn.Sequential(*(Layer(width, heads) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.norm(self.layers(x))[:, 0])


def model():
    torch.manual_seed(1)
    return ViT()


def batch():
    gen = torch.Generator().manual_seed(2)
    return torch.randn(4, 3, 16, 16, generator=gen), torch.randint(0, 5, (4,), generator=gen)


def loss_of(module, data):
    images, labels = data
    return F.cross_entropy(module(images), labels)


def test_forward():
    compare_forward(model(), batch()[0])


def test_three_training_steps():
    def adamw(parameters):
        return torch.optim.AdamW(parameters, lr=1e-3, eps=1e-4)

    losses = compare_training(model(), adamw, loss_of, [batch()] * 3)
    assert losses[2] < losses[0]
