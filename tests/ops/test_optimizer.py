# Fused optimizer steps and gradient scaling.
import pytest
import torch
from harness import Case, T, V, cases_to_tests
from support import DEVICE

F32_F64 = (torch.float32, torch.float64)
PAIR = [T(2, 3), T(4)]
SQUARES = [T(2, 3, low=0.1, high=1), T(4, low=0.1, high=1)]
STEPS = [V(3.0, dtype=torch.float32), V(1.0, dtype=torch.float32)]
# Functional forms give row-major lists here; on CPU they have the layout of the old values.
OPTIONS = {"dtypes": F32_F64, "backward": False, "strides": "plain"}
BETAS = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8}


def one(value):
    return V(value, dtype=torch.float32)


def adam(name, op="_fused_adam", maxima=False, options=()):
    options = {"weight_decay": 0.0, "amsgrad": maxima, "maximize": False, **BETAS, **dict(options)}
    largest = SQUARES if maxima else []
    return Case(
        f"aten::{op}",
        PAIR,
        PAIR,
        PAIR,
        SQUARES,
        largest,
        STEPS,
        kwargs=options,
        name=name,
        **OPTIONS,
    )


def sgd(name, momentum, options=()):
    base = {"weight_decay": 0.0, "momentum": momentum, "lr": 0.1, "dampening": 0.0}
    flags = {"nesterov": False, "maximize": False, "is_first_step": False}
    buffers = PAIR if momentum else []
    return Case(
        "aten::_fused_sgd",
        PAIR,
        PAIR,
        buffers,
        kwargs={**base, **flags, **dict(options)},
        name=name,
        **OPTIONS,
    )


def adagrad(name, options=()):
    base = {"lr": 0.1, "lr_decay": 0.01, "weight_decay": 0.1, "eps": 1e-10, "maximize": False}
    return Case(
        "aten::_fused_adagrad",
        PAIR,
        PAIR,
        SQUARES,
        STEPS,
        kwargs={**base, **dict(options)},
        name=name,
        **OPTIONS,
    )


CASES = [
    adam("plain"),
    adam("decay", options={"weight_decay": 0.1}),
    adam("amsgrad", maxima=True),
    adam("maximize", options={"maximize": True}),
    adam("scaled", options={"grad_scale": one(4.0), "found_inf": one(0.0)}),
    adam("not finite", options={"grad_scale": one(4.0), "found_inf": one(1.0)}),
    adam("decoupled", "_fused_adamw", options={"weight_decay": 0.1}),
    adam("rate", "_fused_adamw.tensor_lr", options={"lr": one(0.05)}),
    sgd("plain", 0.0),
    sgd("momentum", 0.9),
    sgd("decay", 0.9, {"weight_decay": 0.1, "dampening": 0.3}),
    sgd("nesterov", 0.9, {"nesterov": True, "maximize": True}),
    sgd("first", 0.9, {"is_first_step": True}),
    sgd("not finite", 0.9, {"grad_scale": one(4.0), "found_inf": one(1.0)}),
    adagrad("plain"),
    adagrad("maximize", {"maximize": True}),
    Case(
        "aten::_amp_foreach_non_finite_check_and_unscale",
        PAIR,
        one(0.0),
        one(0.25),
        dtypes=F32_F64,
        backward=False,
    ),
    Case(
        "aten::_amp_foreach_non_finite_check_and_unscale",
        [V([1.0, float("inf")]), V([2.0])],
        one(0.0),
        one(0.5),
        name="infinite",
        dtypes=F32_F64,
        backward=False,
    ),
] + [
    Case(
        "aten::_amp_update_scale",
        one(1024.0),
        V(tracker, dtype=torch.int32),
        one(found),
        2.0,
        0.25,
        3,
        name=f"{tracker} {found}",
        dtypes=(torch.float32,),
        backward=False,
    )
    for tracker, found in ((0, 0.0), (2, 0.0), (2, 1.0))
]
test_optimizer = cases_to_tests(CASES)

OPTIMIZERS = {
    "adam": lambda p, **o: torch.optim.Adam(p, lr=0.05, weight_decay=0.01, **o),
    "adamw": lambda p, **o: torch.optim.AdamW(p, lr=0.05, amsgrad=True, **o),
    "sgd": lambda p, **o: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, **o),
    "adagrad": lambda p, **o: torch.optim.Adagrad(p, lr=0.05, **o),
}


@pytest.mark.parametrize("options", [{"fused": True}, {"foreach": True}, {"foreach": False}])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_equal_cpu(name, options):
    def train(device, **options):
        start = torch.linspace(-1, 1, 12).view(3, 4)
        # One transposed parameter: in-place updates go through its strides.
        params = [start.clone().to(device), start.clone().to(device).t()]
        params = [p.requires_grad_() for p in params]
        optimizer = OPTIMIZERS[name](params, **options)
        for step in range(4):
            optimizer.zero_grad()
            sum(((p - 0.3 * step) ** 2).sum() for p in params).backward()
            optimizer.step()
        return [p.detach().cpu() for p in params]

    for got, want in zip(train(DEVICE, **options), train("cpu", foreach=False), strict=True):
        torch.testing.assert_close(got, want)


def test_grad_scaler_skips_a_step_that_is_not_finite():
    def train(device):
        p = torch.ones(3, device=device, requires_grad=True)
        optimizer = torch.optim.SGD([p], lr=0.1)
        scaler = torch.amp.GradScaler(device, init_scale=8.0, growth_interval=1)
        scales = []
        for factor in (1.0, float("inf"), 2.0):
            optimizer.zero_grad()
            scaler.scale((p * factor).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            scales.append(scaler.get_scale())
        return p.detach().cpu(), scales

    (got, got_scales), (want, want_scales) = train(DEVICE), train("cpu")
    torch.testing.assert_close(got, want)
    assert got_scales == want_scales == [16.0, 8.0, 16.0]
