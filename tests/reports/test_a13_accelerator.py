# Reported cases, part A13: backend registration and the accelerator API.
import itertools
import time

import torch
from support import DEVICE, run_python, tpu_only


@tpu_only
def test_case_138_torch_accelerator_answers():
    assert torch.accelerator.is_available()
    assert torch.accelerator.device_count() == 1
    assert torch.accelerator.current_accelerator().type == "tpu"
    x = torch.ones(1024, device="tpu") + 1
    torch.accelerator.synchronize()
    stats = torch.accelerator.memory.memory_stats()
    assert stats["allocated_bytes.all.current"] >= 4096
    torch.accelerator.memory.reset_peak_memory_stats()
    assert torch.accelerator.memory.memory_allocated() >= 4096
    torch.accelerator.memory.empty_cache()
    assert x.sum().item() == 2048


@tpu_only
def test_case_139_capability_probes():
    assert torch.tpu.is_available() is True
    assert torch.tpu.device_count() == 1
    assert torch.tpu.current_device() == 0
    assert torch.tpu.is_bf16_supported() is True
    assert isinstance(torch.tpu.get_device_name(), str)
    torch.tpu.manual_seed_all(3)
    assert isinstance(torch.tpu.get_rng_state(), torch.Tensor)
    assert torch.tpu.initial_seed() == 3


@tpu_only
def test_case_139_probes_never_raise_without_hardware():
    code = (
        "import torch\n"
        "torch.tpu.is_available(); torch.tpu.device_count(); torch.tpu.is_bf16_supported()\n"
        "torch.tpu.is_initialized(); torch.tpu.manual_seed_all(1); torch.manual_seed(1)\n"
        "torch.accelerator.is_available(); torch.accelerator.device_count()\n"
    )
    run_python(code, TORCH_TPU_PJRT_PLUGIN="/nonexistent/plugin.so")


def test_case_140_ragged_rows_in_a_loop_stay_within_time(device):
    gen = torch.Generator().manual_seed(1)
    lengths = torch.randint(1, 40, (64,), generator=gen)
    offsets = [0, *lengths.cumsum(0).tolist()]
    values = torch.randn(offsets[-1], 8, generator=gen)
    there = values.to(device)
    start = time.monotonic()
    rows = [there[a:b].mean(0) for a, b in itertools.pairwise(offsets)]
    out = torch.stack(rows).cpu()
    # At most 39 lengths, so 39 signatures of two programs each, at 80 ms a compile; and slack.
    assert time.monotonic() - start < 30
    expected = torch.stack([values[a:b].mean(0) for a, b in itertools.pairwise(offsets)])
    torch.testing.assert_close(out, expected)
    assert DEVICE in str(rows[0].device)
