"""Real motion files with their right answers, which stand beside the repository where a developer has them."""

import json
import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("AI4ANIMATION_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")

needs_data = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"no motion data at {FOLDER}; AI4ANIMATION_DATA names another folder"
)


def data_files(pattern):
    """Return the files that match, ascending; none where there is no data."""
    return sorted(FOLDER.glob(pattern))


def reference_of(path):
    """Return the right answers of a file: world positions and rotations at some frames."""
    return json.loads(path.with_suffix(".ref.json").read_text(encoding="utf-8"))
