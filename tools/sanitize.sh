#!/usr/bin/env bash
# Builds the layers below PyTorch with sanitizers and runs their tests: sanitize.sh address|thread
# (address: ASan, UBSan and leaks). What is suppressed, and why: cmake/*.supp.
source "$(dirname "$0")/lib.sh"
STEPS=3
kind=${1:-address}
case $kind in
  address) preset=core-asan targets=(all) tests=. ;;
  # shlo, views and ops start no thread and hold no lock; graph_test links and uses them all.
  thread) preset=core-tsan targets=({base,pjrt,cache,graph}_test) tests='^(base|pjrt|cache|graph)_test$' ;;
  *) die "unknown sanitizer '$kind'" "tools/sanitize.sh address, or thread" ;;
esac
pick_python
need_googletest
make_venv build
export PATH=$VENV/bin:$PATH CCACHE_SLOPPINESS=pch_defines,time_macros
step "building with sanitizers: $kind"
run_logged "sanitize-$kind" "read the first error in the log" \
  bash -c "cmake --preset $preset -DPython3_EXECUTABLE=$PY &&
    cmake --build --preset $preset -j ${JOBS:-$(nproc)} --target ${targets[*]}"
step "running the C++ tests"
ctest --preset "$preset" -R "$tests"
