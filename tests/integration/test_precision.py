# Precision of float32 products: where it is set, what wins, and which programs it changes.
import subprocess
import sys
import threading

import pytest
import torch
from support import compile_count, tpu_only

pytestmark = tpu_only


@pytest.fixture(autouse=True)
def untouched():
    yield
    torch.backends.tpu.matmul_precision = None


def level():
    return torch.tpu.get_precision()


def in_new_process(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split(), done.stderr


def test_blocks_nest_and_are_of_their_thread():
    seen = []
    with torch.tpu.precision("highest"):
        with torch.tpu.precision("high"):
            assert level() == "high"
            other = threading.Thread(target=lambda: seen.append(level()))
            other.start()
            other.join()
        assert level() == "highest"
    assert seen == [level()]


def test_an_exception_ends_the_block():
    before = level()
    with pytest.raises(KeyError), torch.tpu.precision("highest"):
        raise KeyError
    assert level() == before


def test_the_backend_setting_holds_for_all_threads_and_yields_to_a_block():
    torch.backends.tpu.matmul_precision = "high"
    seen = []
    other = threading.Thread(target=lambda: seen.append(level()))
    other.start()
    other.join()
    with torch.tpu.precision("medium"):
        assert level() == "medium"
    assert (seen, level(), torch.backends.tpu.matmul_precision) == (["high"], "high", "high")


def test_pytorchs_own_setting_counts_once_it_was_called():
    out, _ = in_new_process(
        "import torch; print(torch.tpu.get_precision())\n"
        "for p in ('highest', 'high', 'medium'):\n"
        "    torch.set_float32_matmul_precision(p); print(torch.tpu.get_precision())\n"
        "torch.backends.tpu.matmul_precision = 'high'; print(torch.tpu.get_precision())\n"
    )
    assert out == ["medium", "highest", "high", "medium", "high"]


@pytest.mark.parametrize("wrong", ["tf32", "", "HIGHEST"])
def test_other_names_are_refused_and_change_nothing(wrong):
    before = level()
    with pytest.raises(ValueError, match="expected medium, high or highest"):
        torch.backends.tpu.matmul_precision = wrong
    with pytest.raises(ValueError, match="expected"), torch.tpu.precision(wrong):
        pass
    assert level() == before


def test_it_is_part_of_the_key_of_products_alone():
    x = torch.ones(7, 7, device="tpu")
    x @ x, x + x
    compiled = compile_count()
    with torch.tpu.precision("high"):
        x + x
        assert compile_count() == compiled
        x @ x
        assert compile_count() == compiled + 1
        x @ x
    x @ x
    assert compile_count() == compiled + 1


def test_high_and_highest_warn_once():
    _, said = in_new_process(
        "import torch; x = torch.ones(3, 3, device='tpu')\n"
        "x @ x\n"
        "for _ in range(2):\n"
        "    for p in ('high', 'highest'):\n"
        "        with torch.tpu.precision(p): x @ x; x[:2] @ x\n"
    )
    assert said.count("precision 'high'") == 1
    assert said.count("precision 'highest'") == 1
    assert "medium'" not in said


def test_on_a_cpu_plugin_float32_stays_float32():
    x, y = torch.randn(64, 64), torch.randn(64, 64)
    for precision in ("medium", "high", "highest"):
        with torch.tpu.precision(precision):
            got = (x.to("tpu") @ y.to("tpu")).cpu()
        torch.testing.assert_close(got, x @ y, rtol=1e-5, atol=1e-4)
