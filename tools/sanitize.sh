#!/usr/bin/env bash
# Builds the layers below PyTorch with sanitizers and runs their tests: sanitize.sh address|thread
# (address: ASan, UBSan and leaks).
source "$(dirname "$0")/lib.sh"
STEPS=3
kind=${1:-address}
case $kind in
  address) preset=core-asan ;;
  thread) preset=core-tsan ;;
  *) die "unknown sanitizer '$kind'" "tools/sanitize.sh address, or thread" ;;
esac
pick_python
need_googletest
make_venv build
export PATH=$VENV/bin:$PATH
step "building with sanitizers: $kind"
run_logged "sanitize-$kind" "read the first error in the log" \
  bash -c "cmake --preset $preset -DPython3_EXECUTABLE=$PY && cmake --build --preset $preset -j ${JOBS:-$(nproc)}"
step "running the C++ tests"
# The plugin is not instrumented: memory that it never frees and locks that it orders its own way are not ours.
export ASAN_OPTIONS=detect_leaks=1:suppressions=$ROOT/tools/sanitize/asan.txt
export LSAN_OPTIONS=suppressions=$ROOT/tools/sanitize/lsan.txt
export TSAN_OPTIONS=suppressions=$ROOT/tools/sanitize/tsan.txt:halt_on_error=1
ctest --preset "$preset" --timeout 600
