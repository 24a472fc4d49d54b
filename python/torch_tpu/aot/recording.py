"""Recording a PyTorch function, its gradient or a whole training step as one StableHLO module.

The function runs once, on placeholders of device `tpu` that have no memory. Each operator is
recorded, none is executed or compiled, so that a model of any size can be captured on a laptop from
`meta` or fake tensors.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from torch_tpu import _C
from torch_tpu.aot.captured import Captured, Value

OptimizerLike = torch.optim.Optimizer | Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer]


def capture(
    function: Callable[..., Any] | torch.export.ExportedProgram,
    example_inputs: Sequence[Any] | Mapping[str, Any] = (),
    *,
    loss_fn: Callable[[Any], torch.Tensor] | None = None,
    optimizer: OptimizerLike | None = None,
    padded: bool = False,
    name: str | None = None,
) -> Captured:
    """Records `function(*example_inputs)`, or `function(**example_inputs)` for a mapping.

    Tensors among the inputs, and the parameters and buffers of a module, become inputs of the
    program; only their shapes, strides and dtypes are read, so `meta` and fake tensors do. With
    `loss_fn` the program is forward and backward: it returns `loss_fn(output)` and the gradients of
    the parameters. With `optimizer` (an instance over the module's parameters, or a callable that
    makes one of a list of parameters) it is a whole training step from the second on, which writes
    parameters and optimizer state in place; without `loss_fn` the function itself returns the loss.

    With `padded`, results whose size depends on values (`nonzero`) stay as long as they can become.
    Raises what the function raises; RuntimeError, with operator and Python line, where it asks for
    a tensor's values.
    """
    if isinstance(function, torch.export.ExportedProgram):
        function = function.module()
    job = _Job(function, example_inputs, loss_fn, optimizer)
    state = job.optimizer_state() if optimizer is not None else None
    with _recording(padded) as recorder:
        outcome = job.run(recorder, state)
        done = recorder.finish(list(outcome.values()))
    label = name or getattr(function, "__name__", type(function).__name__)
    return _captured(label, recorder, outcome, done)


def _captured(
    name: str, recorder: _Recorder, outcome: Mapping[str, torch.Tensor], done: Mapping[str, Any]
) -> Captured:
    names = list(recorder.names)
    names += [f"seed{i}" for i in range(done["num_seeds"])]
    names += [f"constant{i}" for i in range(done["num_found"])]
    written = [f"new {recorder.names[i]}" for i in done["written"]]
    return Captured(
        text=done["text"],
        inputs=_values(names, done["inputs"]),
        outputs=_values([*outcome, *written], done["outputs"]),
        operators=done["operators"],
        name=name,
    )


def _values(names: Sequence[str], types: Sequence[tuple[torch.dtype, Any]]) -> list[Value]:
    return [
        Value(name, tuple(shape), str(dtype).removeprefix("torch."))
        for name, (dtype, shape) in zip(names, types, strict=True)
    ]


@dataclass
class _Recorder:
    """A running capture and what its placeholders are called."""

    raw: Any
    names: list[str] = field(default_factory=list)

    def placeholder(self, name: str, like: torch.Tensor) -> torch.Tensor:
        strides = list(like.stride()) if _is_dense(like) else _row_major(like.shape)
        self.names.append(name)
        return self.raw.placeholder(like.dtype, list(like.shape), strides)

    def finish(self, results: list[torch.Tensor]) -> dict[str, Any]:
        return self.raw.finish(results)


@contextlib.contextmanager
def _recording(padded: bool = False) -> Iterator[_Recorder]:
    recorder = _Recorder(_C._Capture(padded))
    try:
        yield recorder
    finally:
        recorder.raw.abandon()


def _is_dense(tensor: torch.Tensor) -> bool:
    expected = 1
    dims = sorted(zip(tensor.stride(), tensor.shape, strict=True), key=lambda pair: pair[0])
    for stride, size in dims:
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


def _row_major(shape: Sequence[int]) -> list[int]:
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * max(shape[i + 1], 1)
    return strides


@dataclass
class _Job:
    """What shall be recorded."""

    function: Callable[..., Any]
    example_inputs: Sequence[Any] | Mapping[str, Any]
    loss_fn: Callable[[Any], torch.Tensor] | None
    optimizer: OptimizerLike | None

    def optimizer_state(self) -> list[dict[str, Any]]:
        """State of each parameter after a first step: tensors on `tpu` without values, numbers."""
        with _recording() as recorder:
            made: list[torch.optim.Optimizer] = []
            self.run(recorder, None, made)
            optimizer = made[0]
            parameters = [p for group in optimizer.param_groups for p in group["params"]]
            return [dict(optimizer.state.get(p, {})) for p in parameters]

    def run(
        self,
        recorder: _Recorder,
        state: list[dict[str, Any]] | None,
        made: list[torch.optim.Optimizer] | None = None,
    ) -> dict[str, torch.Tensor]:
        """Runs the function on placeholders; the results by name."""
        call, parameters = self._with_placeholders(recorder)
        training = self.loss_fn is not None or self.optimizer is not None
        with torch.set_grad_enabled(training):
            output = call()
        if not training:
            return _tensors(output)
        loss = self.loss_fn(output) if self.loss_fn is not None else output
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            shape = tuple(loss.shape) if isinstance(loss, torch.Tensor) else type(loss).__name__
            raise TypeError(f"the loss must be a tensor of one element, got {shape}")
        if self.optimizer is None:
            loss.backward()
            gradients = {f"grad {n}": p.grad for n, p in parameters.items() if p.grad is not None}
            return {"loss": loss.detach(), **gradients}
        optimizer = self._make_optimizer(parameters)
        if made is not None:
            made.append(optimizer)
        if state is not None:
            _restore_state(recorder, optimizer, parameters, state)
        loss.backward()
        optimizer.step()
        return {"loss": loss.detach()}

    def _with_placeholders(
        self, recorder: _Recorder
    ) -> tuple[Callable[[], Any], dict[str, torch.nn.Parameter]]:
        parameters: dict[str, torch.nn.Parameter] = {}
        replaced: dict[str, torch.Tensor] = {}
        function = self.function
        if isinstance(function, torch.nn.Module):
            for name, p in function.named_parameters():
                stand_in = torch.nn.Parameter(recorder.placeholder(name, p), p.requires_grad)
                parameters[name] = replaced[name] = stand_in
            for name, b in function.named_buffers():
                replaced[name] = recorder.placeholder(name, b)
        counter = iter(range(1 << 30))

        def stand_in(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            made = recorder.placeholder(f"input{next(counter)}", value)
            return made.requires_grad_(value.requires_grad)

        inputs = pytree.tree_map(stand_in, self.example_inputs)
        args, kwargs = ((), inputs) if isinstance(inputs, Mapping) else (tuple(inputs), {})
        if isinstance(function, torch.nn.Module):
            return (
                lambda: torch.func.functional_call(function, replaced, args, dict(kwargs)),
                parameters,
            )
        return lambda: function(*args, **kwargs), parameters

    def _make_optimizer(
        self, parameters: Mapping[str, torch.nn.Parameter]
    ) -> torch.optim.Optimizer:
        if not parameters:
            raise TypeError("an optimizer needs a module with parameters")
        if not isinstance(self.optimizer, torch.optim.Optimizer):
            assert self.optimizer is not None
            return self.optimizer(list(parameters.values()))
        assert isinstance(self.function, torch.nn.Module)
        ours = {p: parameters[n] for n, p in self.function.named_parameters()}
        groups = [
            {**group, "params": [ours[p] for p in group["params"]]}
            for group in self.optimizer.param_groups
        ]
        return type(self.optimizer)(groups)


def _restore_state(
    recorder: _Recorder,
    optimizer: torch.optim.Optimizer,
    parameters: Mapping[str, torch.nn.Parameter],
    state: list[dict[str, Any]],
) -> None:
    """Gives each parameter the state that a first step left, as placeholders."""
    names = {id(p): n for n, p in parameters.items()}
    ordered = [p for group in optimizer.param_groups for p in group["params"]]
    for parameter, values in zip(ordered, state, strict=True):
        for key, value in values.items():
            if isinstance(value, torch.Tensor) and value.device.type == "tpu":
                label = f"{key} {names[id(parameter)]}"
                optimizer.state[parameter][key] = recorder.placeholder(label, value)
            else:
                copied = value.clone() if isinstance(value, torch.Tensor) else value
                optimizer.state[parameter][key] = copied


def _tensors(output: Any) -> dict[str, torch.Tensor]:
    leaves = [x for x in pytree.tree_leaves(output) if isinstance(x, torch.Tensor)]
    if not leaves:
        raise TypeError("a captured function must return at least one tensor")
    for i, leaf in enumerate(leaves):
        if leaf.device.type != "tpu":
            raise RuntimeError(
                f"result {i} of the captured function is on {leaf.device}, expected tpu: it does "
                "not depend on the inputs, or the function moved it away"
            )
    return {f"result{i}": leaf for i, leaf in enumerate(leaves)}
