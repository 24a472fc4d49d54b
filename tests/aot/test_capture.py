# Captured programs compute what eager execution computes, and capturing runs and compiles nothing.
import functools
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from support import compile_count, launch_count, tpu_only
from torch import nn

pytestmark = tpu_only


def run(captured, tensors):
    from torch_tpu import _C

    outputs = _C._run_module(captured.text, [t.detach().to("tpu").contiguous() for t in tensors])
    return {v.name: t.cpu() for v, t in zip(captured.outputs, outputs, strict=True)}


def network():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5)
    )


def test_forward_of_a_module_and_of_its_meta_copy():
    from torch_tpu.aot import capture

    model = network().eval()
    x = torch.randn(2, 1, 8, 8)
    launches, compiles = launch_count(), compile_count()
    pairs = ((model, x), (network().eval().to("meta"), x.to("meta")))
    captured, hollow = [capture(m, (t,)) for m, t in pairs]
    assert (launch_count(), compile_count()) == (launches, compiles)
    assert hollow.text == captured.text
    assert [v.name for v in captured.inputs][:2] == ["0.weight", "0.bias"]
    assert captured.inputs[-1].name == "input0"
    assert captured.outputs[0].shape == (2, 5)
    state = [*model.parameters(), *model.buffers()]
    got = run(captured, [*state, x])
    torch.testing.assert_close(got["result0"], model(x), rtol=1e-5, atol=1e-5)


def test_gradients():
    from torch_tpu.aot import capture

    model = network()
    x = torch.randn(4, 1, 8, 8)
    captured = capture(model, (x,), loss_fn=lambda out: out.square().mean())
    state = [*model.parameters(), *(b.clone() for b in model.buffers())]
    got = run(captured, [*state, x])
    loss = model(x).square().mean()
    loss.backward()
    torch.testing.assert_close(got["loss"], loss.detach(), rtol=1e-5, atol=1e-5)
    for name, p in model.named_parameters():
        torch.testing.assert_close(got[f"grad {name}"], p.grad, rtol=1e-4, atol=1e-5)
    for name, b in model.named_buffers():
        torch.testing.assert_close(got[f"new {name}"], b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "optimizer",
    [
        functools.partial(torch.optim.SGD, lr=0.1, momentum=0.9),
        functools.partial(torch.optim.AdamW, lr=0.01),
    ],
    ids=["sgd", "adamw"],
)
def test_training_step(optimizer):
    from torch_tpu.aot import capture

    model = nn.Linear(3, 2)
    x = torch.randn(4, 3)
    captured = capture(model, (x,), loss_fn=lambda out: out.square().sum(), optimizer=optimizer)
    reference = optimizer(list(model.parameters()))

    def step():
        reference.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        reference.step()
        return loss.detach()

    step()
    labels = dict(model.named_parameters())
    inputs = []
    for value in captured.inputs:
        key, _, name = value.name.partition(" ")
        if value.name == "input0":
            inputs.append(x)
        elif name:
            inputs.append(reference.state[labels[name]][key].clone())
        else:
            inputs.append(labels[value.name].detach().clone())
    got = run(captured, inputs)
    loss = step()
    torch.testing.assert_close(got["loss"], loss, rtol=1e-5, atol=1e-6)
    for name, p in labels.items():
        torch.testing.assert_close(got[f"new {name}"], p.detach(), rtol=1e-5, atol=1e-6)


def test_every_in_place_input_takes_the_memory_of_its_new_value():
    from torch_tpu.aot import capture

    def add(x, y):
        x[0] += y
        return x.sum()

    captured = capture(add, (torch.zeros(2, 3), torch.ones(3)))
    assert [v.name for v in captured.outputs] == ["result0", "new input0"]
    assert "%arg0: tensor<2x3xf32> {tf.aliasing_output = 1 : i32}" in captured.text
    got = run(captured, [torch.zeros(2, 3), torch.ones(3)])
    assert got["result0"].item() == 3
    assert got["new input0"].tolist() == [[1, 1, 1], [0, 0, 0]]


def test_channels_last_inputs_keep_their_strides():
    from torch_tpu.aot import capture

    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    captured = capture(lambda t: t * 2, (x,))
    assert captured.inputs[0].shape == (2, 4, 5, 3)
    (got,) = run(captured, [x.permute(0, 2, 3, 1)]).values()
    assert torch.equal(got, x * 2)


def test_operators_carry_the_line_that_called_them():
    from torch_tpu.aot import capture

    captured = capture(lambda x: F.relu(x), (torch.zeros(2),))  # this line
    lines = Path(__file__).read_text().splitlines()
    here = next(i for i, line in enumerate(lines, 1) if "# this line" in line)
    assert f'loc("aten::relu"("{__file__}":{here}:0))' in captured.text
    assert captured.operators == ["aten::relu"]


@pytest.mark.parametrize(
    "ask",
    [lambda x: x * x.sum().item(), lambda x: x if x.sum() > 0 else -x, lambda x: x[x > 0]],
    ids=["item", "condition", "mask"],
)
def test_asking_for_a_value_names_the_line(ask):
    from torch_tpu.aot import capture

    with pytest.raises(RuntimeError, match=r"not run.*test_capture\.py:\d+"):
        capture(ask, (torch.zeros(2),))
    assert (torch.ones(2, device="tpu") + 1).tolist() == [2, 2]  # the device is usable


def test_wrong_uses():
    from torch_tpu.aot import capture

    x = torch.zeros(2)
    with pytest.raises(TypeError, match="at least one tensor"):
        capture(lambda t: None, (x,))
    with pytest.raises(RuntimeError, match=r"result 0 .* is on cpu"):
        capture(lambda t: torch.zeros(2), (x,))
    with pytest.raises(TypeError, match="loss must be a tensor of one element"):
        capture(nn.Linear(2, 2), (x,), loss_fn=lambda out: out)
    with pytest.raises(TypeError, match="needs a module with parameters"):
        capture(lambda t: t.sum(), (x,), optimizer=torch.optim.SGD)


def test_fake_tensors_and_exported_programs():
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch_tpu.aot import capture

    model = nn.Linear(3, 2)
    x = torch.randn(4, 3)
    plain = capture(model, (x,))
    with FakeTensorMode():
        fake_model, fake_x = nn.Linear(3, 2), torch.empty(4, 3)
    fake = capture(fake_model, (fake_x,))
    assert fake.inputs == plain.inputs
    assert fake.outputs == plain.outputs
    exported = capture(torch.export.export(model, (x,)), (x,))
    got = run(exported, [*model.parameters(), x])
    torch.testing.assert_close(got["result0"], model(x).detach(), rtol=1e-5, atol=1e-6)


def test_a_model_too_large_for_this_host_is_captured():
    from torch_tpu.aot import capture

    with torch.device("meta"):
        model = nn.Sequential(*(nn.Linear(65536, 65536, bias=False) for _ in range(8)))
        x = torch.empty(1, 65536)
    captured = capture(model, (x,))
    assert sum(p.numel() for p in model.parameters()) > 3e10
    assert captured.operators.count("aten::mm") == 8


def test_padded_results_keep_their_length():
    from torch_tpu.aot import capture

    captured = capture(lambda x: x.nonzero(), (torch.zeros(5),), padded=True)
    assert captured.outputs[0].shape == (5, 1)


@pytest.mark.parametrize(
    ("size", "options"),
    [
        ((2, 3, 8, 8), {"kernel_size": 2}),
        ((2, 3, 9, 7), {"kernel_size": 3, "stride": 2, "padding": 1}),
        ((1, 2, 9, 7), {"kernel_size": 3, "stride": 2, "ceil_mode": True}),
        ((1, 2, 9, 7), {"kernel_size": 2, "stride": 3}),
        ((1, 2, 9, 9), {"kernel_size": 2, "dilation": 2}),
    ],
)
def test_max_pool_gradient_for_a_tpu(size, options):
    # The program differs from eager's on the CPU plugin: it finds the maxima anew.
    from torch_tpu.aot import capture

    class Pooled(nn.Module):
        def __init__(self):
            super().__init__()
            self.x = nn.Parameter(torch.randn(size).round())  # of equal values the first one wins
            with torch.no_grad():
                self.x[0, 0, 2, 2] = self.x[0, 0, 3, 2] = float("nan")  # and of these the last

        def forward(self, weight):
            return F.max_pool2d(self.x, **options).nan_to_num() * weight

    model = Pooled()
    shape = F.max_pool2d(model.x, **options).shape
    weight = torch.arange(1.0, 1 + shape.numel()).reshape(shape)
    got = run(capture(model, (weight,), loss_fn=torch.sum), [model.x, weight])
    model(weight).sum().backward()
    torch.testing.assert_close(got["grad x"], model.x.grad, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("level", "name"), [("medium", "DEFAULT"), ("high", "HIGH"), ("highest", "HIGHEST")]
)
def test_precision_is_part_of_the_program(level, name):
    from torch_tpu.aot import capture

    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 2))
    with torch.tpu.precision(level):
        text = capture(model, (torch.zeros(1, 1, 4, 4),)).text
    assert text.count(f"precision_config = [#stablehlo<precision {name}>") == 2
