"""The polynomials against NumPy's float64 functions."""

import numpy as np
import pytest

from ai4animation.kernels import trig
from ai4animation.kernels.jit import kernel


@kernel
def sin_cos_rows(angles, sines_out, cosines_out):
    for i in range(angles.shape[0]):
        sines_out[i], cosines_out[i] = trig.sin_cos(angles[i])


@kernel
def arctan2_rows(y, x, angles_out):
    for i in range(y.shape[0]):
        angles_out[i] = trig.arctan2(y[i], x[i])


@pytest.mark.parametrize("reach", [1, 10, 1000, 25000])
def test_sin_cos(reach):
    angles = np.random.default_rng(0).uniform(-reach, reach, 100_000).astype(np.float32)
    # Every multiple of pi / 4, where the reduction switches.
    angles[:8001] = np.arange(-4000, 4001) * (min(reach, 3000) / 3000 * np.pi / 4)
    sines, cosines = np.full((2, len(angles)), np.nan, np.float32)
    sin_cos_rows(angles, sines, cosines)
    assert np.abs(sines - np.sin(angles, dtype=np.float64)).max() < 1.2e-7
    assert np.abs(cosines - np.cos(angles, dtype=np.float64)).max() < 1.2e-7


def test_sin_of_a_tiny_angle_is_the_angle():
    angles = np.array([0, 1e-30, -1e-8, 1e-5], np.float32)
    sines, cosines = np.full((2, 4), np.nan, np.float32)
    sin_cos_rows(angles, sines, cosines)
    np.testing.assert_array_equal(sines, angles)
    np.testing.assert_array_equal(cosines, 1)


def arctan2(y, x):
    y, x = np.array(y, np.float32), np.array(x, np.float32)
    angles = np.full(len(y), np.nan, np.float32)
    arctan2_rows(y, x, angles)
    return angles, np.arctan2(y.astype(np.float64), x)


def test_arctan2_all_around():
    rng = np.random.default_rng(1)
    got, true = arctan2(*rng.normal(size=(2, 100_000)))
    assert np.abs(got - true).max() < 3e-7
    for size in (1e-20, 1e-6, 1, 1e6, 1e20):
        got, true = arctan2(rng.normal(size=10_000) * size, rng.uniform(0.01, 1, 10_000))
        np.testing.assert_allclose(got, true, rtol=2e-7)


def test_arctan2_on_the_axes():
    got, true = arctan2([0, 1, -1, 0, 0, 1, -1, 1, -1], [1, 0, 0, -1, 0, 1, 1, -1, -1])
    np.testing.assert_allclose(got, true, atol=2e-7)


def test_sinc_and_acos_square():
    angles = np.linspace(0, np.pi / 2, 2001, dtype=np.float32)
    got = [trig.sinc(np.float32(a * a)) for a in angles]
    np.testing.assert_allclose(got, np.sinc(angles.astype(np.float64) / np.pi), atol=1.5e-7)
    u = np.linspace(0, 1, 2001, dtype=np.float32)
    got = [trig.acos_square(v) for v in u]
    np.testing.assert_allclose(got, np.arccos(1 - u.astype(np.float64)) ** 2, rtol=3e-7)
