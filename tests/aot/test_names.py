"""Names of topologies, where libtpu is looked for, what importing costs."""

import pytest
from support import run_python
from torch_tpu import _plugins, aot
from torch_tpu.aot import library


@pytest.mark.parametrize(
    ("name", "resolved"),
    [
        ("v5e:1x1", "v5e:1x1"),
        ("V5E:2x2", "v5e:2x2"),
        ("v6e:16x16", "v6e:16x16"),
        ("tpu7x:2x2x1", "tpu7x:2x2x1"),
        ("v5:2x2x1", "v5p:2x2x1"),
        ("v6e", "v6e:1x1"),
        ("trillium", "v6e:1x1"),
        ("ironwood", "tpu7x:1x1x1"),
        ("v5litepod-8", "v5e:2x4"),
        ("v5e-4", "v5e:2x2"),
        ("v6e-256", "v6e:16x16"),
        ("v4-8", "v4:2x2x1"),
        ("v5p-8", "v5p:2x2x1"),
        ("tpu7x-8", "tpu7x:2x2x1"),
        ("tpu7x-2", "tpu7x:1x1x1"),
        ("v2-8", "v2:2x2"),
    ],
)
def test_topology_names(name, resolved):
    assert aot.resolve_topology(name) == resolved


@pytest.mark.parametrize("name", ["", "tpu8x:1x1", "v5e:", "v5e:4", "v5e:axb", "v5e-3", "gpu"])
def test_unknown_topologies_list_the_known(name):
    with pytest.raises(aot.UnknownTopology) as caught:
        aot.resolve_topology(name)
    assert repr(name) in str(caught.value)
    for known in ("v5e:1x1 to 16x16", "v6e:1x1", "tpu7x:1x1x1", "trillium", "v5litepod-8"):
        assert known in str(caught.value)


def test_missing_libtpu_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(_plugins, "_setting", lambda name: "")
    monkeypatch.setattr(_plugins, "find_libtpu", lambda: None)
    with pytest.raises(aot.LibtpuNotFound) as caught:
        aot.compile_text("module {}")
    assert "pip install --no-deps libtpu" in str(caught.value)
    assert "does not redistribute it" in str(caught.value)


def test_wrong_library_path_is_named(monkeypatch):
    monkeypatch.setattr(_plugins, "_setting", lambda name: "/nowhere/libtpu.so")
    with pytest.raises(aot.LibtpuNotFound, match=r"TPU_LIBRARY_PATH is '/nowhere/libtpu.so'"):
        library.find_libtpu()


def test_library_path_comes_from_the_registry(tmp_path):
    path = tmp_path / "libtpu.so"
    path.touch()
    code = "from torch_tpu import aot; print(aot.find_libtpu())"
    assert run_python(code, TPU_LIBRARY_PATH=str(path)).stdout.strip() == str(path)


def test_import_of_the_device_leaves_aot_alone():
    code = "import sys, torch_tpu; print([m for m in sys.modules if m.startswith('torch_tpu.aot')])"
    assert run_python(code).stdout.strip() == "[]"


def test_captured_takes_plain_tuples():
    captured = aot.Captured("module {}", inputs=[("x", (2, 3), "float32")])
    assert captured.inputs == [aot.Value("x", (2, 3), "float32")]
