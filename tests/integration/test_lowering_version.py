# One changed line of a lowering makes programs that were stored before it unreachable.
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import tpu_only

CHECKOUT = Path(__file__).parents[2]
pytestmark = tpu_only

SCRIPT = "cmake/lowering_version.cmake"
OBJECT = "src/CMakeFiles/torch_tpu_graph_objects.dir/__/generated/lowering_version.cc.o"


def find_tool(name):
    """Of this interpreter's environment, else of the path."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.fixture
def tree(tmp_path):
    for folder in ("src", "cmake", "python/torch_tpu"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(CHECKOUT / folder, tmp_path / "tree" / folder, ignore=ignore)
    shutil.copy(CHECKOUT / "CMakeLists.txt", tmp_path / "tree")
    return tmp_path / "tree"


def change_one_line(file):
    """Returns what was there."""
    text = file.read_text()
    file.write_text(text.replace("reduce", "reduce ", 1))
    assert file.read_text() != text
    return text


def test_one_changed_line_of_a_lowering_changes_the_version(tree, tmp_path):
    cmake = find_tool("cmake")

    def version():
        output = tmp_path / "version.cc"
        subprocess.run(
            [cmake, f"-DSOURCE={tree}", f"-DOUTPUT={output}", "-P", CHECKOUT / SCRIPT], check=True
        )
        return output.read_text()

    first = version()
    assert version() == first
    lowering = tree / "src/ops/softmax.cc"
    text = change_one_line(lowering)
    changed = version()
    assert changed != first
    lowering.write_text(text)
    assert version() == first
    # Tests of lowerings decide nothing.
    (tree / "src/ops/shape_test.cc").write_text("")
    assert version() == first


def test_the_build_notices_the_changed_line(tree, tmp_path):
    """The real configuration, of which only the object with the version is compiled."""
    cmake, ninja = find_tool("cmake"), find_tool("ninja")
    build = tmp_path / "build"
    settings = {
        "CMAKE_MAKE_PROGRAM": ninja,
        "CMAKE_BUILD_TYPE": "Debug",
        "Python3_EXECUTABLE": sys.executable,
        "TORCH_TPU_BUILD_TESTS": "OFF",
        "TORCH_TPU_CORE_ONLY": "ON",
    }
    arguments = [f"-D{name}={value}" for name, value in settings.items()]
    run([cmake, "-G", "Ninja", "-S", tree, "-B", build, *arguments])

    def make():
        """The version in the object file, and whether that was written."""
        object_file = build / OBJECT
        before = object_file.stat().st_mtime_ns if object_file.exists() else 0
        said = run([ninja, "-C", build, OBJECT])
        written = object_file.stat().st_mtime_ns != before
        assert not (written and "no work to do" in said)
        (version,) = re.findall(rb"\0([0-9a-f]{16})\0", object_file.read_bytes())
        return version, written

    def idle():
        return "no work to do" in run([ninja, "-C", build, OBJECT])

    first, _ = make()
    assert idle()
    lowering = tree / "src/ops/softmax.cc"
    text = change_one_line(lowering)
    changed, written = make()
    assert written
    assert changed != first
    assert idle()
    lowering.write_text(text)
    assert make() == (first, True)
    # A new lowering, which goes again; what decides nothing; a file that is only newer.
    (tree / "src/ops/new.cc").write_text("// nothing yet\n")
    version, written = make()
    assert written
    assert version != first
    (tree / "src/ops/new.cc").unlink()
    assert make() == (first, True)
    (tree / "src/cache/prune.cc").write_text("// another way to prune\n")
    assert make() == (first, False)
    os.utime(lowering)
    assert make() == (first, False)
    assert idle()


def run(command):
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
