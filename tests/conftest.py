"""Small motions every layer's tests use."""

import numpy as np
import pytest

from ai4animation import Motion, Skeleton

NAMES = ("Hips", "Spine", "Head", "LeftLeg", "LeftFoot", "RightLeg", "RightFoot")
PARENTS = (-1, 0, 1, 0, 3, 0, 5)
OFFSETS = ((0, 0.9, 0), (0, 0.3, 0), (0, 0.4, 0), (0.1, 0, 0), (0, -0.45, 0), (-0.1, 0, 0), (0, -0.45, 0))


def _make_motion(frames=40, framerate=30.0, seed=0, name="clip", translated=(0,), offsets=OFFSETS):
    """Smooth random motion of a small biped."""
    rng = np.random.default_rng(seed)
    skeleton = Skeleton(NAMES, PARENTS, np.float32(offsets))
    t = np.linspace(0, 3, frames)
    angles = rng.normal(size=(7, 3, 1)) * np.sin(
        t * rng.uniform(1, 3, (7, 3, 1)) + rng.uniform(0, 6, (7, 3, 1))
    )
    quaternions = np.concatenate([angles * 0.4, np.ones((7, 1, frames))], axis=1)
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    positions = rng.normal(size=(len(translated), 3, 1)) + np.sin(
        t + rng.normal(size=(len(translated), 3, 1))
    )
    return Motion.from_columns(
        skeleton, quaternions.astype(np.float32), positions.astype(np.float32), translated, framerate, name
    )


@pytest.fixture
def make_motion():
    """Make a motion: frames, framerate, seed, name, translated, offsets."""
    return _make_motion


@pytest.fixture
def motion():
    return _make_motion()
