# Reported cases, part A8: transfers, serialisation, printing, data loading, default device.
import copy
import io
import pickle
import subprocess
import sys

import pytest
import torch
from support import (
    DEVICE,
    ON_TPU,
    assert_same,
    compile_count,
    equals,
    run_python,
    to_device,
    tpu_only,
)
from torch import nn


def test_case_102_saved_tensors_load_without_our_package(device, tmp_path):
    path = tmp_path / "x.pt"
    state = {"w": torch.arange(4.0).to(device), "half": torch.ones(2).to(device).bfloat16()}
    torch.save(state, path)
    code = (
        "import torch, sys\n"
        f"x = torch.load({str(path)!r}, map_location='cpu', weights_only=True)\n"
        "assert x['w'].tolist() == [0.0, 1.0, 2.0, 3.0]\n"
        "assert x['half'].dtype == torch.bfloat16\n"
        "assert 'torch_tpu' not in sys.modules\n"
    )
    run_python(code, TORCH_DEVICE_BACKEND_AUTOLOAD="0")


@pytest.mark.parametrize("weights_only", [True, False])
def test_case_102_map_location_to_the_device(device, weights_only):
    buffer = io.BytesIO()
    torch.save({"w": torch.arange(4.0), "n": torch.tensor([2**40])}, buffer)
    buffer.seek(0)
    state = torch.load(buffer, map_location=DEVICE, weights_only=weights_only)
    assert_same(state["w"], torch.arange(4.0))
    assert_same(state["n"], torch.tensor([2**40]))


def test_case_102_device_tensors_come_back_to_the_device(device):
    buffer = io.BytesIO()
    x = torch.arange(6.0).to(device)
    torch.save([x, x.view(2, 3)[1]], buffer)
    buffer.seek(0)
    back, row = torch.load(buffer, weights_only=True)
    assert_same(back, torch.arange(6.0))
    row.fill_(9)
    equals(back, [0, 1, 2, 9, 9, 9])  # views share their storage after loading too


def training_run(model, optimizer, data, steps):
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(data).pow(2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_case_103_optimizer_state_after_load(device):
    torch.manual_seed(0)
    data = torch.randn(4, 3).to(device)
    model = nn.Linear(3, 2).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    training_run(model, optimizer, data, 2)
    saved = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    unbroken = training_run(model, optimizer, data, 3)
    other = nn.Linear(3, 2).to(device)
    resumed = torch.optim.Adam(other.parameters(), lr=0.1)
    other.load_state_dict(saved[0])
    resumed.load_state_dict(saved[1])
    assert training_run(other, resumed, data, 3) == pytest.approx(unbroken, rel=1e-6)
    for state in resumed.state.values():
        assert state["step"].device.type == "cpu"
        assert state["exp_avg"].device.type == torch.device(DEVICE).type


def test_case_104_deepcopy_and_pickle(device):
    module = nn.Linear(2, 2).to(device)
    twin = copy.deepcopy(module)
    with torch.no_grad():
        twin.weight.add_(1)
    assert not torch.equal(twin.weight.cpu(), module.weight.cpu())
    assert twin.weight.requires_grad
    x = torch.arange(3.0).to(device).requires_grad_()
    y = pickle.loads(pickle.dumps(x))
    assert_same(y.detach(), torch.arange(3.0))
    assert y.requires_grad
    with torch.no_grad():
        y.add_(1)
    equals(x, [0, 1, 2])


def test_case_106_parameters_are_moved_in_place(device):
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    model.to(device)
    # PyTorch keeps the Parameter object when the types are compatible; else the module holds new
    # ones and this optimiser would silently train nothing.
    assert parameters[0] is model.weight
    assert parameters[0].device.type == torch.device(DEVICE).type
    before = model.weight.detach().cpu().clone()
    model(torch.ones(2, 3, device=device)).sum().backward()
    optimizer.step()
    torch.testing.assert_close(model.weight.detach().cpu(), before - 0.2)


def test_case_106_set_data_between_devices(device):
    x = torch.ones(2)
    x.data = torch.full((3,), 2.0).to(device)
    assert_same(x, torch.full((3,), 2.0))
    x.data = torch.zeros(2)
    assert x.device.type == "cpu"


PRINTED = [
    torch.tensor([1.5, -2.25, 1e10]),
    torch.tensor([0.1, 7.0], dtype=torch.bfloat16),
    torch.tensor([2**40, -1]),
    torch.tensor([[True, False]]),
    torch.tensor(3.5),
    torch.empty(0, 3),
    torch.arange(1200.0),
    torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0]),
    torch.tensor([1 + 2j]),
]


@pytest.mark.parametrize("x", PRINTED, ids=lambda x: f"{x.dtype}-{tuple(x.shape)}")
def test_case_107_printing(device, x):
    text = repr(x.to(device))
    if ON_TPU:
        assert "device='tpu:0'" in text
        text = text.replace(", device='tpu:0'", "")
    assert "".join(text.split()) == "".join(repr(x).split())
    before = compile_count()
    repr(x.to(device))
    assert compile_count() == before


def test_case_108_item_of_nothing(anywhere):
    with pytest.raises(RuntimeError, match="0 elements") as caught:
        torch.empty(0, device=anywhere).item()
    assert "null" not in str(caught.value).lower()


LOADER = """
import torch
from torch.utils.data import DataLoader, TensorDataset
import multiprocessing
if __name__ == "__main__":
    model = torch.nn.Linear(2, 1).to(DEVICE)
    torch.ones(2, device=DEVICE).sum().item()
    def collate(batch):
        collate.model = model
        return torch.stack([b[0] for b in batch])
    data = TensorDataset(torch.arange(16.0).view(8, 2))
    loader = DataLoader(data, batch_size=4, num_workers=2, collate_fn=collate,
                        multiprocessing_context="fork")
    total = sum(model(batch.to(DEVICE)).shape[0] for batch in loader)
    print("rows", total)
"""


def test_case_109_forked_workers_after_the_device_was_used():
    done = run_python(LOADER.replace("DEVICE", repr(DEVICE)), timeout=180)
    assert "rows 8" in done.stdout


BAD_WORKER = """
import torch
from torch.utils.data import DataLoader, Dataset
class OnDevice(Dataset):
    def __len__(self):
        return 2
    def __getitem__(self, i):
        return torch.ones(2, device="tpu")
if __name__ == "__main__":
    torch.ones(2, device="tpu").sum().item()
    try:
        list(DataLoader(OnDevice(), num_workers=1, multiprocessing_context="fork", timeout=60))
    except RuntimeError as error:
        print("raised", "fork" in str(error))
"""


@tpu_only
def test_case_109_device_tensor_in_a_forked_worker_raises():
    done = run_python(BAD_WORKER, timeout=180)
    assert "raised True" in done.stdout


@tpu_only
def test_case_111_integer_device():
    assert torch.device(0).type == "tpu"
    assert torch.ones(2).to(0).device == torch.device("tpu", 0)


def test_case_112_default_device(device):
    kind = torch.device(DEVICE).type
    with torch.device(device):
        made = [
            torch.zeros(2),
            torch.arange(3),
            torch.tensor([1]),
            torch.linspace(-1, 1, 5),
            nn.Linear(2, 2).weight,
        ]
    assert [x.device.type for x in made] == [kind] * 5
    equals(made[3], [-1, -0.5, 0, 0.5, 1])
    try:
        torch.set_default_device(device)
        assert torch.ones(1).device.type == kind
    finally:
        torch.set_default_device(None)


@pytest.mark.xfail(strict=True, reason="torch.normal ignores the default device, on every device")
@tpu_only
def test_case_112_default_device_of_normal(device):
    with torch.device(device):
        assert torch.normal(0, 1, size=(2, 2)).device.type == DEVICE


def test_interpreter_exits_cleanly_with_live_tensors():
    code = f"import torch; x = torch.ones(3, device='{DEVICE}') + 1; print(x.sum().item())"
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout.strip()) == (0, "6.0"), done.stderr


def test_module_round_trip_keeps_values(device):
    torch.manual_seed(0)
    module = nn.Linear(3, 2)
    before = copy.deepcopy(module.state_dict())
    module.to(device).cpu()
    for name, value in module.state_dict().items():
        assert torch.equal(value, before[name])
    assert torch.equal(to_device(before["weight"]).cpu(), before["weight"])
