#!/bin/sh
# Check what the set-up needs from the system. Debian splits venv from python3; as root it is installed through apt,
# otherwise the command to run is printed.
set -eu
PYTHON="${PYTHON:-python3}"

if ! "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "ai4animation needs Python 3.11 or newer as '$PYTHON'; name another one with: make PYTHON=python3.12 ..." >&2
    exit 1
fi

missing=""
"$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing system packages:$missing"
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing
else
    echo "these system packages are missing:$missing" >&2
    echo "install them as root, for example: apt-get install$missing" >&2
    exit 1
fi
