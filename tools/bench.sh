#!/usr/bin/env bash
# Runs every benchmark of bench/ in .venv; each prints a table and its targets. Ends with the count of both outcomes.
source "$(dirname "$0")/lib.sh"
STEPS=3
check_tools
make_venv build demo weights
build_wheel plain
: >"$LOGS/bench.log"
for file in bench/[a-z]*.py; do
  name=$(basename "$file" .py)
  grep -q '__main__' "$file" || continue
  echo "== bench.$name"
  "$PY" -m "bench.$name" 2>&1 | tee -a "$LOGS/bench.log" || echo "target $name.ran 0 >= 1 short" | tee -a "$LOGS/bench.log"
done
count() { grep -cE "^target .* $1\$" "$LOGS/bench.log" || true; }
echo "targets: $(count met) met, $(count short) short"
