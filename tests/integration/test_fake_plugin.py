# Asynchrony, failures, memory limits and lifetimes, on the fake plugin, which does what it is told.
"""The fake plugin does not compute: every result is zero. Each test is a script in a process of its
own, with `fake` as the plugin's control functions."""

import textwrap

import pytest
from support import ForkServer, find_fake_plugin, run_python, tpu_only

FAKE = find_fake_plugin()
pytestmark = [
    tpu_only,
    pytest.mark.skipif(FAKE is None, reason="the fake plugin is not built (cmake --preset core)"),
]

PRELUDE = """
import ctypes, os, time
import torch
library = ctypes.CDLL(os.environ["TORCH_TPU_PJRT_PLUGIN"])

class Fake:
    def __getattr__(self, name):
        function = getattr(library, "torch_tpu_fake_" + name)
        function.restype = ctypes.c_char_p if name == "last_module" else ctypes.c_int64
        def call(*args):
            args = [a.encode() if isinstance(a, str) else a for a in args]
            if name == "set_memory_limit":
                args = [ctypes.c_int64(a) for a in args]
            return function(*args)
        return call

fake = Fake()
INTERNAL, EXHAUSTED = 13, 8

def milliseconds(work):
    start = time.monotonic()
    work()
    return 1000 * (time.monotonic() - start)

def error_of(work):
    try:
        work()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")

def usable():
    x = torch.ones(3).to("tpu")
    assert (x * 2).cpu().shape == (3,)
    assert x.cpu().tolist() == [1.0, 1.0, 1.0]
"""


@pytest.fixture(scope="module")
def on_fake():
    """Runs a script on the fake plugin, in a process of its own."""
    server = ForkServer(TORCH_TPU_PJRT_PLUGIN=FAKE)
    yield lambda script: server.run(PRELUDE + textwrap.dedent(script))
    server.close()


def in_a_fresh_interpreter(script, **env):
    run_python(PRELUDE + textwrap.dedent(script), TORCH_TPU_PJRT_PLUGIN=FAKE, **env)


def test_import_and_probes_call_nothing(on_fake):
    on_fake("""
        torch.manual_seed(1); torch.tpu.is_available(); torch.accelerator.device_count()
        assert fake.call_count("PJRT_Client_Create") == 0
        usable()
        assert fake.call_count("PJRT_Client_Create") == 1
    """)


def test_strict_operators_return_before_the_device_is_done(on_fake):
    on_fake("""
        x = torch.ones(4).to("tpu")
        def chain():
            y = x
            for _ in range(5):
                y = y * x
            return y
        chain().cpu()
        fake.set_execute_delay_ms(200)
        results = []
        assert milliseconds(lambda: results.append(chain())) < 150
        assert milliseconds(lambda: results[0].cpu()) > 800
    """)


def test_debug_operators_wait(on_fake):
    on_fake("""
        x = torch.ones(4).to("tpu")
        (x * x).cpu()
        fake.set_execute_delay_ms(150)
        with torch.tpu.eager_mode("debug"):
            assert milliseconds(lambda: x * x) >= 145
        assert milliseconds(lambda: x * x) < 100
    """)


def test_launch_blocking_variable_waits():
    in_a_fresh_interpreter(
        """
        x = torch.ones(4).to("tpu")
        x * x
        fake.set_execute_delay_ms(150)
        assert milliseconds(lambda: x * x) >= 145
    """,
        TORCH_TPU_LAUNCH_BLOCKING="1",
    )


@pytest.mark.parametrize("mode", ["strict", "defer"])
def test_host_runs_ahead_by_whole_steps(on_fake, mode):
    on_fake(f"""
        mode = torch.tpu.eager_mode("{mode}")
        mode.__enter__()
        w, x = torch.ones(4, 4).to("tpu"), torch.ones(4, 4).to("tpu")
        def step():
            w.sub_((x @ w).relu() * 0.1)
            event = torch.Event(device="tpu")
            event.record()
            return event
        for _ in range(3):
            step()
        torch.tpu.synchronize()
        fake.set_hold(1)
        launches = torch.tpu.launch_count()
        events = [step() for _ in range(3)]
        assert torch.tpu.launch_count() - launches >= 3
        assert not any(event.query() for event in events)
        fake.set_hold(0)
        events[-1].synchronize()
        assert all(event.query() for event in events)
    """)


def test_events_and_streams_tell_real_readiness(on_fake):
    on_fake("""
        x = torch.ones(4).to("tpu")
        (x * x).cpu()
        start, end = (torch.Event(device="tpu", enable_timing=True) for _ in range(2))
        side = torch.Stream(device="tpu")
        fake.set_execute_delay_ms(200)
        start.record()
        y = x * x
        end.record()
        assert not end.query()
        assert not torch.tpu.current_stream().query()
        assert side.query()
        end.synchronize()
        assert end.query() and start.query()
        assert 150 < start.elapsed_time(end) < 2000
        torch.tpu.current_stream().synchronize()
        assert torch.tpu.current_stream().query()
    """)


def test_synchronize_waits_for_all_streams(on_fake):
    on_fake("""
        x = torch.ones(4).to("tpu")
        (x * x).cpu()
        fake.set_execute_delay_ms(150)
        with torch.tpu.stream(torch.Stream(device="tpu")):
            y = x * x
        assert milliseconds(torch.tpu.synchronize) > 100
        assert milliseconds(lambda: y.cpu()) < 100
    """)


def test_non_blocking_copy_to_host_returns_early(on_fake):
    on_fake("""
        x = torch.ones(4).to("tpu")
        (x * x).cpu()
        fake.set_hold(1)
        host = torch.full((4,), 7.0).pin_memory()
        y = x * x
        assert milliseconds(lambda: host.copy_(y, non_blocking=True)) < 200
        fake.set_hold(0)
        torch.tpu.synchronize()
        assert host.tolist() == [0.0] * 4
    """)


@pytest.mark.parametrize(
    ("slot", "work", "operator"),
    [
        ("PJRT_Client_Compile", "lambda: x.tanh()", "tanh"),
        ("PJRT_LoadedExecutable_Execute", "lambda: x.tanh()", "tanh"),
        ("PJRT_Client_BufferFromHostBuffer", "lambda: torch.ones(5).to('tpu').add(1).cpu()", ""),
        ("PJRT_Buffer_ToHostBuffer", "lambda: x.cpu()", ""),
    ],
)
def test_a_failing_call_raises_and_the_process_lives_on(on_fake, slot, work, operator):
    on_fake(f"""
        x = torch.ones(4).to("tpu")
        fake.fail_next("{slot}", 1, INTERNAL, "injected trouble")
        error = error_of({work})
        assert isinstance(error, RuntimeError), repr(error)
        assert "injected trouble" in str(error), error
        assert "{operator}" in str(error), error
        usable()
        x.tanh().cpu()
        assert fake.live_errors() == 0
    """)


def test_failed_execution_is_raised_where_the_result_is_needed(on_fake):
    on_fake("""
        x = torch.ones(4).to("tpu")
        x.tanh().cpu()
        fake.fail_execution(1, INTERNAL, "injected trouble")
        y = x.tanh()
        for work in (lambda: y.cpu(), lambda: y.sum().item(), lambda: repr(y + x)):
            error = error_of(work)
            assert isinstance(error, RuntimeError) and "injected trouble" in str(error), repr(error)
        assert "tanh" in str(error_of(lambda: y.cpu()))
        usable()
        x.tanh().cpu()
    """)


def test_failed_execution_in_debug_names_operator_and_line(on_fake):
    on_fake("""
        def the_line():
            return x.tanh()
        x = torch.ones(4).to("tpu")
        with torch.tpu.eager_mode("debug"):
            x.tanh()
            fake.fail_execution(1, INTERNAL, "injected trouble")
            text = str(error_of(the_line))
        assert "injected trouble" in text and "tanh" in text, text
        assert f":{the_line.__code__.co_firstlineno + 1}" in text, text
        usable()
    """)


def test_failed_execution_shows_at_synchronize(on_fake):
    on_fake("""
        x = torch.ones(4).to("tpu")
        x.tanh().cpu()
        fake.fail_execution(1, INTERNAL, "injected trouble")
        y = x.tanh()
        assert "injected trouble" in str(error_of(torch.tpu.synchronize))
        torch.tpu.synchronize()
        usable()
    """)


def test_failed_in_place_write_leaves_others_alone(on_fake):
    on_fake("""
        x, z = torch.ones(4).to("tpu"), torch.ones(4).to("tpu")
        x.add_(1); torch.tpu.synchronize()
        fake.fail_next("PJRT_LoadedExecutable_Execute", 1, INTERNAL, "injected trouble")
        error_of(lambda: x.add_(1))
        assert z.cpu().tolist() == [1.0] * 4
        x.copy_(torch.full((4,), 5.0))
        assert x.cpu().tolist() == [5.0] * 4
    """)


def test_out_of_memory_and_after(on_fake):
    on_fake("""
        small = torch.ones(16).to("tpu")
        fake.set_memory_limit(fake.live_bytes() + 100_000)
        error = error_of(lambda: torch.ones(1_000_000).to("tpu"))
        assert isinstance(error, torch.OutOfMemoryError), repr(error)
        error = error_of(lambda: (small.expand(100_000, 16) * 2).cpu())
        assert isinstance(error, torch.OutOfMemoryError), repr(error)
        assert "mul" in str(error)
        usable()
        fake.set_memory_limit(0)
        assert torch.ones(1_000_000).to("tpu").cpu().sum().item() == 1_000_000
    """)


def test_memory_is_returned(on_fake):
    on_fake("""
        import gc
        usable()
        gc.collect(); torch.tpu.empty_cache(); torch.tpu.synchronize()
        bytes_before, buffers_before = fake.live_bytes(), fake.live_buffers()
        x = torch.ones(250_000).to("tpu")
        for _ in range(10):
            x = x * x
        x[10:20].add_(1)
        torch.tpu.synchronize()
        assert fake.live_bytes() - bytes_before >= 1_000_000
        del x
        gc.collect(); torch.tpu.empty_cache(); torch.tpu.synchronize()
        assert fake.live_bytes() - bytes_before < 10_000
        assert fake.live_buffers() - buffers_before < 10
        assert torch.tpu.memory_allocated() < 10_000
    """)


def test_in_place_work_donates_its_buffer(on_fake):
    on_fake("""
        x = torch.ones(250_000).to("tpu")
        x.add_(1)
        assert b"tf.aliasing_output" in fake.last_module()
        torch.tpu.synchronize()
        before = fake.live_bytes()
        x.add_(1)
        torch.tpu.synchronize()
        assert fake.live_bytes() == before
        assert x.cpu().tolist()[0] == 1.0  # the fake leaves a donated input's bytes in place
    """)


def test_a_shared_value_is_not_donated(on_fake):
    on_fake("""
        x = torch.ones(8).to("tpu")
        y = x.clone()
        x.mul_(x)
        assert b"tf.aliasing_output" in fake.last_module()
        assert y.cpu().tolist() == [1.0] * 8  # still there, so it was not given away
        assert x.cpu().tolist() == [1.0] * 8  # the fake copies where a donation is refused
    """)


def test_launch_count_is_the_plugins(on_fake):
    on_fake("""
        x = torch.ones(4).to("tpu")
        before = fake.call_count("PJRT_LoadedExecutable_Execute"), torch.tpu.launch_count()
        compiles = fake.call_count("PJRT_Client_Compile"), torch.tpu.compile_count()
        for _ in range(3):
            (x * x).tanh()
        assert fake.call_count("PJRT_LoadedExecutable_Execute") - before[0] == 6
        assert torch.tpu.launch_count() - before[1] == 6
        assert fake.call_count("PJRT_Client_Compile") - compiles[0] == 2
        assert torch.tpu.compile_count() - compiles[1] == 2
    """)


@pytest.mark.parametrize("version", [(0, 40), (1, 0)])
def test_plugin_of_a_foreign_api_version_is_refused(on_fake, version):
    on_fake(f"""
        fake.set_api_version(*{version})
        error = error_of(lambda: torch.ones(1, device="tpu").cpu())
        assert isinstance(error, RuntimeError), repr(error)
        assert "{version[0]}.{version[1]}" in str(error), error
        assert os.environ["TORCH_TPU_PJRT_PLUGIN"] in str(error), error
    """)


def test_exit_with_work_pending():
    in_a_fresh_interpreter("""
        x = torch.ones(4).to("tpu")
        x.tanh().cpu()
        fake.set_execute_delay_ms(100)
        y = x.tanh()
    """)
