"""Clip sampling against SciPy's Slerp and plain float64 arithmetic."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from ai4animation.kernels import sample

FIRSTS = np.array([0, 5, 6, 36], np.int32)
COUNTS = np.array([5, 1, 30, 2], np.int32)
RATES = np.array([10.0, 30.0, 59.99988, 24.0], np.float32)
FRAMES = 38


def clip_data(joints=3, seed=0):
    rng = np.random.default_rng(seed)
    rotations = Rotation.random(joints * FRAMES, random_state=rng).as_quat().reshape(joints, FRAMES, 4)
    positions = rng.normal(size=(2, 3, FRAMES))
    return positions.astype(np.float32), np.ascontiguousarray(rotations.transpose(0, 2, 1), np.float32)


def advance(clips, speeds, loops, dt, times, low):
    rows = len(clips)
    frames, following = np.full((2, rows), -7, np.int32)
    weights = np.full(rows, np.nan, np.float32)
    sample.advance(
        FIRSTS,
        COUNTS,
        RATES,
        np.int32(clips),
        np.float32(speeds),
        np.int32(loops),
        dt,
        0,
        rows,
        times,
        low,
        frames,
        following,
        weights,
    )
    return frames, following, weights


def find(clips, times, loops):
    return advance(
        clips, np.ones(len(clips)), loops, 0.0, np.float32(times), np.zeros(len(clips), np.float32)
    )


@pytest.mark.parametrize(
    ("clip", "time", "loop", "expected"),
    [
        (0, 0.0, 0, (0, 1, 0.0)),
        (0, 0.25, 0, (2, 3, 0.5)),
        (0, 0.4, 0, (4, 4, 0.0)),
        (0, 9.0, 0, (4, 4, 0.0)),
        (0, -1.0, 0, (0, 1, 0.0)),
        (0, 0.45, 1, (0, 1, 0.5)),
        (0, 0.4, 1, (0, 1, 0.0)),
        (0, -0.15, 1, (2, 3, 0.5)),
        (0, 4.25, 1, (2, 3, 0.5)),
        (1, 0.0, 0, (5, 5, 0.0)),
        (1, 3.0, 1, (5, 5, 0.0)),
        (1, -3.0, 1, (5, 5, 0.0)),
        (3, 0.5 / 24, 0, (36, 37, 0.5)),
        (0, np.nan, 0, (0, 1, 0.0)),
        (0, np.nan, 1, (0, 1, 0.0)),
        (0, np.inf, 0, (4, 4, 0.0)),
        (0, -np.inf, 0, (0, 1, 0.0)),
        (0, np.inf, 1, (0, 1, 0.0)),
    ],
)
def test_frames_of_one_row(clip, time, loop, expected):
    frames, following, weights = find([clip], [time], [loop])
    assert (frames[0], following[0]) == expected[:2]
    assert weights[0] == pytest.approx(expected[2], abs=2e-6)


def test_frames_of_many_rows_equal_plain_arithmetic():
    rng = np.random.default_rng(3)
    clips, loops = rng.integers(0, 4, 1000), rng.integers(0, 2, 1000)
    times = rng.uniform(-3, 8, 1000).astype(np.float32)
    frames, following, weights = find(clips, times, loops)
    for i in range(1000):
        last, position = COUNTS[clips[i]] - 1, float(times[i]) * float(RATES[clips[i]])
        position = (position % last if last else 0.0) if loops[i] else min(max(position, 0.0), last)
        got = frames[i] - FIRSTS[clips[i]] + weights[i] * (following[i] > frames[i])
        # A time that rounding puts at the end of a loop may come out at its start: the same pose of the loop.
        assert min(abs(got - position), abs(abs(got - position) - last)) < 1e-5
        assert FIRSTS[clips[i]] <= frames[i] <= following[i] <= FIRSTS[clips[i]] + last


@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
def test_pose_equals_slerp_and_lerp(rows):
    positions, rotations = clip_data()
    rng = np.random.default_rng(1)
    frames = rng.integers(0, FRAMES - 1, rows).astype(np.int32)
    weights = rng.random(rows).astype(np.float32)
    weights[:: max(1, rows // 5)] = 0
    out_positions, out_rotations = (
        np.full((2, 3, rows), np.nan, np.float32),
        np.full((3, 4, rows), np.nan, np.float32),
    )
    sample.pose(
        positions, rotations, frames, frames + np.int32(1), weights, 0, rows, out_positions, out_rotations
    )
    a, b = positions[:, :, frames].astype(np.float64), positions[:, :, frames + 1]
    np.testing.assert_allclose(out_positions, a + (b - a) * weights, atol=1e-6)
    for i in range(rows):
        for j in range(3):
            pair = Rotation.from_quat(rotations[j][:, [frames[i], frames[i] + 1]].T)
            expected = Slerp([0, 1], pair)(weights[i])
            error = (expected.inv() * Rotation.from_quat(out_rotations[j, :, i])).magnitude()
            assert error < 3e-6
    np.testing.assert_allclose(np.linalg.norm(out_rotations, axis=1), 1, atol=1e-6)


def test_pose_at_a_frame_is_that_frame():
    positions, rotations = clip_data()
    frames = np.arange(FRAMES, dtype=np.int32)
    following = np.minimum(frames + 1, FRAMES - 1).astype(np.int32)
    out = np.full((2, 3, FRAMES), np.nan, np.float32), np.full((3, 4, FRAMES), np.nan, np.float32)
    sample.pose(positions, rotations, frames, following, np.zeros(FRAMES, np.float32), 0, FRAMES, *out)
    np.testing.assert_array_equal(out[0], positions)
    np.testing.assert_allclose(out[1], rotations, atol=1e-6)


def test_pose_touches_only_its_rows_and_equals_singles():
    positions, rotations = clip_data()
    rng = np.random.default_rng(2)
    rows = 5000
    frames = rng.integers(0, FRAMES - 1, rows).astype(np.int32)
    weights = rng.random(rows).astype(np.float32)
    out = np.full((2, 3, rows), np.nan, np.float32), np.full((3, 4, rows), np.nan, np.float32)
    sample.pose(positions, rotations, frames, frames + np.int32(1), weights, 8, 4990, *out)
    assert np.isnan(out[0][:, :, :8]).all()
    assert np.isnan(out[1][:, :, 4990:]).all()
    for row in (8, 4095, 4104, 4989):
        single = np.full((2, 3, 16), np.nan, np.float32), np.full((3, 4, 16), np.nan, np.float32)
        f = np.full(16, frames[row], np.int32)
        sample.pose(positions, rotations, f, f + np.int32(1), np.full(16, weights[row]), 0, 16, *single)
        assert single[0][:, :, 0].tobytes() == out[0][:, :, row].tobytes()
        assert single[1][:, :, 0].tobytes() == out[1][:, :, row].tobytes()


def test_advance_does_not_drift_in_hours_of_small_steps():
    times, low = np.zeros(2, np.float32), np.zeros(2, np.float32)
    speeds = np.array([1.0, 0.37], np.float32)
    steps, dt = 60 * 3600, 1 / 60
    clips, loops = np.array([2, 2], np.int32), np.array([0, 1], np.int32)
    frames, weights = np.zeros((2, 2), np.int32), np.zeros(2, np.float32)
    for _ in range(steps):
        sample.advance(FIRSTS, COUNTS, RATES, clips, speeds, loops, dt, 0, 2, times, low, *frames, weights)
    duration = 29 / float(RATES[2])
    wanted = steps * dt, (steps * dt * float(speeds[1])) % duration
    got = times.astype(np.float64) + low
    np.testing.assert_allclose(got, wanted, atol=1e-6)


def test_advance_by_zero_changes_nothing_and_single_frames_stay_at_zero():
    times, low = np.array([0.3, 0.7], np.float32), np.array([1e-9, 0], np.float32)
    kept = times.copy(), low.copy()
    advance([2, 2], [1, 1], [0, 0], 0.0, times, low)
    np.testing.assert_array_equal(times, kept[0])
    np.testing.assert_allclose(low, kept[1], atol=1e-12)
    advance([1, 1], [1, 1], [1, 1], 0.5, times, low)
    assert (times == 0).all()


def test_advance_moves_by_speed_and_wraps_both_ways():
    times, low = np.array([0.1, 0.1, 0.1], np.float32), np.zeros(3, np.float32)
    advance([0, 0, 0], [2.0, -1.0, -1.0], [1, 1, 0], 0.2, times, low)
    np.testing.assert_allclose(times, [0.1, 0.3, -0.1], atol=1e-6)


@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
def test_advance_writes_only_its_rows(rows):
    rng = np.random.default_rng(rows)
    total = rows + 9
    clips = rng.integers(0, 4, total).astype(np.int32)
    times, low = rng.random(total).astype(np.float32), np.zeros(total, np.float32)
    before = times.copy()
    frames, following = np.full((2, total), -7, np.int32)
    weights = np.full(total, np.nan, np.float32)
    ones = np.ones(total, np.float32)
    sample.advance(
        FIRSTS,
        COUNTS,
        RATES,
        clips,
        ones,
        np.zeros(total, np.int32),
        0.5,
        4,
        4 + rows,
        times,
        low,
        frames,
        following,
        weights,
    )
    outside = np.r_[0:4, 4 + rows : total]
    np.testing.assert_array_equal(times[outside], before[outside])
    assert (frames[outside] == -7).all()
    np.testing.assert_allclose(times[4 : 4 + rows], before[4 : 4 + rows] + 0.5, rtol=1e-6)
    assert np.isfinite(weights[4 : 4 + rows]).all()
