"""Euler angles in all 24 conventions against matrices of single rotations and SciPy."""

import itertools

import numpy as np
import pytest

from ai4animation.kernels import euler

SEQUENCES = [s for s in itertools.product(range(3), repeat=3) if s[0] != s[1] and s[1] != s[2]]
CONVENTIONS = [(s, intrinsic) for s in SEQUENCES for intrinsic in (1, 0)]


def name_of(convention):
    name = "".join("xyz"[axis] for axis in convention[0])
    return name.upper() if convention[1] else name


each_convention = pytest.mark.parametrize(("axes", "intrinsic"), CONVENTIONS, ids=map(name_of, CONVENTIONS))


def to_quat(angles, axes, intrinsic):
    rotations = np.full((angles.shape[0], 4, angles.shape[2]), np.nan, np.float32)
    euler.euler_to_quat_rows(angles, np.array(axes, np.int32), intrinsic, 0, angles.shape[2], rotations)
    return rotations


def to_euler(rotations, axes, intrinsic):
    angles = np.full((rotations.shape[0], 3, rotations.shape[2]), np.nan, np.float32)
    euler.quat_to_euler_rows(rotations, np.array(axes, np.int32), intrinsic, 0, rotations.shape[2], angles)
    return angles


def random_angles(axes, joints, rows, seed=0, away=0.05):
    """Angles inside the ranges that come back, the middle one away from gimbal lock."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(-np.pi, np.pi, (joints, 3, rows))
    middle = rng.uniform(away - np.pi / 2, np.pi / 2 - away, (joints, rows))
    angles[:, 1] = middle + np.pi / 2 if axes[0] == axes[2] else middle
    return angles.astype(np.float32)


def axis_matrix(axis, angle):
    """Rotation about a coordinate axis in float64, (..., 3, 3)."""
    m = np.zeros((*angle.shape, 3, 3))
    p, q = (axis + 1) % 3, (axis + 2) % 3
    m[..., axis, axis] = 1
    m[..., p, p] = m[..., q, q] = np.cos(angle)
    m[..., q, p] = np.sin(angle)
    m[..., p, q] = -np.sin(angle)
    return m


def matrix_of_angles(angles, axes, intrinsic):
    first, second, third = (axis_matrix(axis, angles[:, c].astype(np.float64)) for c, axis in enumerate(axes))
    return first @ second @ third if intrinsic else third @ second @ first


def matrix_of_quat(rotations):
    q = np.moveaxis(rotations.astype(np.float64), 1, -1)
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    x, y, z, w = np.moveaxis(q, -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).reshape(*x.shape, 3, 3)
    return np.eye(3) + 2 * w[..., None, None] * cross + 2 * cross @ cross


def circular(a, b):
    return np.abs((a.astype(np.float64) - b + np.pi) % (2 * np.pi) - np.pi)


@each_convention
def test_angles_to_quaternions_and_back(axes, intrinsic):
    for joints, rows in ((1, 0), (5, 1), (1, 7), (2, 500)):
        angles = random_angles(axes, joints, rows)
        rotations = to_quat(angles, axes, intrinsic)
        wanted = matrix_of_angles(angles, axes, intrinsic)
        # Comparisons of the negated form, so that NaN fails.
        assert (np.abs(matrix_of_quat(rotations) - wanted) <= 6e-7).all()
        assert (np.abs(np.linalg.norm(rotations.astype(np.float64), axis=1) - 1) <= 3e-7).all()
        for sign in (1, -1):
            assert (circular(to_euler(sign * rotations, axes, intrinsic), angles) <= 1e-5).all()


@each_convention
def test_agrees_with_scipy(axes, intrinsic):
    from scipy.spatial.transform import Rotation

    angles = random_angles(axes, 1, 300, seed=1)
    name = name_of((axes, intrinsic))
    theirs = Rotation.from_euler(name, angles[0].T)
    ours = to_quat(angles, axes, intrinsic)
    assert np.abs(matrix_of_quat(ours)[0] - theirs.as_matrix()).max() < 1e-6
    back = Rotation.from_quat(ours[0].T).as_euler(name)
    assert circular(to_euler(ours, axes, intrinsic)[0].T, back).max() < 1e-5


@each_convention
def test_rotation_survives_gimbal_lock_and_its_neighbourhood(axes, intrinsic):
    rng = np.random.default_rng(2)
    gaps = np.concatenate([[0, 0, 0, 0], 10.0 ** rng.uniform(-9, -1, 400)]) * rng.choice([-1, 1], 404)
    for lock in (0, np.pi) if axes[0] == axes[2] else (-np.pi / 2, np.pi / 2):
        angles = rng.uniform(-np.pi, np.pi, (1, 3, 404))
        angles[0, 1] = lock + gaps
        rotations = to_quat(angles.astype(np.float32), axes, intrinsic)
        back = to_euler(rotations, axes, intrinsic)
        assert np.isfinite(back).all()
        error = matrix_of_angles(back, axes, intrinsic) - matrix_of_quat(rotations)
        assert np.abs(error).max() < 2e-6
        # In lock only the sum or the difference of the outer angles is defined: the last one is zero.
        np.testing.assert_array_equal(back[0, 2, :4], 0)


@each_convention
def test_angles_stay_in_their_ranges(axes, intrinsic):
    q = np.random.default_rng(3).normal(size=(1, 4, 2000)).astype(np.float32)
    # A quaternion of any length names the same rotation.
    first, middle, last = to_euler(q * np.float32(3), axes, intrinsic)[0]
    slack = 5e-7
    assert np.abs([first, last]).max() <= np.pi + slack
    center = np.pi / 2 if axes[0] == axes[2] else 0
    assert np.abs(middle - center).max() <= np.pi / 2 + slack


def test_first_listed_axis_is_the_outermost_when_intrinsic():
    angles = np.array([0.3, -0.5, 0.7], np.float32).reshape(1, 3, 1)
    zxy = axis_matrix(2, np.float64(0.3)) @ axis_matrix(0, np.float64(-0.5)) @ axis_matrix(1, np.float64(0.7))
    np.testing.assert_allclose(matrix_of_quat(to_quat(angles, (2, 0, 1), 1))[0, 0], zxy, atol=1e-6)
    # The same product with fixed axes lists them in reverse.
    reverse = np.ascontiguousarray(angles[:, ::-1])
    np.testing.assert_allclose(matrix_of_quat(to_quat(reverse, (1, 0, 2), 0))[0, 0], zxy, atol=1e-6)


def test_many_turns():
    angles = random_angles((2, 0, 1), 1, 500, seed=4) + np.float32(2 * np.pi) * np.float32(50)
    error = matrix_of_quat(to_quat(angles, (2, 0, 1), 1)) - matrix_of_angles(angles, (2, 0, 1), 1)
    assert np.abs(error).max() < 1e-6


@pytest.mark.parametrize("axes", [(2, 0, 1), (0, 1, 0)])
@pytest.mark.parametrize("convert", [euler.euler_to_quat_rows, euler.quat_to_euler_rows])
def test_rows_are_independent(axes, convert):
    forward = convert is euler.euler_to_quat_rows
    angles = random_angles(axes, 2, 37, seed=5)
    values = angles if forward else to_quat(angles, axes, 1)
    shape = (2, 4 if forward else 3, 37)
    order = np.array(axes, np.int32)
    batch, singles, part = (np.full(shape, 7.5, np.float32) for _ in range(3))
    convert(values, order, 1, 0, 37, batch)
    for i in range(37):
        convert(values, order, 1, i, i + 1, singles)
    assert batch.tobytes() == singles.tobytes()
    convert(values, order, 1, 3, 29, part)
    assert part[..., 3:29].tobytes() == batch[..., 3:29].tobytes()
    assert (part[..., :3] == 7.5).all()
    assert (part[..., 29:] == 7.5).all()
