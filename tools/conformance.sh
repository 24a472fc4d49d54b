#!/usr/bin/env bash
# Runs PyTorch's operator, module and optimizer databases on the device: all of them, or with --slice one forward and
# one gradient node of every operator entry. A whole run writes docs/conformance.json and the page made of it.
# Other arguments go to `python -m tests.conformance`, for instance --ops 'linalg.*' --jobs 1.
source "$(dirname "$0")/lib.sh"
STEPS=5
check_tools
make_venv build demo weights test
build_wheel plain
record=()
[ $# != 0 ] || record=(--record docs/conformance.json)
step "running the operator database (results: build/conformance/results.jsonl)"
"$PY" -W ignore -m tests.conformance "$@" "${record[@]}" ||
  die "the operator database found what tests/conformance/expected_failures.toml does not expect" \
    "see above; one alone: .venv/bin/python -m tests.conformance --ops NAME --kinds KIND"
[ $# = 0 ] || exit 0
step "running the module and optimizer databases"
"$PY" -m pytest -q --slow tests/conformance || die "tests/conformance failed" "see above"
tools/docs.sh --fix
