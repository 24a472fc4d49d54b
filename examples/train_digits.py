"""Trains a small convolutional network on scikit-learn's handwritten digits on the tpu device.

The training code is ordinary PyTorch; only the device string is ours. Then it checks itself: test
accuracy, the first losses against the CPU, and that nothing compiles after the first epoch.
"""

import argparse
import time
from collections.abc import Iterator, Sequence

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn.functional import cross_entropy

SMALLEST_ACCURACY = 0.97
LARGEST_LOSS_DIFFERENCE = 1e-4
COMPARED_STEPS = 20
BATCH = 64

Data = tuple[torch.Tensor, torch.Tensor]


class Net(nn.Module):
    """(batch, 1, 8, 8) images to (batch, 10) scores."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Dropout(dropout),
            nn.Linear(32 * 4 * 4, 64),
            nn.ReLU(),
            nn.Linear(64, 10),
        )

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(images))


def load() -> tuple[Data, Data]:
    """Training and test data: images (n, 1, 8, 8) in 0..1 and labels (n,)."""
    images, labels = load_digits(return_X_y=True)
    parts = train_test_split(images / 16.0, labels, test_size=0.25, random_state=0, stratify=labels)
    x_train, x_test = (torch.tensor(p, dtype=torch.float32).view(-1, 1, 8, 8) for p in parts[:2])
    y_train, y_test = (torch.tensor(p) for p in parts[2:])
    return (x_train, y_train), (x_test, y_test)


def batches(data: Data, seed: int) -> Iterator[Data]:
    """One epoch of shuffled batches; the last one is smaller."""
    images, labels = data
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    for rows in order.split(BATCH):
        yield images[rows], labels[rows]


def training_steps(
    net: Net, optimizer: torch.optim.Optimizer, data: Data, device: torch.device, seed: int
) -> Iterator[torch.Tensor]:
    """Trains for one epoch and yields the loss of each step."""
    net.train()
    for images, labels in batches(data, seed):
        optimizer.zero_grad()
        loss = cross_entropy(net(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        yield loss.detach()


def make(device: torch.device, dropout: float) -> tuple[Net, torch.optim.Optimizer]:
    """A network with the same initial weights on every device, and its optimizer."""
    torch.manual_seed(0)
    net = Net(dropout).to(device)
    return net, torch.optim.Adam(net.parameters(), lr=2e-3)


@torch.no_grad()
def accuracy(net: Net, data: Data, device: torch.device) -> float:
    """Share of images whose best score is the right digit."""
    net.eval()
    images, labels = data
    return (net(images.to(device)).argmax(1).cpu() == labels).float().mean().item()


def first_losses(data: Data, device: torch.device) -> torch.Tensor:
    """Losses of the first steps without dropout."""
    net, optimizer = make(device, dropout=0.0)
    steps = training_steps(net, optimizer, data, device, seed=0)
    return torch.stack([next(steps) for _ in range(COMPARED_STEPS)]).cpu()


def compiles(device: torch.device) -> int:
    """Programs compiled so far; zero on the CPU, which compiles none."""
    return torch.tpu.compile_count() if device.type == "tpu" else 0


def train(
    train_data: Data, test_data: Data, device: torch.device, epochs: int
) -> tuple[float, int]:
    """Trains with dropout; returns test accuracy and the compiles after the first epoch."""
    net, optimizer = make(device, dropout=0.25)
    score, after_first = 0.0, 0
    for epoch in range(1, epochs + 1):
        before, start = compiles(device), time.perf_counter()
        losses = torch.stack(list(training_steps(net, optimizer, train_data, device, seed=epoch)))
        score = accuracy(net, test_data, device)
        made, seconds = compiles(device) - before, time.perf_counter() - start
        after_first += made if epoch > 1 else 0
        print(
            f"epoch {epoch}: loss {losses.mean().item():.4f}, test accuracy {score:.4f}, "
            f"{seconds:.2f} s, {made} compiles"
        )
    return score, after_first


def main(argv: Sequence[str] | None = None) -> None:
    """Raises AssertionError where a check fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="tpu")
    parser.add_argument("--epochs", type=int, default=6)
    arguments = parser.parse_args(argv)
    device = torch.device(arguments.device)

    train_data, test_data = load()
    score, after_first = train(train_data, test_data, device, arguments.epochs)
    expected = first_losses(train_data, torch.device("cpu"))
    difference = (first_losses(train_data, device) - expected).abs().max().item()

    print(f"test accuracy {score:.4f}")
    print(f"compiles after the first epoch {after_first}")
    print(f"largest loss difference to CPU in {COMPARED_STEPS} steps {difference:.2e}")
    assert score >= SMALLEST_ACCURACY, f"accuracy {score}, expected {SMALLEST_ACCURACY}"
    assert after_first == 0, f"{after_first} programs compiled after the first epoch"
    assert difference <= LARGEST_LOSS_DIFFERENCE, f"losses differ by {difference} from CPU's"


if __name__ == "__main__":
    main()
