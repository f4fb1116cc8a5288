import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ai4animation import Motion, Skeleton


def world_oracle(motion, frame):
    """Float64 positions and rotations of one frame."""
    positions, rotations = [], []
    for j, parent in enumerate(motion.skeleton.parents):
        local = Rotation.from_quat(motion.local_rotations[frame, j].astype(float))
        offset = motion.local_positions[frame, j].astype(float)
        if parent < 0:
            positions.append(offset)
            rotations.append(local)
        else:
            positions.append(positions[parent] + rotations[parent].apply(offset))
            rotations.append(rotations[parent] * local)
    return np.array(positions), rotations


def test_shapes_and_numbers(motion):
    assert (motion.frame_count, motion.joint_count, motion.framerate) == (40, 7, 30.0)
    assert motion.duration == pytest.approx(39 / 30)
    assert motion.positions.shape == motion.local_positions.shape == (40, 7, 3)
    assert motion.rotations.shape == motion.local_rotations.shape == (40, 7, 4)
    assert motion.skeleton.names[3] == "LeftLeg"
    assert motion.skeleton.parents[4] == 3


@pytest.mark.parametrize("translated", [(0,), (0, 2, 5), tuple(range(7))])
def test_world_pose_equals_float64(translated, make_motion):
    motion = make_motion(translated=translated)
    for frame in (0, 11, 39):
        positions, rotations = world_oracle(motion, frame)
        np.testing.assert_allclose(motion.positions[frame], positions, atol=2e-6)
        for j, rotation in enumerate(rotations):
            assert (rotation.inv() * Rotation.from_quat(motion.rotations[frame, j])).magnitude() < 1e-5
    still = [j for j in range(7) if j not in translated]
    np.testing.assert_array_equal(motion.local_positions[5, still], motion.skeleton.offsets[still])


@pytest.mark.parametrize("translated", [(0,), (0, 2, 5), tuple(range(7))])
def test_world_and_local_arrays_round_trip(translated, make_motion):
    motion = make_motion(translated=translated)
    for copy in (
        Motion.from_world(motion.skeleton, motion.positions, motion.rotations, 30.0),
        Motion.from_local(motion.skeleton, motion.local_positions, motion.local_rotations, 30.0),
    ):
        assert copy.translated.tolist() == list(translated)
        np.testing.assert_allclose(copy.positions, motion.positions, atol=5e-6)
        np.testing.assert_allclose(np.abs((copy.rotations * motion.rotations).sum(-1)), 1, atol=1e-5)


def test_far_from_the_origin_rounding_does_not_make_joints_move(make_motion):
    near = make_motion()
    far = near.positions + np.float32([800.0, 0, -900.0])
    assert Motion.from_world(near.skeleton, far, near.rotations, 30.0).translated.tolist() == [0]


def test_offsets_come_from_the_frames(make_motion):
    motion = make_motion()
    wrong = Skeleton(motion.skeleton.names, motion.skeleton.parents, np.ones((7, 3)))
    copy = Motion.from_world(wrong, motion.positions, motion.rotations, 30.0)
    np.testing.assert_allclose(copy.skeleton.offsets[1:], motion.skeleton.offsets[1:], atol=2e-6)


def test_columns_are_taken_over_and_views_share_their_memory(motion):
    rotations = np.ascontiguousarray(motion.local_rotation_column)
    positions = np.ascontiguousarray(motion.local_position_column)
    made = Motion.from_columns(motion.skeleton, rotations, positions, [0], 30.0)
    assert made.local_rotation_column.ctypes.data == rotations.ctypes.data
    assert made.local_rotations.ctypes.data == rotations.ctypes.data
    assert np.shares_memory(made.positions, made.world_position_column)


def test_arrays_are_read_only(motion):
    for array in (motion.positions, motion.rotations, motion.local_positions, motion.local_rotations):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0, 0] = 1


def test_a_motion_without_frames_is_empty_but_whole(make_motion):
    motion = make_motion(frames=0)
    assert (motion.frame_count, motion.duration, motion.height) == (0, 0.0, 0.0)
    assert motion.positions.shape == (0, 7, 3)
    assert motion.linear_velocities().shape == (0, 7, 3)


def test_height_and_scale(make_motion):
    identity = np.tile(np.float32([[0], [0], [0], [1]]), (7, 1, 2))
    skeleton = make_motion().skeleton
    motion = Motion.from_columns(skeleton, identity, np.float32([[[0, 0], [90, 90], [0, 0]]]), [0], 30.0)
    assert motion.height == pytest.approx(0.7 + 0.45, abs=1e-5)
    small = motion.scaled(0.01)
    np.testing.assert_allclose(small.positions, motion.positions * 0.01, atol=1e-6)
    with pytest.raises(ValueError, match="scale must be a positive number, got 0"):
        motion.scaled(0)


def test_velocities_of_a_turning_walker():
    frames, rate = 20, 50.0
    t = np.arange(frames) / rate
    skeleton = Skeleton(["root", "tip"], [-1, 0], [[0, 0, 0], [0, 0, 1]])
    rotations = np.zeros((2, 4, frames), np.float32)
    rotations[1, 3] = 1
    rotations[0] = Rotation.from_rotvec(np.outer(t, [0, 3.0, 0])).as_quat().T
    positions = np.stack([2 * t, 0 * t, 0 * t])[None].astype(np.float32)
    motion = Motion.from_columns(skeleton, rotations, positions, [0], rate)
    np.testing.assert_allclose(
        motion.angular_velocities()[:, 1], np.tile([0, 3.0, 0], (frames, 1)), atol=1e-3
    )
    tip = motion.linear_velocities()[1:-1, 1]
    expected = np.stack([2 + 3 * np.cos(3 * t), 0 * t, -3 * np.sin(3 * t)], 1)[1:-1]
    np.testing.assert_allclose(tip, expected, atol=5e-3)


IDENTITY = np.tile(np.float32([[0], [0], [0], [1]]), (7, 1, 4))
ROOT = np.zeros((1, 3, 4), np.float32)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"local_rotations": IDENTITY[:6]}, r"local_rotations must have shape \(7, 4, F\), got \(6, 4, 4\)"),
        (
            {"local_positions": ROOT[:, :, :3]},
            r"local_positions must have shape \(1, 3, 4\), got \(1, 3, 3\)",
        ),
        ({"translated": [1]}, r"translated must hold the roots \(0,\), got \[1\]"),
        ({"translated": [7]}, r"translated must be ascending joint indices below 7, got \[7\]"),
        ({"framerate": 0.0}, "framerate must be a positive number of frames per second, got 0.0"),
        ({"framerate": float("nan")}, "framerate must be a positive number of frames per second, got nan"),
    ],
)
def test_refusals(changes, message, make_motion):
    values = {"local_rotations": IDENTITY, "local_positions": ROOT, "translated": [0], "framerate": 30.0}
    with pytest.raises(ValueError, match=message):
        Motion.from_columns(make_motion().skeleton, **{**values, **changes})


def test_refusal_of_world_arrays(motion):
    with pytest.raises(ValueError, match=r"rotations must have shape \(F, 7, 4\), got \(40, 6, 4\)"):
        Motion.from_world(motion.skeleton, motion.positions, motion.rotations[:, :6], 30.0)
    with pytest.raises(ValueError, match=r"positions must have shape \(40, 7, 3\), got \(39, 7, 3\)"):
        Motion.from_world(motion.skeleton, motion.positions[1:], motion.rotations, 30.0)
    zero = motion.rotations.copy()
    zero[3, 4] = 0
    with pytest.raises(ValueError, match="got zero at frame 3, joint 'LeftFoot'"):
        Motion.from_world(motion.skeleton, motion.positions, zero, 30.0)
