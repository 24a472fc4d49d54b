#!/usr/bin/env bash
# Runs the Python tests named on the command line in .venv, after setting it up where it is missing.
source "$(dirname "$0")/lib.sh"
STEPS=4
check_tools
make_venv build demo weights test
build_wheel plain
step "running the Python tests"
"$PY" -m pytest -q "$@" || die "Python tests failed" "see above; one alone: .venv/bin/python -m pytest FILE -k NAME"
