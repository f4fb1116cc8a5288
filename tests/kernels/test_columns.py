import numpy as np

from ai4animation.kernels import columns


def test_flush_tiny_zeroes_only_what_means_nothing():
    values = np.array([1e-13, -1e-30, 1e-11, -0.5, np.nan, np.inf, 1e-40, 0.0], np.float32).reshape(1, 1, 8)
    columns.flush_tiny(0, 8, values)
    np.testing.assert_array_equal(
        values[0, 0], np.array([0, 0, 1e-11, -0.5, np.nan, np.inf, 0, 0], np.float32)
    )


def test_flush_tiny_touches_only_its_rows():
    values = np.full((2, 3, 40), 1e-20, np.float32)
    columns.flush_tiny(10, 30, values)
    assert (values[:, :, 10:30] == 0).all()
    assert (values[:, :, :10] != 0).all()
    assert (values[:, :, 30:] != 0).all()
