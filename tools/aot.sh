#!/usr/bin/env bash
# Compiles for real TPUs, with none attached: installs libtpu into build/aot-venv, runs tests/aot with it, writes a
# module for every operator into the folder AOT_MODULES (default build/aot-modules) and sweeps them. A whole sweep
# writes docs/tpu_sweep.json and the page made of it; --sample N compiles N programs and writes neither.
# --if-installed: a libtpu that is there already (TPU_LIBRARY_PATH, build/aot-venv, the package libtpu), or nothing.
# libtpu is the user's copy under Google Cloud's terms; it never becomes part of a wheel.
source "$(dirname "$0")/lib.sh"
STEPS=7
LIBTPU=libtpu==0.0.52
SIDE=$BUILD/aot-venv
MODULES=${AOT_MODULES:-$BUILD/aot-modules}
EXPECTED=tests/aot/expected_failures.txt
sample=0
install=1
while [ $# -gt 0 ]; do
  case $1 in
    --sample)
      sample=${2:?--sample needs a number}
      shift
      ;;
    --if-installed) install=0 ;;
    *) die "unknown option '$1'" "tools/aot.sh [--sample N] [--if-installed]" ;;
  esac
  shift
done

# Path of an installed libtpu.so, or nothing.
installed() {
  local found
  if [ -n "${TPU_LIBRARY_PATH:-}" ]; then
    echo "$TPU_LIBRARY_PATH"
    return
  fi
  found=$(find "$SIDE" -name libtpu.so -path '*/libtpu/*' 2>/dev/null | head -n 1)
  [ -n "$found" ] || found=$("$BASE_PYTHON" -c 'import importlib.util as u, pathlib as p
spec = u.find_spec("libtpu")
print(*[p.Path(f).with_name("libtpu.so") for f in [spec and spec.origin] if f])')
  echo "$found"
}

pick_python
if [ $install = 0 ] && [ ! -f "$(installed)" ]; then
  echo "libtpu is not installed: nothing was compiled for a TPU ('make aot' installs it)"
  exit 0
fi
check_tools
make_venv build test
build_wheel plain

step "finding or installing $LIBTPU"
if [ -z "$(installed)" ] || { [ -f "$SIDE/.stamp" ] && [ "$(cat "$SIDE/.stamp")" != "$LIBTPU" ]; }; then
  # shellcheck disable=SC2086
  if ! { "$BASE_PYTHON" -m venv --clear "$SIDE" && "$SIDE/bin/python" -m pip install --disable-pip-version-check \
    ${PIP_FLAGS:-} --no-deps "$LIBTPU"; } >"$LOGS/aot-venv.log" 2>&1; then
    tail -n 5 "$LOGS/aot-venv.log" >&2
    echo "libtpu could not be installed: nothing was compiled for a TPU (log: build/logs/aot-venv.log)"
    exit "${AOT_REQUIRED:-0}"
  fi
  echo "$LIBTPU" >"$SIDE/.stamp"
fi
TPU_LIBRARY_PATH=$(installed)
[ -f "$TPU_LIBRARY_PATH" ] || die "no libtpu.so: '$TPU_LIBRARY_PATH'" "rm -r ${SIDE#"$ROOT"/}, unset TPU_LIBRARY_PATH"
export TPU_LIBRARY_PATH
echo "      $TPU_LIBRARY_PATH"

step "running tests/aot"
"$PY" -m pytest -q tests/aot || die "tests/aot failed" "TPU_LIBRARY_PATH=$TPU_LIBRARY_PATH $PY -m pytest tests/aot"

step "writing a module for every operator into ${MODULES#"$ROOT"/}"
run_logged aot-modules "add a case to tests/aot/write_modules.py for each lowering that has no module" \
  "$PY" tests/aot/write_modules.py "$MODULES"
grep 'modules written' "$LOGS/aot-modules.log"

step "sweeping ${MODULES#"$ROOT"/}"
record=()
[ "$sample" != 0 ] || record=(--record docs/tpu_sweep.json)
"$PY" -m torch_tpu.aot.sweep "$MODULES" --sample "$sample" --json "$BUILD/aot-sweep.json" \
  --cache "$BUILD/aot-cache.jsonl" --expected "$EXPECTED" "${record[@]}" ||
  die "the sweep found what was not expected" "see above; all outcomes are in build/aot-sweep.json"
[ "$sample" != 0 ] || tools/docs.sh --fix
