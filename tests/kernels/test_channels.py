"""Channels to poses and angles to channels, against SciPy and plain float64."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ai4animation.kernels import channels

ORDERS = list(itertools.permutations(range(3)))


def run(
    values,
    axes,
    angle_channels,
    position_channels=((),),
    bases=((),),
    scale=1.0,
    first=0,
    span=None,
    rows=None,
):
    """Outputs poisoned with NaN; rows of the outputs outside ``span`` stay so."""
    values = np.ascontiguousarray(values, np.float32)
    rows = values.shape[1] if rows is None else rows
    start, stop = span or (0, rows)
    axes = np.array(axes, np.int32).reshape(-1, 3)
    places = np.array(position_channels, np.int32).reshape(-1, 3)
    rotations = np.full((len(axes), 4, rows), np.nan, np.float32)
    positions = np.full((len(places), 3, rows), np.nan, np.float32)
    channels.pose_from_channels(
        values,
        first,
        axes,
        np.array(angle_channels, np.int32).reshape(-1, 3),
        places,
        np.array(bases, np.float32).reshape(-1, 3),
        float(scale),
        start,
        stop,
        rotations,
        positions,
    )
    return rotations, positions


def assert_same_rotation(found, expected, atol=5e-7):
    sign = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found, expected * sign, atol=atol)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
def test_rotations_of_every_order(order, rows):
    rng = np.random.default_rng(rows)
    values = (rng.uniform(-720, 720, (7, rows))).astype(np.float32)
    values[:, :1] = [[0], [90], [-90], [180], [-180], [360], [45]]
    rotations, _ = run(values, [order, order], [[0, 1, 2], [5, 3, 6]])
    letters = "".join("XYZ"[axis] for axis in order)
    for found, angles in zip(rotations, (values[[0, 1, 2]], values[[5, 3, 6]]), strict=True):
        assert np.isfinite(found).all()
        if rows:
            reference = Rotation.from_euler(letters, angles.T.astype(np.float64), degrees=True).as_quat().T
            assert_same_rotation(found, reference)
            np.testing.assert_allclose((found**2).sum(axis=0), 1, atol=1e-6)


def test_two_turns_give_the_same_quaternion_not_its_negative():
    degrees = np.array([30, 750, -690, 390], np.float32)
    (rotation,), _ = run(np.stack([degrees, 0 * degrees]), [(0, 1, 2)], [[0, 1, 1]])
    np.testing.assert_array_equal(rotation[:, 0], rotation[:, 1])
    np.testing.assert_array_equal(rotation[:, 0], rotation[:, 2])
    np.testing.assert_allclose(rotation[:, 0], -rotation[:, 3], atol=2e-7)


@pytest.mark.parametrize("degrees", [1e4, 123456.0, -3e6, 16777216.0, 9.87e8])
def test_many_turns_keep_their_direction(degrees):
    value = np.float32(degrees)
    (rotation,), _ = run([[value], [0]], [(2, 0, 1)], [[0, 1, 1]])
    half = np.radians(np.fmod(float(value), 720.0)) / 2
    np.testing.assert_allclose(rotation[:, 0], [0, 0, np.sin(half), np.cos(half)], atol=5e-7)


@pytest.mark.parametrize("degrees", [1e12, -1e30, 3e38])
def test_angles_without_direction_still_give_unit_quaternions(degrees):
    (rotation,), _ = run([[degrees], [0]], [(2, 0, 1)], [[0, 1, 1]])
    np.testing.assert_allclose((rotation[:, 0] ** 2).sum(), 1, atol=1e-5)


def test_nan_stays_in_its_joint_and_row():
    values = np.zeros((7, 50), np.float32)
    values[4, 20] = np.nan
    rotations, _ = run(values, [(0, 1, 2), (2, 0, 1)], [[0, 1, 2], [3, 4, 5]])
    assert np.argwhere(np.isnan(rotations).any(axis=1)).tolist() == [[1, 20]]


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_positions(scale):
    rng = np.random.default_rng(5)
    values = rng.normal(size=(6, 33)).astype(np.float32)
    values[5] = 0
    bases = np.array([[1, 2, 3], [0, 7, 0]], np.float32)
    _, positions = run(values, [], [], [[2, 0, 1], [3, 5, 4]], bases, scale)
    for p, (sources, base) in enumerate(zip([[2, 0, 1], [3, 5, 4]], bases, strict=True)):
        np.testing.assert_allclose(
            positions[p], base[:, None] + scale * values[sources], rtol=1e-6, atol=1e-7
        )


def test_a_block_lands_on_its_own_rows():
    rng = np.random.default_rng(6)
    values = (rng.normal(size=(4, 100)) * 90).astype(np.float32)
    values[3] = 0
    whole = run(values, [(2, 0, 1)], [[0, 1, 2]], [[0, 1, 2]], [[0, 0, 0]])
    for begin, end in ((0, 1), (3, 20), (37, 100)):
        part = run(
            values[:, begin:end], [(2, 0, 1)], [[0, 1, 2]], [[0, 1, 2]], [[0, 0, 0]],
            first=begin, span=(begin, end), rows=100,
        )  # fmt: skip
        for one, other in zip(part, whole, strict=True):
            np.testing.assert_array_equal(one[:, :, begin:end], other[:, :, begin:end])
            assert np.isnan(one[:, :, :begin]).all()
            assert np.isnan(one[:, :, end:]).all()


def unwrap(angles, previous=None, start=0, stop=None):
    angles = np.ascontiguousarray(angles, np.float32)
    previous = np.zeros(angles.shape[:2], np.float32) if previous is None else previous
    out = np.full_like(angles, np.nan)
    channels.degrees_unwrapped(angles, previous, start, angles.shape[2] if stop is None else stop, out)
    return out


def wrapped(degrees):
    return np.radians((degrees + 180) % 360 - 180)


@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
def test_degrees_follow_on_without_jumps(rows):
    rng = np.random.default_rng(7)
    degrees = rng.uniform(-150, 150, (2, 3, 1)) + np.cumsum(rng.uniform(-40, 40, (2, 3, rows)), axis=2)
    degrees = np.clip(degrees, -1400, 1400)
    found = unwrap(wrapped(degrees))
    assert (np.abs(np.diff(found, axis=2)) <= 180).all()
    turns = (found - degrees) / 360
    np.testing.assert_allclose(turns, np.rint(turns), atol=1e-5)


def test_degrees_follow_on_from_block_to_block():
    degrees = np.linspace(100, 1000, 400).reshape(1, 1, -1).repeat(3, axis=1)
    angles = wrapped(degrees)
    whole = unwrap(angles)
    np.testing.assert_allclose(whole, degrees, atol=1e-3)
    first = unwrap(angles[:, :, :150])
    second = unwrap(angles[:, :, 150:], first[:, :, -1].copy())
    np.testing.assert_array_equal(np.concatenate([first, second], axis=2), whole)


def test_degrees_do_not_grow_until_float32_loses_digits():
    degrees = np.linspace(0, 40_000, 5000).reshape(1, 1, -1).repeat(3, axis=1)
    found = unwrap(wrapped(degrees))
    assert np.abs(found).max() <= 1440
    turns = (found - degrees) / 360
    np.testing.assert_allclose(turns, np.rint(turns), atol=1e-6)
    assert (np.abs(np.diff(found[0, 0])) > 180).sum() < 30
