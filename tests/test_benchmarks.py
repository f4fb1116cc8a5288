"""The benchmarks run, validate and write their rows; how fast is for `make bench` to say."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FIELDS = ["name", "value", "unit", "reference", "ratio", "goal"]


@pytest.mark.parametrize("group", ["bvh", "fk", "sample", "start", "table"])
def test_a_group_writes_its_rows(tmp_path, group):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--benchmark-enable", "-q", f"benchmarks/bench_{group}.py"],
        cwd=ROOT,
        env={**os.environ, "AI4ANIMATION_BENCH_QUICK": "1", "AI4ANIMATION_BENCH_RESULTS": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / f"{group}.json").read_text())
    assert rows
    for row in rows:
        assert list(row) == FIELDS
        assert isinstance(row["value"], float)
        assert row["ratio"] is None or row["ratio"] > 0
        assert row["name"] in done.stdout.replace("\n", " ") or len(row["name"]) > 40
