#!/usr/bin/env bash
# From a fresh clone to a real model on the device: sets up .venv where it is missing, runs the quick start.
source "$(dirname "$0")/lib.sh"
STEPS=4
check_tools
make_venv build demo weights
build_wheel plain
step "running examples/quickstart.py on device tpu"
"$PY" examples/quickstart.py
