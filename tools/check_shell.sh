#!/usr/bin/env bash
# Runs shellcheck over the shell scripts (--check, the default, or --fix).
source "$(dirname "$0")/lib.sh"
command -v shellcheck >/dev/null || debian_package shellcheck "shellcheck is missing"
files=(tools/*.sh .ci/run)
if [ "${1:---check}" = --fix ]; then
  shellcheck -f diff "${files[@]}" | patch -p1 --quiet --forward || true
fi
shellcheck "${files[@]}"
