#!/usr/bin/env bash
# clang-tidy over the torch-free files, with the checks of .clang-tidy: --check (the default) or --fix.
# Needs a configured build/core or build/release. Files named after the mode: only those. With TIDY_EVERY=N every Nth
# file; which ones changes with the commit.
source "$(dirname "$0")/lib.sh"
mode=${1:---check}
[ $# -gt 0 ] && shift
for database in "$BUILD/core" "$RELEASE" ""; do
  [ -f "$database/compile_commands.json" ] && break
done
[ -x "$VENV/bin/clang-tidy" ] || die "clang-tidy is not in .venv" "make lint"
[ -n "$database" ] || die "no compile_commands.json under build/" "make test"
files=("$@")
if [ ${#files[@]} = 0 ]; then
  mapfile -t files < <(find src -name '*.cc' ! -name '*_test.cc' ! -name '*_benchmark.cc' ! -path '*/fake/*' \
    ! -path 'src/device/*' ! -path 'src/bindings/*' | sort)
  every=${TIDY_EVERY:-1}
  offset=$((0x$(git rev-parse --verify --quiet --short=4 HEAD || echo 0) % every))
  mapfile -t files < <(printf '%s\n' "${files[@]}" | awk -v n="$every" -v k="$offset" 'NR % n == k')
fi
echo "clang-tidy over ${#files[@]} files"
arguments=(-p "$database" --quiet)
[ "$mode" = --fix ] && arguments+=(--fix)
printf '%s\0' "${files[@]}" |
  xargs -0 -n 4 -P "${JOBS:-$(nproc)}" "$VENV/bin/clang-tidy" "${arguments[@]}" 2>"$LOGS/tidy-stderr.log" ||
  die "clang-tidy found faults" "see above, or build/logs/tidy-stderr.log where nothing is shown"
