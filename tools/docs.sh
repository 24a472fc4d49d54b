#!/usr/bin/env bash
# Generated pages of docs/: --check (the default) that they are fresh, or --fix. Needs the installed wheel.
source "$(dirname "$0")/lib.sh"
mode=${1:---check}
status=0
"$PY" tools/gen_features.py "$mode" || status=1
"$PY" tools/gen_pages.py "$mode" || status=1
exit $status
