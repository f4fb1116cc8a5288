"""Writing BVH: round trips, the text itself, refusals that leave the old file."""

import numpy as np
import pytest

from ai4animation import Motion, Skeleton
from ai4animation.io import bvh_write
from ai4animation.io.bvh import read_bvh, write_bvh


def rotation_angles(a, b):
    """Angles between quaternions (..., 4) [rad], from the sine, which keeps small ones."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    x = a[..., 3:] * b[..., :3] - b[..., 3:] * a[..., :3] - np.cross(a[..., :3], b[..., :3])
    return 2 * np.arcsin(np.minimum(np.linalg.norm(x, axis=-1), 1))


def assert_same_motion(found, motion, tolerance=1e-5):
    height = motion.height or 1.0
    order = [found.skeleton.index(name) for name in motion.skeleton.names]
    assert np.abs(found.positions[:, order] - motion.positions).max() <= tolerance * height
    assert rotation_angles(found.rotations[:, order], motion.rotations).max() <= tolerance


@pytest.mark.parametrize("order", ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
def test_round_trip(tmp_path, make_motion, order):
    motion = make_motion(frames=60, framerate=59.99988, translated=(0, 2, 5))
    write_bvh(tmp_path / "copy.bvh", motion, order=order)
    copy = Motion.LoadFromBVH(tmp_path / "copy.bvh")
    assert (copy.name, copy.framerate, copy.frame_count) == ("copy", 59.99988, 60)
    assert copy.skeleton.same_tree(motion.skeleton)
    assert copy.translated.tolist() == [0, 2, 5]
    assert_same_motion(copy, motion)
    channels = " ".join(f"{axis}rotation" for axis in order)
    assert f"CHANNELS 3 {channels}\n" in (tmp_path / "copy.bvh").read_text()


@pytest.mark.parametrize("order", ["ZXY", "XYZ", "YZX"])
def test_round_trip_in_gimbal_lock(tmp_path, order):
    rng = np.random.default_rng(8)
    frames = 400
    # The middle angle at a quarter turn and within 1e-7 to 1e-2 rad of it, on both sides.
    middle = np.pi / 2 * rng.choice([-1, 1], frames) + rng.choice([-1, 0, 1], frames) * 10.0 ** rng.uniform(
        -7, -2, frames
    )
    angles = np.stack([rng.uniform(-3, 3, frames), middle, rng.uniform(-3, 3, frames)])
    quaternions = np.zeros((frames, 4))
    quaternions[:, 3] = 1
    for axis, angle in zip(order, angles, strict=True):
        turn = np.zeros((frames, 4))
        turn[:, "XYZ".index(axis)], turn[:, 3] = np.sin(angle / 2), np.cos(angle / 2)
        a, b = quaternions, turn
        vector = a[:, 3:] * b[:, :3] + b[:, 3:] * a[:, :3] + np.cross(a[:, :3], b[:, :3])
        scalar = a[:, 3] * b[:, 3] - (a[:, :3] * b[:, :3]).sum(axis=1)
        quaternions = np.concatenate([vector, scalar[:, None]], axis=1)
    rotations = np.broadcast_to(quaternions.T, (2, 4, frames)).astype(np.float32)
    skeleton = Skeleton(["a", "b"], [-1, 0], [(0, 0, 0), (0, 1, 0)])
    motion = Motion.from_columns(skeleton, rotations, np.zeros((1, 3, frames), np.float32), [0], 30.0)
    write_bvh(tmp_path / "lock.bvh", motion, order=order)
    copy = read_bvh(tmp_path / "lock.bvh")
    assert rotation_angles(copy.rotations, motion.rotations).max() <= 1e-5
    assert np.abs(copy.positions - motion.positions).max() <= 1e-5


@pytest.mark.parametrize("size", [0.004, 1.0, 300.0])
def test_round_trip_of_small_and_large_skeletons(tmp_path, make_motion, size):
    motion = make_motion().scaled(size)
    motion.SaveToBVH(tmp_path / "x.bvh")
    assert_same_motion(read_bvh(tmp_path / "x.bvh"), motion)


@pytest.mark.parametrize("framerate", [30.0, 120.0, 59.94005994005994, 49.0, 1 / 3, 23.976, 1e-6, 98765.4321])
def test_any_frame_rate_comes_back(tmp_path, make_motion, framerate):
    write_bvh(tmp_path / "x.bvh", make_motion(frames=2, framerate=framerate))
    assert read_bvh(tmp_path / "x.bvh").framerate == framerate


@pytest.mark.parametrize("frames", [0, 1])
def test_round_trip_of_few_frames(tmp_path, make_motion, frames):
    motion = make_motion(frames=3)
    motion = Motion.from_columns(
        motion.skeleton,
        motion.local_rotation_column[:, :, :frames].copy(),
        motion.local_position_column[:, :, :frames].copy(),
        [0],
        25.0,
    )
    write_bvh(tmp_path / "x.bvh", motion)
    copy = read_bvh(tmp_path / "x.bvh")
    assert (copy.frame_count, copy.framerate) == (frames, 25.0)
    np.testing.assert_allclose(copy.positions, motion.positions, atol=1e-5)
    np.testing.assert_array_equal(copy.skeleton.offsets, motion.skeleton.offsets)


def test_writing_in_blocks_does_not_show(tmp_path, make_motion, monkeypatch):
    motion = make_motion(frames=500, translated=(0, 3))
    turns = np.linspace(0, 10, 500, dtype=np.float32)
    rotations = motion.local_rotation_column.copy()
    rotations[0] = [0 * turns, np.sin(turns), 0 * turns, np.cos(turns)]
    motion = Motion.from_columns(
        motion.skeleton, rotations, motion.local_position_column.copy(), motion.translated, 30.0
    )
    write_bvh(tmp_path / "whole.bvh", motion)
    spin = [float(line.split()[5]) for line in (tmp_path / "whole.bvh").read_text().splitlines()[-500:]]
    assert np.abs(np.diff(spin)).max() < 180
    monkeypatch.setattr(bvh_write, "_BLOCK", 30 * 7)
    write_bvh(tmp_path / "parts.bvh", motion)
    assert (tmp_path / "parts.bvh").read_bytes() == (tmp_path / "whole.bvh").read_bytes()


def test_joints_are_written_depth_first(tmp_path):
    """Parents first but siblings before children, and two roots."""
    parents = [-1, 0, 0, 1, 2, -1, 5]
    names = ["a", "b", "c", "b1", "c1", "r", "r1"]
    rng = np.random.default_rng(9)
    rotations = rng.normal(size=(7, 4, 20))
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    positions = rng.normal(size=(3, 3, 20))
    skeleton = Skeleton(names, parents, rng.normal(size=(7, 3)))
    motion = Motion.from_columns(
        skeleton, rotations.astype(np.float32), positions.astype(np.float32), [0, 2, 5], 30.0
    )
    write_bvh(tmp_path / "x.bvh", motion)
    copy = read_bvh(tmp_path / "x.bvh")
    assert copy.skeleton.names == ("a", "b", "b1", "c", "c1", "r", "r1")
    assert copy.skeleton.parents.tolist() == [-1, 0, 1, 0, 3, -1, 5]
    assert_same_motion(copy, motion)


def test_the_text_that_is_written(tmp_path):
    rotations = np.zeros((2, 4, 2), np.float32)
    rotations[:, 3] = 1
    rotations[1, :, 1] = [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    skeleton = Skeleton(["Left Up Leg", "Knee"], [-1, 0], [(0, 0, 0), (0, -0.4, 1e-3)])
    motion = Motion.from_columns(skeleton, rotations, np.float32([[[1, 2], [0, 0], [0, -0.5]]]), [0], 50.0)
    write_bvh(tmp_path / "x.bvh", motion)
    header, rows = (tmp_path / "x.bvh").read_bytes().decode().split("Frame Time: 0.02\n")
    assert header == (
        "HIERARCHY\nROOT Left Up Leg\n{\n\tOFFSET 0.0 0.0 0.0\n"
        "\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
        "\tJOINT Knee\n\t{\n\t\tOFFSET 0.0 -0.4 0.001\n\t\tCHANNELS 3 Zrotation Xrotation Yrotation\n"
        "\t\tEnd Site\n\t\t{\n\t\t\tOFFSET 0.0 0.0 0.0\n\t\t}\n\t}\n}\n"
        "MOTION\nFrames: 2\n"
    )
    values = [[float(field) for field in line.split(" ")] for line in rows.splitlines()]
    expected = [[1, 0, 0, 0, 0, 0, 0, 0, 0], [2, 0, -0.5, 0, 0, 0, 0, 90, 0]]
    np.testing.assert_allclose(values, expected, atol=2e-5)
    assert rows.startswith("1.0000000 0.0000000 ")


def broken_motion(make_motion, rotation=None, position=None, names=None, frames=100):
    motion = make_motion(frames=frames)
    rotations, positions = motion.local_rotation_column.copy(), motion.local_position_column.copy()
    if rotation is not None:
        rotations[2, 1, 70] = rotation
    if position is not None:
        positions[0, 1, 70] = position
    skeleton = Skeleton(names or motion.skeleton.names, motion.skeleton.parents, motion.skeleton.offsets)
    return Motion.from_columns(skeleton, rotations, positions, [0], 30.0)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            {"rotation": np.nan},
            r"values .* must be finite and below 1e9, got nan for joint 'Head' in frame 70",
        ),
        (
            {"position": np.inf},
            r"values .* must be finite and below 1e9, got inf for joint 'Hips' in frame 70",
        ),
        ({"position": -2e9}, r"values .*, got -2000000000.0 for joint 'Hips' in frame 70"),
        ({"names": list("abc{efg")}, r"joint names must be one line without braces or blanks .*, got '\{'"),
        ({"names": ["a\nb", *"cdefgh"]}, r"joint names must be one line .*, got 'a\\nb'"),
        ({"names": [" a", *"cdefgh"]}, r"joint names must be one line .*, got ' a'"),
    ],
)
def test_what_cannot_be_written_leaves_the_old_file(tmp_path, make_motion, monkeypatch, fault, message):
    monkeypatch.setattr(bvh_write, "_BLOCK", 30 * 10)
    path = tmp_path / "x.bvh"
    path.write_text("old")
    with pytest.raises(ValueError, match=f"^{message}$"):
        write_bvh(path, broken_motion(make_motion, **fault))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("order", ["", "zxy", "ZXZ", "XY", "XYZW"])
def test_orders_are_checked(tmp_path, motion, order):
    with pytest.raises(ValueError, match=f"^order must be a permutation of 'XYZ', got '{order}'$"):
        write_bvh(tmp_path / "x.bvh", motion, order=order)


def test_pybvh_reads_what_is_written(tmp_path, make_motion):
    pybvh = pytest.importorskip("pybvh")
    motion = make_motion(frames=10)
    write_bvh(tmp_path / "x.bvh", motion)
    theirs = pybvh.read_bvh_file(tmp_path / "x.bvh")
    assert theirs.frame_count == 10
    np.testing.assert_allclose(theirs.root_pos, motion.positions[:, 0], atol=1e-6)
