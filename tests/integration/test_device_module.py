# torch.tpu, torch.accelerator, streams, events, device contexts, generated methods.
import threading

import pytest
import torch
from support import equals, tpu_only
from torch import nn

pytestmark = tpu_only


def test_surface_that_pytorch_reads():
    names = (
        "is_available device_count current_device set_device _lazy_init is_initialized _lazy_call "
        "_is_in_bad_fork manual_seed manual_seed_all get_rng_state set_rng_state seed seed_all "
        "initial_seed default_generators get_amp_supported_dtype Stream Event stream "
        "current_stream set_stream synchronize device device_of memory_allocated memory_reserved "
        "memory_stats empty_cache mem_get_info reset_peak_memory_stats"
    )
    missing = [n for n in names.split() if not hasattr(torch.tpu, n)]
    assert missing == []


def test_one_device():
    assert torch.tpu.device_count() == 1
    assert torch.tpu.current_device() == 0
    assert torch.ones(1, device="tpu").device == torch.device("tpu:0")
    torch.tpu.set_device(0)
    with torch.tpu.device(0):
        assert torch.ones(1, device="tpu").device.index == 0
    for use in (
        lambda: torch.tpu.set_device(1),
        lambda: torch.tpu.device(1),
        lambda: torch.ones(1, device="tpu:1"),
    ):
        with pytest.raises(RuntimeError, match=r"one process sees one device|index"):
            use()


def test_accelerator():
    assert torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator() == torch.device("tpu")
    assert torch.accelerator.device_count() == 1
    assert torch.accelerator.current_device_index() == 0
    torch.accelerator.synchronize()
    stream = torch.accelerator.current_stream()
    assert isinstance(stream, torch.Stream)
    assert stream.device.type == "tpu"


def test_generated_methods():
    x = torch.ones(2).tpu()
    assert x.is_tpu
    assert x.device.type == "tpu"
    assert not torch.ones(2).is_tpu
    layer = nn.Linear(2, 2).tpu()
    assert layer.weight.is_tpu
    assert x.untyped_storage().is_tpu
    packed = nn.utils.rnn.pack_sequence([torch.ones(2), torch.ones(1)]).tpu()
    assert packed.data.is_tpu
    assert x.cpu().untyped_storage().tpu().device.type == "tpu"


def test_to_of_the_same_device_is_the_same_tensor():
    x = torch.ones(2, device="tpu")
    assert x.to("tpu") is x
    assert x.tpu() is x
    assert x.to("tpu:0") is x
    assert x.to("tpu", copy=True) is not x


def test_constructors_and_likes():
    x = torch.ones(2, 3, device="tpu")
    for made in (
        torch.zeros_like(x),
        torch.empty_like(x),
        torch.full_like(x, 3),
        torch.rand_like(x),
        x.new_zeros(2, 3),
        x.new_tensor([[1.0, 2, 3]] * 2),
        torch.randn_like(x, device="tpu"),
    ):
        assert made.device == x.device
        assert made.shape == (2, 3)
    equals(torch.eye(2, device="tpu"), [[1, 0], [0, 1]])
    equals(torch.arange(1, 7, 2, device="tpu"), [1, 3, 5], torch.int64)
    equals(torch.full((2,), True, device="tpu"), [True, True], torch.bool)
    assert torch.zeros_like(x, device="cpu").device.type == "cpu"


def test_default_device_context():
    with torch.device("tpu"):
        layer = nn.Linear(3, 2)
        assert layer.weight.is_tpu
        with torch.device("cpu"):
            assert not torch.zeros(1).is_tpu
        assert torch.zeros(1).is_tpu
    assert not torch.zeros(1).is_tpu


def test_streams():
    side = torch.Stream(device="tpu")
    default = torch.tpu.current_stream()
    assert side != default
    with torch.tpu.stream(side):
        assert torch.tpu.current_stream() == side
        x = torch.ones(8, device="tpu") * 2
    assert torch.tpu.current_stream() == default
    default.wait_stream(side)
    equals(x + 1, [3] * 8)
    side.synchronize()
    assert side.query()
    torch.tpu.set_stream(side)
    assert torch.tpu.current_stream() == side
    torch.tpu.set_stream(default)


def test_current_stream_belongs_to_the_thread():
    side, seen = torch.Stream(device="tpu"), []
    with torch.tpu.stream(side):
        thread = threading.Thread(target=lambda: seen.append(torch.tpu.current_stream()))
        thread.start()
        thread.join()
    assert seen[0] != side


def test_events():
    start, end = (torch.Event(device="tpu", enable_timing=True) for _ in range(2))
    a = torch.randn(512, 512, device="tpu")
    (a @ a).cpu()
    start.record()
    for _ in range(4):
        a = a @ a
        a = a / a.abs().max()
    end.record()
    end.synchronize()
    assert end.query()
    assert start.query()
    elapsed = start.elapsed_time(end)
    assert 0 < elapsed < 60_000
    assert end.elapsed_time(start) < 0
    assert torch.isfinite(a).all().item()


def test_event_orders_streams():
    side = torch.Stream(device="tpu")
    event = torch.Event(device="tpu")
    x = torch.full((64, 64), 2.0, device="tpu")
    y = x @ x
    event.record(torch.tpu.current_stream())
    side.wait_event(event)
    with torch.tpu.stream(side):
        z = y + 1
    assert z[0, 0].item() == 257.0


def test_event_without_timing_refuses_elapsed_time():
    start, end = torch.Event(device="tpu"), torch.Event(device="tpu")
    start.record()
    end.record()
    end.synchronize()
    with pytest.raises((RuntimeError, ValueError)):
        start.elapsed_time(end)


def test_dlpack_and_numpy_say_what_to_do():
    x = torch.ones(2, device="tpu")
    with pytest.raises(TypeError, match="cpu"):
        x.numpy()
    assert x.cpu().numpy().tolist() == [1.0, 1.0]


def test_properties():
    properties = torch.tpu.get_device_properties()
    assert properties.plugin.endswith(".so")
    assert properties.total_memory > 2**20
    assert torch.tpu.get_device_name() == properties.name
    free, total = torch.tpu.mem_get_info()
    assert 0 < free <= total


def test_pinned_memory():
    x = torch.arange(4.0).pin_memory()
    assert x.is_pinned()
    assert not torch.arange(4.0).is_pinned()
    equals(x.to("tpu", non_blocking=True), [0, 1, 2, 3])


def test_autograd_runs_on_the_device_thread_too():
    results = []

    def work():
        x = torch.full((3,), 2.0, device="tpu", requires_grad=True)
        (x * x).sum().backward()
        results.append(x.grad.cpu().tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[4.0, 4.0, 4.0]] * 4
