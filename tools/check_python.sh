#!/usr/bin/env bash
# Runs ruff, rules and format, over the Python files (--check, the default, or --fix).
source "$(dirname "$0")/lib.sh"
paths=(python tests tools examples bench)
if [ "${1:---check}" = --fix ]; then
  "$VENV/bin/ruff" format --quiet "${paths[@]}"
  "$VENV/bin/ruff" check --quiet --fix "${paths[@]}"
else
  "$VENV/bin/ruff" check --quiet --output-format concise "${paths[@]}"
  "$VENV/bin/ruff" format --quiet --check "${paths[@]}"
fi
