"""Every .npz motion of the shared data loads, holds what its arrays say, and survives a round trip."""

import numpy as np
import pytest
from shared_data import FOLDER, data_files, needs_data

from ai4animation import Motion

FILES = data_files("npz/**/*.npz")


@needs_data
def test_there_are_files():
    assert len(FILES) >= 38


@needs_data
@pytest.mark.parametrize("path", FILES, ids=[p.stem for p in FILES])
def test_file(path, tmp_path):
    motion = Motion.LoadFromNPZ(path)
    with np.load(path, allow_pickle=False) as data:
        names = data["bone_names"].tolist()
        positions, quaternions = data["positions"], data["quaternions"].astype(np.float64)
        framerate = float(data["framerate"])
    assert motion.framerate == framerate
    assert motion.frame_count == len(positions)
    height = np.ptp(positions[0, :, 1])
    order = [names.index(name) for name in motion.skeleton.names]
    assert sorted(order) == list(range(len(names)))
    np.testing.assert_allclose(motion.positions, positions[:, order], atol=1e-4 * height)
    quaternions /= np.linalg.norm(quaternions, axis=-1, keepdims=True)
    sign = np.sign((motion.rotations * quaternions[:, order]).sum(-1, keepdims=True))
    np.testing.assert_allclose(motion.rotations * sign, quaternions[:, order], atol=1e-5)

    copy_path = tmp_path / "copy.npz"
    motion.SaveToNPZ(copy_path)
    copy = Motion.LoadFromNPZ(copy_path)
    assert (copy.name, copy.framerate) == (motion.name, motion.framerate)
    np.testing.assert_allclose(copy.positions, motion.positions, atol=1e-5 * max(1, height))
    np.testing.assert_allclose(copy.rotations, motion.rotations, atol=1e-5)


@needs_data
def test_the_originals_files_with_object_arrays_are_among_them():
    kinds = set()
    for path in FILES:
        with np.load(path, allow_pickle=False) as data:
            try:
                kinds.add(data["parent_names"].dtype.kind)
            except ValueError:
                kinds.add("O")
    assert "O" in kinds, FOLDER
