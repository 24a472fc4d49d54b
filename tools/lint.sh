#!/usr/bin/env bash
# Every gate that needs no build: format, Python, shell, layers, tree. --fix mends what can be mended.
# Each gate is also a script of its own; all take --check (the default) or --fix.
source "$(dirname "$0")/lib.sh"
STEPS=7
mode=${1:---check}
pick_python
make_venv lint
failed=()
gate() {
  step "$1"
  shift
  "$@" "$mode" || failed+=("$*")
}
gate "C++ format" tools/check_format.sh
gate "Python style" tools/check_python.sh
gate "shell scripts" tools/check_shell.sh
gate "include layers" "$PY" tools/check_layers.py
gate "folders, file sizes, environment, wording" "$PY" tools/check_tree.py
gate "docs/features.md is fresh" "$PY" tools/gen_features.py
[ ${#failed[@]} = 0 ] || die "gates failed: $(IFS=,; echo "${failed[*]}")" "make format mends what can be mended"
