#!/usr/bin/env bash
# Compiles for real TPUs, with none attached: installs libtpu into build/aot-venv, runs tests/aot with it, and sweeps
# the module texts of the folder AOT_MODULES (default build/aot-modules, where tests write them). --sample N compiles
# only N of them. libtpu is the user's copy under Google Cloud's terms; it never becomes part of a wheel.
source "$(dirname "$0")/lib.sh"
STEPS=6
LIBTPU=libtpu==0.0.52
SIDE=$BUILD/aot-venv
MODULES=${AOT_MODULES:-$BUILD/aot-modules}
sample=0
[ "${1:-}" != --sample ] || sample=${2:?--sample needs a number}
check_tools
make_venv build test
build_wheel plain

step "installing $LIBTPU into ${SIDE#"$ROOT"/}"
library() { find "$SIDE" -name libtpu.so -path '*/libtpu/*' 2>/dev/null | head -n 1; }
if [ "$(cat "$SIDE/.stamp" 2>/dev/null)" != "$LIBTPU" ]; then
  # shellcheck disable=SC2086
  if ! { "$BASE_PYTHON" -m venv --clear "$SIDE" && "$SIDE/bin/python" -m pip install --disable-pip-version-check \
    ${PIP_FLAGS:-} --no-deps "$LIBTPU"; } >"$LOGS/aot-venv.log" 2>&1; then
    tail -n 5 "$LOGS/aot-venv.log" >&2
    echo "libtpu could not be installed: nothing was compiled for a TPU (log: build/logs/aot-venv.log)"
    exit "${AOT_REQUIRED:-0}"
  fi
  echo "$LIBTPU" >"$SIDE/.stamp"
fi
TPU_LIBRARY_PATH=$(library)
[ -n "$TPU_LIBRARY_PATH" ] || die "no libtpu.so in ${SIDE#"$ROOT"/}" "rm -r ${SIDE#"$ROOT"/} and try again"
export TPU_LIBRARY_PATH

step "running tests/aot"
"$PY" -m pytest -q tests/aot || die "tests/aot failed" "TPU_LIBRARY_PATH=$TPU_LIBRARY_PATH $PY -m pytest tests/aot"

step "sweeping ${MODULES#"$ROOT"/}"
if [ ! -d "$MODULES" ]; then
  echo "      there is no such folder: nothing to sweep"
  exit 0
fi
expected=()
[ ! -f tests/aot/expected_failures.txt ] || expected=(--expected tests/aot/expected_failures.txt)
"$PY" -m torch_tpu.aot.sweep "$MODULES" --sample "$sample" --json "$BUILD/aot-sweep.json" "${expected[@]}" ||
  die "the sweep found what was not expected" "see above; all outcomes are in build/aot-sweep.json"
