#!/usr/bin/env bash
# Runs the C++ tests and the model and report tests on the other CPU plugins, which speak newer PJRT API versions.
source "$(dirname "$0")/lib.sh"
STEPS=6
OTHER=$BUILD/plugin-venv
check_tools
need_googletest
make_venv build demo weights test
build_wheel tests

step "installing the other plugins into ${OTHER#"$ROOT"/}"
hash=$(fingerprint requirements/plugins.txt)
if [ "$(cat "$OTHER/.stamp" 2>/dev/null)" != "$hash" ]; then
  run_logged plugin-venv "remove ${OTHER#"$ROOT"/} and try again" "$BASE_PYTHON" -m venv --clear "$OTHER"
  # shellcheck disable=SC2086
  run_logged pip-plugins "check the network" "$OTHER/bin/python" -m pip install --disable-pip-version-check \
    ${PIP_FLAGS:-} --no-deps -r requirements/plugins.txt
  echo "$hash" >"$OTHER/.stamp"
fi
mapfile -t plugins < <(find "$OTHER/lib" \( -name 'libpjrt_cpu.so' -o -name 'pjrt_c_api_cpu_plugin.so' \))
[ ${#plugins[@]} = 2 ] || die "found ${#plugins[@]} plugins in $OTHER, expected 2" "remove ${OTHER#"$ROOT"/} and try again"

step "running the C++ tests on each"
for plugin in "${plugins[@]}"; do
  echo "      $(basename "$plugin")"
  TORCH_TPU_TEST_PLUGIN=$plugin "$VENV/bin/ctest" --test-dir "$RELEASE" --output-on-failure --timeout 300 ||
    die "C++ tests failed on $plugin" "TORCH_TPU_TEST_PLUGIN=$plugin .venv/bin/ctest --test-dir build/release"
done
step "running a subset of the Python tests on each"
for plugin in "${plugins[@]}"; do
  echo "      $(basename "$plugin")"
  TORCH_TPU_PJRT_PLUGIN=$plugin "$PY" -m pytest -q tests/models tests/reports "$@" ||
    die "Python tests failed on $plugin" "TORCH_TPU_PJRT_PLUGIN=$plugin .venv/bin/python -m pytest tests/models tests/reports"
done
