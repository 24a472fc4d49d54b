# Saving and loading: tensors, modules, optimisers, views, dtypes, map_location, pickling.
import io
import pickle

import pytest
import torch
from support import DEVICE, assert_same, equals, tpu_only
from torch import nn


def round_trip(value, **options):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return torch.load(buffer, **options)


@pytest.mark.parametrize(
    "dtype",
    [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64, torch.uint8],
    ids=str,
)
def test_dtypes(device, dtype):
    x = torch.tensor([[1, 0], [3, 1]]).to(dtype)
    back = round_trip(x.to(device), weights_only=True)
    assert back.device.type == torch.device(DEVICE).type
    assert_same(back, x)
    assert_same(round_trip(x.to(device), map_location=DEVICE), x)
    assert torch.equal(round_trip(x.to(device), map_location="cpu"), x)


def test_strides_and_offsets_are_kept(device):
    base = torch.arange(24.0).to(device).view(4, 6)
    view = base[1:, ::2].t()
    back = round_trip(view)
    assert back.stride() == view.stride()
    assert back.storage_offset() == view.storage_offset()
    assert_same(back, view.cpu())


def test_shared_storage_stays_shared(device):
    base = torch.zeros(4).to(device)
    state = round_trip({"base": base, "view": base[2:]})
    state["view"].fill_(3)
    equals(state["base"], [0, 0, 3, 3])


def test_tied_parameters_stay_tied(device):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)
            self.b.weight = self.a.weight

    model = round_trip(Tied().to(device).state_dict())
    model["a.weight"].zero_()
    equals(model["b.weight"], [[0, 0], [0, 0]])


def test_state_dicts_move_between_devices(device):
    torch.manual_seed(0)
    here = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    there = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).to(device)
    there.load_state_dict(here.state_dict())
    for name, value in there.state_dict().items():
        assert value.device.type == torch.device(DEVICE).type
        assert torch.equal(value.cpu(), here.state_dict()[name])
    back = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    back.load_state_dict(there.state_dict())
    assert torch.equal(back[0].weight, here[0].weight)


def test_load_with_mmap_and_assign(device, tmp_path):
    path = tmp_path / "state.pt"
    torch.save({"weight": torch.full((2, 2), 3.0), "bias": torch.ones(2)}, path)
    state = torch.load(path, map_location=DEVICE, mmap=DEVICE == "cpu", weights_only=True)
    with torch.device("meta"):
        layer = nn.Linear(2, 2)
    layer.load_state_dict(state, assign=True)
    equals(layer(torch.ones(1, 2, device=device)), [[7, 7]])


def test_to_empty_from_meta(device):
    with torch.device("meta"):
        layer = nn.Linear(2, 2)
    layer.to_empty(device=device)
    with torch.no_grad():
        layer.weight.fill_(1)
        layer.bias.zero_()
    equals(layer(torch.ones(1, 2, device=device)), [[2, 2]])


def test_pickle_and_deepcopy_keep_parameters(device):
    layer = pickle.loads(pickle.dumps(nn.Linear(2, 2).to(device)))
    assert isinstance(layer.weight, nn.Parameter)
    assert layer.weight.device.type == torch.device(DEVICE).type
    layer(torch.ones(1, 2, device=device)).sum().backward()
    equals(layer.weight.grad, [[1, 1], [1, 1]])


def test_saved_while_work_is_pending(device):
    x = torch.randn(300, 300).to(device)
    y = (x @ x) @ x
    assert torch.equal(round_trip(y, map_location="cpu"), y.cpu())


@tpu_only
def test_location_tag():
    storage = torch.ones(1, device="tpu").untyped_storage()
    assert torch.serialization.location_tag(storage) == "tpu:0"


@tpu_only
def test_index_of_a_device_that_is_not_there():
    buffer = io.BytesIO()
    torch.save(torch.ones(1, device="tpu"), buffer)
    buffer.seek(0)
    with pytest.raises(RuntimeError):
        torch.load(buffer, map_location="tpu:3")
