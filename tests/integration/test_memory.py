# Memory figures: they rise and fall with live tensors, and the peak is kept.
import gc

import torch
from support import run_python, tpu_only

pytestmark = tpu_only

MEGABYTE = 2**20


def settled():
    gc.collect()
    torch.tpu.empty_cache()
    torch.tpu.synchronize()
    return torch.tpu.memory_allocated()


def made(megabytes):
    """A tensor with bytes of its own on the device, not a constant that is still to be made."""
    return torch.ones(megabytes * MEGABYTE // 4).to("tpu")


def test_rises_and_falls():
    before = settled()
    x = made(4)
    assert settled() - before >= 4 * MEGABYTE
    y = x + 1
    assert settled() - before >= 8 * MEGABYTE
    del x
    assert 4 * MEGABYTE <= settled() - before < 8 * MEGABYTE
    assert y[0].item() == 2
    del y
    assert settled() - before < MEGABYTE


def test_peak():
    settled()
    torch.tpu.reset_peak_memory_stats()
    low = torch.tpu.max_memory_allocated()
    x = made(8)
    del x
    settled()
    assert torch.tpu.max_memory_allocated() - low >= 8 * MEGABYTE
    torch.tpu.reset_peak_memory_stats()
    assert torch.tpu.max_memory_allocated() - low < MEGABYTE


def test_views_and_clones_take_no_memory():
    x = made(4)
    before = settled()
    views = [x[i:] for i in range(10)] + [x.view(2, -1).t()]
    copy = x.clone()
    assert settled() - before < MEGABYTE
    copy[0] = 5  # from here on the two differ
    assert settled() - before >= 4 * MEGABYTE
    assert x[0].item() == 1
    assert len(views) == 11


def test_in_place_work_needs_no_second_buffer():
    x = made(16)
    x.add_(1)
    settled()
    torch.tpu.reset_peak_memory_stats()
    before = torch.tpu.max_memory_allocated()
    for _ in range(3):
        x.mul_(2)
        x[5:100].fill_(1)
    settled()
    assert torch.tpu.max_memory_allocated() - before < 16 * MEGABYTE


def test_training_does_not_leak():
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    model.to("tpu")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    data, levels = torch.randn(32, 64).to("tpu"), []
    for _ in range(6):
        optimizer.zero_grad()
        model(data).pow(2).mean().backward()
        optimizer.step()
        levels.append(settled())
    assert levels[-1] == levels[2]


def test_storage_size_is_logical():
    x = torch.empty(3, 5, dtype=torch.int16, device="tpu")
    assert x.untyped_storage().nbytes() == 30
    x.resize_(0)
    assert x.numel() == 0
    storage = torch.ones(4, device="tpu").untyped_storage()
    storage.resize_(0)
    assert storage.nbytes() == 0


def test_stats_before_the_first_tensor():
    code = (
        "import torch\n"
        "print(torch.tpu.memory_stats(), torch.tpu.memory_allocated(), torch.tpu.is_initialized())"
    )
    assert run_python(code).stdout.split() == ["{}", "0", "False"]
