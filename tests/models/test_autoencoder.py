# A convolutional autoencoder: strided convolutions down, ConvTranspose2d and Upsample back up.
import torch
import torch.nn.functional as F
from modelcheck import compare_forward, compare_training
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 3, 2, 1),
            nn.LeakyReLU(0.1),
            nn.Conv2d(8, 8, 3, 2, 1, groups=4),
            nn.GroupNorm(2, 8),
            nn.SiLU(),
        )
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(8, 8, 3, 2, 1, output_padding=1),
            nn.ELU(),
            nn.Upsample(scale_factor=2, mode="nearest"),
            nn.ConvTranspose2d(8, 4, 3, padding=1),
            nn.Softplus(),
            nn.Conv2d(4, 1, 1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


def model():
    torch.manual_seed(1)
    return Autoencoder()


def images():
    return torch.rand(3, 1, 12, 12, generator=torch.Generator().manual_seed(2))


def loss_of(module, x):
    return F.mse_loss(module(x), x) + 0.1 * F.binary_cross_entropy(module(x), x)


def test_forward():
    compare_forward(model(), images())


def test_three_training_steps():
    def sgd(parameters):
        return torch.optim.SGD(parameters, lr=0.5)

    losses = compare_training(model(), sgd, loss_of, [images()] * 3)
    assert losses[2] < losses[0]
