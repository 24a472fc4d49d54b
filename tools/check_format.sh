#!/usr/bin/env bash
# Runs clang-format over the C++ files (--check, the default, or --fix).
source "$(dirname "$0")/lib.sh"
mapfile -t files < <(find src -name '*.h' -o -name '*.cc')
if [ "${1:---check}" = --fix ]; then
  "$VENV/bin/clang-format" -i "${files[@]}"
  exit
fi
wrong=$("$VENV/bin/clang-format" --dry-run "${files[@]}" 2>&1 | grep 'warning:' | cut -d: -f1 | sort | uniq -c || true)
[ -z "$wrong" ] || { echo "places to format, by file:"; echo "$wrong"; exit 1; }
