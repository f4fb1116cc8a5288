"""Scene hierarchy kernel against a recursive float64 version."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ai4animation.kernels import hierarchy


def oracle(parents, positions, rotations, scales, i):
    """World position, rotation and scale of node i."""
    if parents[i] < 0:
        return positions[:, i], Rotation.from_quat(rotations[:, i]), scales[:, i]
    p, q, s = oracle(parents, positions, rotations, scales, parents[i])
    return p + q.apply(s * positions[:, i]), q * Rotation.from_quat(rotations[:, i]), s * scales[:, i]


@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
def test_compose(rows):
    rng = np.random.default_rng(rows)
    # Children may stand before their parents: the order, not the row, puts parents first.
    place = rng.permutation(rows)
    tree = np.array([rng.integers(-1, max(i - 1, 0) + (i > 0)) if i % 10 else -1 for i in range(rows)], int)
    parents = np.full(rows, -1, np.int32)
    for i in range(rows):
        parents[place[i]] = place[tree[i]] if tree[i] >= 0 else -1
    positions = rng.normal(size=(3, rows)).astype(np.float32)
    rotations = Rotation.random(max(rows, 1), random_state=rng).as_quat()[:rows].T.astype(np.float32).copy()
    scales = rng.uniform(0.8, 1.25, (3, rows)).astype(np.float32)
    out = [np.full((c, rows), np.nan, np.float32) for c in (3, 4, 3)]
    hierarchy.compose(place.astype(np.int32), parents, positions, rotations, scales, 0, rows, *out)
    for i in range(0, rows, max(1, rows // 50)):
        p, q, s = oracle(parents, positions.astype(float), rotations.astype(float), scales.astype(float), i)
        np.testing.assert_allclose(out[0][:, i], p, atol=1e-4)
        assert (q.inv() * Rotation.from_quat(out[1][:, i])).magnitude() < 1e-5
        np.testing.assert_allclose(out[2][:, i], s, rtol=1e-5)
    assert all(np.isfinite(array).all() for array in out)
