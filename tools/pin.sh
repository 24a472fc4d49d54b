#!/usr/bin/env bash
# Writes requirements/constraints.txt anew from what .venv holds, after a version in requirements/*.txt was changed.
source "$(dirname "$0")/lib.sh"
STEPS=1
pick_python
make_venv build demo weights test lint
named=$(grep -hoE '^[A-Za-z0-9-]+==' requirements/{build,demo,weights,test,lint}.txt | sed 's/==$//; s/-/[-_]/g' | paste -sd'|')
{
  echo "# Exact versions of everything that the requirement files bring along. Regenerate: tools/pin.sh"
  "$PY" -m pip freeze --disable-pip-version-check | grep -viE "^($named|torchtpu)([ =]|\$)"
} >"$BUILD/constraints.txt"
mv "$BUILD/constraints.txt" requirements/constraints.txt
