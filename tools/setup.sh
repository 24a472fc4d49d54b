#!/usr/bin/env bash
# Makes .venv, installs the pinned dependencies and the wheel of this checkout into it.
source "$(dirname "$0")/lib.sh"
STEPS=3
check_tools
make_venv build demo weights
build_wheel plain
echo "done: source .venv/bin/activate, then python -c 'import torch; print(torch.ones(2, device=\"tpu\"))'"
