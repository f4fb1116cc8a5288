"""Clip sampling, and the headless step: sample two clips, then forward kinematics."""

import numpy as np
import pytest
import rig
from harness import QUICK, compare, copy_bandwidth, row

from ai4animation import Motion, Skeleton, World
from ai4animation.engine.components import Clips, LocalPose, Playback
from ai4animation.engine.systems import KinematicsSystem
from ai4animation.kernels import sample
from ai4animation.kernels.threads import set_thread_count, thread_count

FRAMES = 600
SIZES = (64, 1024) if QUICK else (1024, 10_240, 102_400)
CROWDS = (500, 2000) if QUICK else (100_000, 1_000_000)
# Write a local rotation after reading its line first (write-allocate); the clip itself lies in the cache.
BYTES_PER_JOINT = 32


@pytest.fixture(autouse=True)
def _one_thread():
    before = thread_count()
    set_thread_count(1)
    yield
    set_thread_count(before)


def clips() -> list[Motion]:
    """Two clips of ten seconds: smooth random motion of the benchmark's rig."""
    motions = []
    t = np.arange(FRAMES, dtype=np.float32) / 60
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        angles = np.sin(rng.uniform(1, 6, (rig.JOINTS, 3, 1)) * t + rng.uniform(0, 6, (rig.JOINTS, 3, 1)))
        rotations = np.concatenate([angles * 0.6, np.ones((rig.JOINTS, 1, FRAMES))], axis=1)
        rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
        offsets = np.random.default_rng(0).normal(size=(rig.JOINTS, 3)) * 0.2
        skeleton = Skeleton([f"joint_{j}" for j in range(rig.JOINTS)], rig.PARENTS, offsets)
        root = np.stack([0 * t, 1 + 0 * t, t])[None]
        motions.append(
            Motion.from_columns(
                skeleton, rotations.astype(np.float32), root.astype(np.float32), [0], 60.0, f"clip{seed}"
            )
        )
    return motions


def crowd(rows: int):
    """A world whose rows play both clips at random times."""
    motions = clips()
    world = World(seed=1)
    batch = world.spawn(motions, rows, time=world.rng.random(rows) * motions[0].duration)
    world.evaluate()
    validate(batch, motions)
    return world, batch


def validate(batch, motions) -> None:
    """Check some rows' local rotations against float64 slerp before any time is reported."""
    local = batch[LocalPose].local_rotations.view()
    for i in np.unique(np.linspace(0, batch.count - 1, 20).astype(int)):
        motion = motions[batch.column("clip").view()[i]]
        position = float(batch.column("time").view()[i]) * motion.framerate
        a, b = motion.local_rotations[int(position) : int(position) + 2].astype(np.float64)
        dot = (a * b).sum(-1, keepdims=True)
        angle, t = np.arccos(np.clip(np.abs(dot), -1, 1)), position - int(position)
        expected = (np.sin((1 - t) * angle) * a + np.sin(t * angle) * b * np.sign(dot)) / np.sin(angle)
        np.testing.assert_allclose(local[i], expected, atol=2e-5)


def numpy_pose(rotations, frames, following, weights):
    """Reference: slerp of all joints and rows in vectorised NumPy, (N, J, 4)."""
    a, b = rotations[frames], rotations[following]
    dot = np.einsum("njc,njc->nj", a, b)
    angle = np.arccos(np.clip(np.abs(dot), 0, 1))
    sine = np.maximum(np.sin(angle), np.float32(1e-7))
    t = weights[:, None]
    p, q = np.sin((1 - t) * angle) / sine, np.copysign(np.sin(t * angle) / sine, dot)
    return p[..., None] * a + q[..., None] * b


@pytest.mark.parametrize("rows", SIZES)
def test_pose(benchmark, rows):
    _, batch = crowd(rows)
    bank, play, local = batch[Clips], batch[Playback], batch[LocalPose]
    frames, following, weights = play.frame.data, play.next_frame.data, play.weight.data
    row_major = np.ascontiguousarray(bank.rotations.transpose(2, 0, 1))

    def run():
        sample.pose(
            bank.positions,
            bank.rotations,
            frames,
            following,
            weights,
            0,
            rows,
            local.local_positions.data,
            local.local_rotations.data,
        )

    best, reference = compare(
        benchmark,
        run,
        lambda: numpy_pose(row_major, frames[:rows], following[:rows], weights[:rows]),
    )
    joints = rows * rig.JOINTS
    row(
        "sample",
        f"pose (slerp), {rows:,} x {rig.JOINTS} joints, 1 thread",
        best / joints * 1e9,
        "ns/joint",
        reference=f"vectorised NumPy slerp, {reference / joints * 1e9:.3g} ns/joint",
        ratio=reference / best,
    )
    if rows == SIZES[-1]:
        moved = joints * BYTES_PER_JOINT
        row("sample", f"memory moved, {rows:,} rows", moved / best / 1e9, "GB/s")
        row("sample", "copy bandwidth, same size", copy_bandwidth(moved // 2), "GB/s")


def test_headless_step(benchmark):
    """One step of the whole world; per-row cost must hold from 100,000 to 1,000,000 rows."""
    costs = []
    for rows in CROWDS:
        world, _ = crowd(rows)
        kinematics = world.system(KinematicsSystem)
        if rows == CROWDS[0]:
            step, alone = compare(benchmark, world.step, lambda k=kinematics: k.run(0.0))
        else:
            from harness import best_of

            world.step()
            step = best_of(world.step, 10)
            kinematics.run(0.0)
            alone = best_of(lambda k=kinematics: k.run(0.0), 10)
        costs.append(step / rows)
        row(
            "sample",
            f"headless step, {rows:,} x {rig.JOINTS} joints, 1 thread",
            step / rows / rig.JOINTS * 1e9,
            "ns/joint",
            reference=f"FK alone, {alone / rows / rig.JOINTS * 1e9:.3g} ns/joint (ratio: step / FK)",
            ratio=step / alone,
            goal="<= 3x" if rows == CROWDS[0] else None,
        )
    row(
        "sample",
        f"headless step, cost per row at {CROWDS[1]:,}",
        costs[1] * 1e9,
        "ns/row",
        reference=f"cost per row at {CROWDS[0]:,}, {costs[0] * 1e9:.3g} ns/row",
        ratio=costs[1] / costs[0],
        goal="<= 1.25x",
    )
