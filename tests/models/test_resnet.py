# A small residual network in torchvision's style: blocks, batch norm, three stages, 32x32 images.
import torch
import torch.nn.functional as F
from modelcheck import compare_forward, compare_training
from support import to_device
from torch import nn


class BasicBlock(nn.Module):
    def __init__(self, inputs, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = None
        if stride != 1 or inputs != planes:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, planes, 1, stride, bias=False), nn.BatchNorm2d(planes)
            )

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self, planes=(8, 16, 32), classes=10):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, planes[0], 7, 2, 3, bias=False),
            nn.BatchNorm2d(planes[0]),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1),
        )
        inputs = (planes[0], *planes)
        self.layers = nn.Sequential(
            *(BasicBlock(inputs[i], p, 1 if i == 0 else 2) for i, p in enumerate(planes))
        )
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(planes[-1], classes)

    def forward(self, x):
        x = self.avgpool(self.layers(self.stem(x)))
        return self.fc(torch.flatten(x, 1))


def batches(count, gen):
    for _ in range(count):
        yield torch.randn(4, 3, 32, 32, generator=gen), torch.randint(0, 10, (4,), generator=gen)


def loss_of(model, batch):
    images, labels = batch
    return F.cross_entropy(model(images), labels, label_smoothing=0.1)


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=1e-4)


def test_forward():
    torch.manual_seed(1)
    compare_forward(ResNet(), torch.randn(2, 3, 32, 32))


def test_forward_channels_last():
    torch.manual_seed(1)
    model = ResNet().to(memory_format=torch.channels_last)
    compare_forward(model, torch.randn(2, 3, 32, 32).to(memory_format=torch.channels_last))


def test_three_training_steps():
    # 1e-3: each ReLU at a value near zero may fall on the other side, which changes a few terms of
    # a weight's gradient; batch norm over 4 images spreads that over the channel.
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(2)
    compare_training(ResNet(), sgd, loss_of, batches(3, gen), bound=1e-3)


def test_running_statistics_are_used_in_eval():
    torch.manual_seed(1)
    model, (images, _) = ResNet(), next(batches(1, torch.Generator().manual_seed(3)))
    model.train()
    trained = to_device(images)
    model.to(trained.device)
    model(trained)
    stem = model.stem[1]
    assert stem.num_batches_tracked.item() == 1
    mean = model.stem[0](trained).mean((0, 2, 3)).detach().cpu()
    torch.testing.assert_close(stem.running_mean.cpu(), 0.1 * mean, rtol=1e-4, atol=1e-5)
    before = stem.running_mean.cpu()
    model.eval()(trained)
    assert torch.equal(stem.running_mean.cpu(), before)
