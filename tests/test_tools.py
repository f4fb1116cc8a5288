"""The set-up scripts, with stand-ins for the system's programs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "tools" / "system-packages.sh"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the scripts are for POSIX shells")


def run(tmp_path, programs):
    """Run the script with some programs replaced by shell scripts; return (status, output)."""
    for name, body in programs.items():
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    done = subprocess.run(
        ["sh", str(SCRIPT)],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHON": str(tmp_path / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


WHOLE = f'exec {sys.executable} "$@"'
WITHOUT_VENV = f'case "$2" in *ensurepip*) exit 1;; esac; exec {sys.executable} "$@"'
TOO_OLD = "exit 1"


def test_nothing_to_do(tmp_path):
    assert run(tmp_path, {"python": WHOLE, "apt-get": "echo called; exit 1"}) == (0, "")


def test_root_installs_what_is_missing(tmp_path):
    status, out = run(tmp_path, {"python": WITHOUT_VENV, "id": "echo 0", "apt-get": 'echo "apt-get $*"'})
    assert status == 0
    assert "apt-get update" in out
    assert "install -qq -y --no-install-recommends python3-venv" in out


def test_others_are_told_what_to_install(tmp_path):
    status, out = run(tmp_path, {"python": WITHOUT_VENV, "id": "echo 1000", "apt-get": "echo called"})
    assert status == 1
    assert "called" not in out
    assert "apt-get install python3-venv" in out


def test_an_old_python_is_refused(tmp_path):
    status, out = run(tmp_path, {"python": TOO_OLD})
    assert status == 1
    assert "needs Python 3.11 or newer" in out
    assert "make PYTHON=python3.12" in out


def test_ci_runs_lint_and_tests():
    script = (ROOT / ".ci" / "run").read_text()
    assert "make lint" in script
    assert "make test" in script
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
