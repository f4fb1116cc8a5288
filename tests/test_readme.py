"""The README's program runs as printed."""

import re
from pathlib import Path

import numpy as np

import ai4animation

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text()


def test_python_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) >= 5
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    out = capsys.readouterr().out
    assert "character-frames/s" in out
    assert "Drift" in out
    world, crowd = names["world"], names["crowd"]
    assert names["heads"].shape == (4096, 3)
    assert np.shares_memory(names["heads"], crowd.column("world_positions").data)
    assert world.time >= 30
    # The drifting system moved everyone by 1 m/s for the last step.
    np.testing.assert_allclose(crowd.column("origin_positions").view()[:, 2], 1 / 60, rtol=1e-5)


def test_nothing_is_left_to_fill_in():
    assert "BENCHMARKS" not in TEXT
    assert ">= 3.5x" in TEXT


def test_files_it_names_exist():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", TEXT):
        assert (ROOT / target).exists(), target
    for command in ("make demo", "make test"):
        assert command in TEXT
        assert re.search(rf"^{command.split()[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_public_names_that_must_hold():
    assert ai4animation.Motion.LoadFromBVH
    assert ai4animation.Motion.LoadFromNPZ
    assert ai4animation.io.FormatError
