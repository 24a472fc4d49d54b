#!/usr/bin/env bash
# Sets up where it is missing, then runs the C++ tests (GoogleTest through ctest) and the Python tests (pytest).
# Arguments go to pytest, for instance --slow or tests/ops -k add.
source "$(dirname "$0")/lib.sh"
STEPS=5
check_tools
need_googletest
make_venv build demo weights test
build_wheel tests
step "running the C++ tests"
"$VENV/bin/ctest" --test-dir "$RELEASE" --output-on-failure --timeout 300 || die "C++ tests failed" "see above; one alone: build/release/src/base_test --gtest_filter=..."
step "running the Python tests"
"$PY" -m pytest -q "$@" || die "Python tests failed" "see above; one alone: .venv/bin/python -m pytest FILE -k NAME"
