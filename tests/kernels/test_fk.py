"""Forward kinematics and velocities against float64 matrices and SciPy."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ai4animation.kernels import fk
from ai4animation.kernels.threads import run_rows, set_thread_count, thread_count

CHAIN = np.arange(-1, 99, dtype=np.int32)
TREE = np.array([-1, 0, 1, 2, 0, 4, 5, 1, -1, 8, 9, 8], np.int32)
ONE = np.array([-1], np.int32)


def unit(rng, *shape):
    q = rng.normal(size=shape)
    return (q / np.linalg.norm(q, axis=-2, keepdims=True)).astype(np.float32)


def make(parents, rows, slots=None, seed=0):
    rng = np.random.default_rng(seed)
    joints = len(parents)
    slots = np.where(parents < 0, 0, -1).astype(np.int32) if slots is None else slots
    return {
        "parents": parents,
        "offsets": rng.normal(size=(joints, 3)).astype(np.float32),
        "slots": slots,
        "local_positions": rng.normal(size=(max(slots.max() + 1, 1), 3, rows)).astype(np.float32),
        "local_rotations": unit(rng, joints, 4, rows),
        "origin_positions": rng.normal(size=(3, rows)).astype(np.float32),
        "origin_rotations": unit(rng, 4, rows),
    }


def run(data, start, stop, rows):
    joints = len(data["parents"])
    positions = np.full((joints, 3, rows), np.nan, np.float32)
    rotations = np.full((joints, 4, rows), np.nan, np.float32)
    fk.forward(*data.values(), start, stop, positions, rotations)
    return positions, rotations


def oracle(data, row):
    """4x4 matrices in float64, one row: positions (J, 3) and rotation matrices (J, 3, 3)."""

    def matrix(position, quaternion):
        m = np.eye(4)
        m[:3, :3] = Rotation.from_quat(quaternion.astype(np.float64)).as_matrix()
        m[:3, 3] = position
        return m

    world = []
    origin = matrix(data["origin_positions"][:, row], data["origin_rotations"][:, row])
    for j, parent in enumerate(data["parents"]):
        slot = data["slots"][j]
        position = data["offsets"][j] if slot < 0 else data["local_positions"][slot, :, row]
        above = origin if parent < 0 else world[parent]
        world.append(above @ matrix(position, data["local_rotations"][j, :, row]))
    world = np.array(world)
    return world[:, :3, 3], world[:, :3, :3]


@pytest.mark.parametrize("parents", [ONE, TREE, CHAIN], ids=["one", "tree", "chain"])
@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
def test_forward_equals_matrices(parents, rows):
    data = make(parents, rows)
    positions, rotations = run(data, 0, rows, rows)
    for row in range(0, rows, max(1, rows // 9)):
        expected_positions, expected_matrices = oracle(data, row)
        scale = np.abs(expected_positions).max() + 1
        np.testing.assert_allclose(positions[:, :, row], expected_positions, atol=3e-6 * scale)
        got = Rotation.from_quat(rotations[:, :, row]).as_matrix()
        np.testing.assert_allclose(got, expected_matrices, atol=2e-5)
    assert np.isfinite(positions).all()
    assert np.isfinite(rotations).all()


def test_joints_with_slots_use_their_own_position_per_row():
    slots = np.full(len(TREE), -1, np.int32)
    slots[[0, 3, 8, 11]] = [0, 1, 2, 3]
    data = make(TREE, 33, slots)
    positions, _ = run(data, 0, 33, 33)
    for row in (0, 17, 32):
        np.testing.assert_allclose(positions[:, :, row], oracle(data, row)[0], atol=2e-5)
    every = make(TREE, 5, np.arange(len(TREE), dtype=np.int32))
    positions, _ = run(every, 0, 5, 5)
    np.testing.assert_allclose(positions[:, :, 4], oracle(every, 4)[0], atol=2e-5)


def test_forward_touches_only_its_rows():
    data = make(TREE, 100)
    positions, rotations = run(data, 13, 57, 100)
    outside = np.r_[0:13, 57:100]
    assert np.isnan(positions[:, :, outside]).all()
    assert np.isnan(rotations[:, :, outside]).all()
    assert np.isfinite(positions[:, :, 13:57]).all()


def test_batch_equals_loop_of_singles_bit_for_bit():
    # 16 rows a single: the vector body computes every row, as tables do with their padded capacity.
    rows = 5000
    data = make(TREE, rows)
    positions, rotations = run(data, 0, rows, rows)
    for row in (0, 1, 4095, 4096, 4999):
        single = {
            k: v if k in ("parents", "offsets", "slots") else np.repeat(v[..., row : row + 1], 16, -1)
            for k, v in data.items()
        }
        p, q = run(single, 0, 16, 16)
        assert p[:, :, 0].tobytes() == positions[:, :, row].tobytes()
        assert q[:, :, 0].tobytes() == rotations[:, :, row].tobytes()


def test_a_broken_row_does_not_touch_its_neighbours():
    data = make(TREE, 64)
    clean, _ = run(data, 0, 64, 64)
    data["local_rotations"][0, :, 20] = np.nan
    broken, _ = run(data, 0, 64, 64)
    others = np.arange(64) != 20
    assert np.isnan(broken[1, :, 20]).all()
    assert broken[:, :, others].tobytes() == clean[:, :, others].tobytes()


def test_threads_give_the_same_bytes():
    rows = 20_003
    data = make(TREE, rows)
    before, results = thread_count(), []
    try:
        for threads in (1, 2, 3):
            set_thread_count(threads)
            out = np.full((12, 3, rows), np.nan, np.float32), np.full((12, 4, rows), np.nan, np.float32)
            run_rows(fk.forward, tuple(data.values()), rows, out, columns=12)
            results.append(out[0].tobytes() + out[1].tobytes())
    finally:
        set_thread_count(before)
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
def test_to_local_inverts_forward(rows):
    data = make(TREE, rows, np.arange(len(TREE), dtype=np.int32))
    world = run(data, 0, rows, rows)
    local_positions = np.full((12, 3, rows), np.nan, np.float32)
    local_rotations = np.full((12, 4, rows), np.nan, np.float32)
    fk.to_local(
        TREE,
        *world,
        data["origin_positions"],
        data["origin_rotations"],
        0,
        rows,
        local_positions,
        local_rotations,
    )
    np.testing.assert_allclose(local_positions, data["local_positions"], atol=2e-5)
    sign = np.sign((local_rotations * data["local_rotations"]).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(local_rotations * sign, data["local_rotations"], atol=3e-6)


@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
def test_velocities_between_poses(rows):
    rng = np.random.default_rng(5)
    before_positions = rng.normal(size=(3, 3, rows)).astype(np.float32)
    positions = before_positions + rng.normal(size=(3, 3, rows)).astype(np.float32) * 0.1
    linear = np.full((3, 3, rows), np.nan, np.float32)
    fk.linear_velocity(positions, before_positions, 0.02, 0, rows, linear)
    expected = (positions.astype(np.float64) - before_positions) / 0.02
    np.testing.assert_allclose(linear, expected, rtol=1e-5, atol=1e-5)

    before = unit(rng, 3, 4, rows)
    rates = rng.normal(size=(3, 3, rows)) * np.where(np.arange(rows) % 3 == 0, 1e-4, 20.0)
    after = np.empty_like(before)
    for j in range(3):
        for row in range(rows):
            step = Rotation.from_rotvec(rates[j, :, row] * 0.02) * Rotation.from_quat(before[j, :, row])
            # Either sign stands for the same rotation.
            after[j, :, row] = step.as_quat() * (-1) ** row
    angular = np.full((3, 3, rows), np.nan, np.float32)
    fk.angular_velocity(after, before, 0.02, 0, rows, angular)
    np.testing.assert_allclose(angular, rates, atol=3e-5)


def test_angular_velocity_of_rest_and_of_half_a_turn_is_finite():
    q = np.array([0, 0, 0, 1], np.float32).reshape(1, 4, 1)
    half = np.array([0, 1, 0, 0], np.float32).reshape(1, 4, 1)
    out = np.full((1, 3, 1), np.nan, np.float32)
    fk.angular_velocity(q, q, 0.01, 0, 1, out)
    assert (out == 0).all()
    fk.angular_velocity(half, q, 0.01, 0, 1, out)
    np.testing.assert_allclose(np.abs(out[0, :, 0]), [0, np.pi / 0.01, 0], rtol=1e-6)


def test_clip_velocities_of_a_known_motion():
    rate, frames = 50.0, 40
    t = np.arange(frames) / rate
    positions = np.stack([3 * t, t**2, np.zeros(frames)])[None].astype(np.float32)
    rotations = Rotation.from_rotvec(np.outer(t, [0, 4.0, 0])).as_quat().T[None].astype(np.float32).copy()
    rotations[:, :, 10:] *= -1
    linear, angular = np.full((2, 1, 3, frames), np.nan, np.float32)
    fk.clip_linear_velocity(positions, rate, 0, frames, linear)
    fk.clip_angular_velocity(rotations, rate, 0, frames, angular)
    np.testing.assert_allclose(linear[0, 0], 3, atol=1e-4)
    # A central difference is exact for a parabola; one-sided at the ends it is half a frame off.
    np.testing.assert_allclose(linear[0, 1, 1:-1], 2 * t[1:-1], atol=1e-4)
    np.testing.assert_allclose(linear[0, 1, [0, -1]], [1 / rate, 2 * t[-1] - 1 / rate], atol=1e-4)
    np.testing.assert_allclose(angular[0].T, np.tile([0, 4.0, 0], (frames, 1)), atol=2e-4)


def test_clip_velocities_of_a_single_frame_are_zero():
    positions, rotations = (
        np.ones((2, 3, 1), np.float32),
        np.tile(np.float32([[0], [0], [0], [1]]), (2, 1, 1)),
    )
    linear, angular = np.full((2, 2, 3, 1), np.nan, np.float32)
    fk.clip_linear_velocity(positions, 30.0, 0, 1, linear)
    fk.clip_angular_velocity(rotations, 30.0, 0, 1, angular)
    assert (linear == 0).all()
    assert (angular == 0).all()
