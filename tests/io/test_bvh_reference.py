"""Real BVH files against poses that other tools computed."""

import zipfile

import numpy as np
import pytest

from ai4animation import Motion
from tests.shared_data import FOLDER, data_files, needs_data, reference_of

FILES = data_files("bvh/*.bvh")


def rotation_angle(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    vector = a[3] * b[:3] - b[3] * a[:3] - np.cross(a[:3], b[:3])
    return 2 * np.arcsin(min(1.0, np.linalg.norm(vector) / (np.linalg.norm(a) * np.linalg.norm(b))))


@needs_data
def test_there_are_files():
    assert len(FILES) >= 9


@needs_data
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_reference(path, tmp_path):
    reference = reference_of(path)
    convention = "relative" if "added" in reference["position_channels"] else "absolute"
    motion = Motion.LoadFromBVH(path, positions=convention)
    assert motion.frame_count == reference["frame_count"]
    assert motion.framerate == pytest.approx(1 / reference["frame_time"], rel=1e-6)
    assert motion.joint_count == reference["joint_count"]
    assert set(reference["joint_names"]) <= set(motion.skeleton.names)
    parents = {
        name: None if parent < 0 else motion.skeleton.names[parent]
        for name, parent in zip(motion.skeleton.names, motion.skeleton.parents, strict=True)
    }
    if len(reference["joint_names"]) == motion.joint_count:
        assert [parents[name] for name in reference["joint_names"]] == reference["parents"]
    compared = 0
    for frame in reference["clips"][0]["frames"]:
        for joint, position in frame["position"].items():
            found = motion.positions[frame["frame"], motion.skeleton.index(joint)]
            np.testing.assert_allclose(found, position, rtol=0, atol=1e-4 * motion.height)
            compared += 1
        for joint, rotation in frame["rotation_xyzw"].items():
            found = motion.rotations[frame["frame"], motion.skeleton.index(joint)]
            assert rotation_angle(found, rotation) < 1e-4
    assert compared > 0
    motion.SaveToBVH(tmp_path / "copy.bvh")
    copy = Motion.LoadFromBVH(tmp_path / "copy.bvh")
    assert copy.framerate == motion.framerate
    order = [copy.skeleton.index(name) for name in motion.skeleton.names]
    assert np.abs(copy.positions[:, order] - motion.positions).max() <= 1e-5 * motion.height
    frames = range(0, motion.frame_count, max(1, motion.frame_count // 20))
    for frame, joint in ((f, j) for f in frames for j in range(motion.joint_count)):
        assert rotation_angle(copy.rotations[frame, order[joint]], motion.rotations[frame, joint]) <= 1e-5


@needs_data
def test_relative_file_read_as_absolute_warns():
    with pytest.warns(UserWarning, match="positions='relative'"):
        Motion.LoadFromBVH(FOLDER / "bvh" / "iclone_cmu_007_03.bvh")


@needs_data
def test_bandai_namco(tmp_path):
    with zipfile.ZipFile(FOLDER / "bvh" / "bandai_locomotion_dev.zip") as archive:
        archive.extractall(tmp_path)
    motions = [Motion.LoadFromBVH(path, scale=0.01) for path in sorted(tmp_path.glob("**/*.bvh"))]
    assert len(motions) == 81
    assert sum(motion.frame_count for motion in motions) == 13_517
    for motion in motions:
        assert motion.joint_count == 22
        assert 1.1 < motion.height < 1.8
        assert motion.framerate == pytest.approx(30, rel=1e-5)
        # Six channels a joint, but only the root and the hips go anywhere.
        assert [motion.skeleton.names[j] for j in motion.translated] == ["joint_Root", "Hips"]
        assert np.isfinite(motion.positions).all()
