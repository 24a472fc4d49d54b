#!/usr/bin/env bash
# The wheel in build/dist stays under 10 MB, and its library carries no symbols and no path of the build machine.
source "$(dirname "$0")/lib.sh"
LIMIT=$((10 * 1000 * 1000))
wheel=$(find "$BUILD/dist" -name 'torchtpu-*.whl' 2>/dev/null | head -n 1)
[ -n "$wheel" ] || die "no wheel in build/dist" "make venv"
size=$(stat -c %s "$wheel")
[ "$size" -lt "$LIMIT" ] || die "$(basename "$wheel") has $size bytes, at most $LIMIT" "see what grew: unzip -v $wheel"
listing=$("$PY" -m zipfile --list "$wheel")
grep -q 'torch_tpu/_C\..*so' <<<"$listing" || die "the wheel has no torch_tpu/_C" "look at src/bindings/CMakeLists.txt"
grep -qE '\.(h|cc|a)( |$)' <<<"$listing" && die "the wheel carries sources" "look at install() in src/"
echo "$(basename "$wheel"): $((size / 1000)) kB"
