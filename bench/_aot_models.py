"""What bench/aot.py compiles: the models of tests/models, as modules and as shapes for JAX."""

import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch_tpu import aot

TESTS = Path(__file__).resolve().parent.parent / "tests"

Named = dict[str, tuple[list[int], str]]


def tests_of(model: str) -> Any:
    """The module tests/models/test_<model>.py."""
    for folder in (TESTS, TESTS / "models"):
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
    return importlib.import_module(f"test_{model}")


class WithLoss(nn.Module):
    """A model and its loss: a function of the input and the target, or of the input alone."""

    def __init__(self, model: nn.Module, loss: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.model = model
        self.loss = loss

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.loss(self.model(inputs[0]), inputs[-1])


def _smooth_cross_entropy(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(scores, labels, label_smoothing=0.1)


def _token_cross_entropy(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(scores.flatten(0, 1), labels.flatten())


def _adamw(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, lr=1e-3)


def _sgd(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=1e-4)


@dataclass(frozen=True)
class Case:
    """A model with its inputs; with a loss it is a whole training step."""

    name: str
    model: nn.Module
    inputs: tuple[torch.Tensor, ...]
    loss: Callable[..., torch.Tensor] | None = None
    optimizer: Callable[[list[nn.Parameter]], torch.optim.Optimizer] | None = None
    jax: dict[str, Any] = field(default_factory=dict)
    """What _aot_jax.py needs to know beside the shapes."""

    def capture(self) -> aot.Captured:
        """Our program."""
        if self.loss is None:
            return aot.capture(self.model, self.inputs, name=self.name)
        module = WithLoss(self.model, self.loss)
        return aot.capture(module, self.inputs, optimizer=self.optimizer, name=self.name)

    def shapes(self) -> dict[str, Any]:
        """The case as _aot_jax.py reads it."""
        return {
            "training": self.loss is not None,
            "parameters": _shapes(self.model.named_parameters()),
            "buffers": _shapes(self.model.named_buffers()),
            "inputs": _shapes((str(i), x) for i, x in enumerate(self.inputs)),
            **self.jax,
        }


def _shapes(named: Any) -> Named:
    return {name: (list(t.shape), str(t.dtype).removeprefix("torch.")) for name, t in named}


def cases(wide: bool = False) -> Iterator[Case]:
    """All cases, with the sizes of the tests or wider."""
    yield from _dense(wide)
    yield from _images(wide)
    yield from _tokens(wide)


def _dense(wide: bool) -> Iterator[Case]:
    inputs, labels = tests_of("mlp").batch()
    model = tests_of("mlp").model()
    if wide:
        inputs, labels = torch.randn(256, 784), torch.zeros(256, dtype=torch.long)
        layers = [nn.Linear(784, 1024), nn.GELU(), nn.Linear(1024, 1024), nn.Tanh()]
        model = nn.Sequential(*layers, nn.Linear(1024, 10))
    yield Case("mlp", model, (inputs,), jax={"model": "mlp"})
    known = {"model": "mlp", "loss": "cross_entropy", "optimizer": "adamw"}
    yield Case("mlp_train", model, (inputs, labels), F.cross_entropy, _adamw, known)


def _images(wide: bool) -> Iterator[Case]:
    resnet = tests_of("resnet").ResNet
    planes = (64, 128, 256) if wide else (8, 16, 32)
    images = torch.randn(32 if wide else 4, 3, 32, 32)
    labels = torch.zeros(images.shape[0], dtype=torch.long)
    known = {"model": "resnet", "depth": 3}
    yield Case("resnet", resnet(planes).eval(), (images,), jax=known)
    known |= {"loss": "smooth_cross_entropy", "optimizer": "sgd"}
    loss = _smooth_cross_entropy
    yield Case("resnet_train", resnet(planes), (images, labels), loss, _sgd, known)
    vit = tests_of("vit")
    model, images = vit.model(), vit.batch()[0]
    if wide:
        model, images = vit.ViT(192, 3, 2, 4, 32), torch.randn(32, 3, 32, 32)
    yield Case("vit", model, (images,), jax={"model": "vit", "depth": 2, "heads": 3, "patch": 4})
    coder = tests_of("autoencoder")
    images = torch.rand(64, 1, 48, 48) if wide else coder.images()
    yield Case("autoencoder", coder.model(), (images,), jax={"model": "autoencoder"})


def _tokens(wide: bool) -> Iterator[Case]:
    gpt = tests_of("gpt")
    if wide:
        gpt.VOCAB, gpt.WIDTH, gpt.HEADS, gpt.LENGTH = 2048, 256, 4, 128
    ids = torch.zeros(8 if wide else 3, gpt.LENGTH, dtype=torch.long)
    known = {"model": "gpt", "depth": gpt.DEPTH, "heads": gpt.HEADS}
    yield Case("gpt", gpt.GPT(), (ids,), jax=known)
    known = {**known, "loss": "cross_entropy", "optimizer": "adamw"}
    yield Case("gpt_train", gpt.GPT(), (ids, ids), _token_cross_entropy, _adamw, known)
    lstm = tests_of("lstm")
    if wide:
        lstm.VOCAB, lstm.WIDTH = 1024, 256
    ids = torch.zeros(32, 32, dtype=torch.long) if wide else next(lstm.batches(1))[:, :-1]
    yield Case("lstm", lstm.model(), (ids.contiguous(),), jax={"model": "lstm", "depth": 2})
