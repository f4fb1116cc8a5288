"""Forward kinematics against a scalar Numba kernel over (N, J, C) and a NumPy 4x4 product a joint."""

import numpy as np
import pytest
import rig
from harness import QUICK, compare, copy_bandwidth, row

from ai4animation.kernels import fk
from ai4animation.kernels.threads import run_rows, set_thread_count, thread_count

SIZES = (64, 1024) if QUICK else (1024, 10_240, 102_400)
GOALS = {1024: ">= 3.5x", 10_240: ">= 3.5x", 102_400: ">= 2.8x"}
# Read 4 rotation floats, write 7 floats after reading their lines first (write-allocate).
BYTES_PER_JOINT = 72


def prepared(rows):
    data, out = rig.make(rows), rig.outputs(rows)
    arguments = tuple(data.values())
    fk.forward(*arguments, 0, rows, *out)
    return data, out, arguments


def validate(data, out, rows):
    """Check the kernel against float64 matrices on some rows before any time is reported."""
    some = np.unique(np.linspace(0, rows - 1, 50).astype(int))
    part = {k: v[..., some] if v.ndim > 1 and k != "offsets" else v for k, v in data.items()}
    local = rig.matrix_locals(part, len(some)).astype(np.float64)
    world = np.empty_like(local)
    rig.matrix_forward(local, world)
    np.testing.assert_allclose(out[0][:, :, some].transpose(2, 0, 1), world[:, :, :3, 3], atol=2e-5)


@pytest.mark.parametrize("rows", SIZES)
def test_one_thread(benchmark, rows):
    data, out, arguments = prepared(rows)
    validate(data, out, rows)
    local = np.ascontiguousarray(data["local_rotations"][:, :, :rows].transpose(2, 0, 1))
    root = np.ascontiguousarray(data["local_positions"][0, :, :rows].T)
    positions, rotations = np.empty((rows, rig.JOINTS, 3), np.float32), np.empty_like(local)
    scalar = (data["offsets"], root, local, data["parents"], positions, rotations)
    rig.scalar_forward(*scalar)
    np.testing.assert_allclose(out[0][:, :, :rows].transpose(2, 0, 1), positions, atol=1e-5)

    best, reference = compare(
        benchmark,
        lambda: fk.forward(*arguments, 0, rows, *out),
        lambda: rig.scalar_forward(*scalar),
    )
    joints = rows * rig.JOINTS
    row(
        "fk",
        f"forward, {rows:,} x {rig.JOINTS} joints, 1 thread",
        best / joints * 1e9,
        "ns/joint",
        reference=f"scalar (N, J, C) Numba, {reference / joints * 1e9:.3g} ns/joint",
        ratio=reference / best,
        goal=GOALS.get(rows),
    )
    if rows == SIZES[-1]:
        moved = joints * BYTES_PER_JOINT
        row("fk", f"memory moved, {rows:,} rows", moved / best / 1e9, "GB/s")
        row("fk", "copy bandwidth, same size", copy_bandwidth(moved // 2), "GB/s")


def test_against_numpy_matrices(benchmark):
    """Three ways to do it with NumPy 4x4 matrices, from the best NumPy can do to what an object per joint does."""
    rows = 256 if QUICK else 10_240
    data, out, arguments = prepared(rows)
    validate(data, out, rows)
    local = rig.matrix_locals(data, rows)
    world = np.empty_like(local)
    few = 8 if QUICK else 128

    def from_quaternions():
        rig.matrix_forward(rig.matrix_locals(data, rows), world)

    best, stacked, whole, single = compare(
        benchmark,
        lambda: fk.forward(*arguments, 0, rows, *out),
        lambda: rig.matrix_forward(local, world),
        from_quaternions,
        lambda: rig.matrix_forward_singly(local[:few], world[:few]),
    )
    joints = rows * rig.JOINTS
    for name, seconds, count in (
        ("NumPy, one stacked 4x4 matmul a joint for all rows, local matrices given", stacked, joints),
        ("the same from local quaternions, as the kernel", whole, joints),
        ("NumPy, one 4x4 matmul a joint and character", single, few * rig.JOINTS),
    ):
        row(
            "fk",
            f"forward, {rows:,} x {rig.JOINTS} joints, 1 thread",
            best / joints * 1e9,
            "ns/joint",
            reference=f"{name}, {seconds / count * 1e9:.3g} ns/joint",
            ratio=seconds / count / (best / joints),
            goal=">= 100x",
        )


def test_two_threads(benchmark):
    rows = 1024 if QUICK else 102_400
    _, out, arguments = prepared(rows)
    before = thread_count()
    set_thread_count(2)
    try:
        expected = out[0].tobytes()
        run_rows(fk.forward, arguments, rows, out, columns=rig.JOINTS)
        assert out[0].tobytes() == expected
        best, single = compare(
            benchmark,
            lambda: run_rows(fk.forward, arguments, rows, out, columns=rig.JOINTS),
            lambda: fk.forward(*arguments, 0, rows, *out),
        )
    finally:
        set_thread_count(before)
    joints = rows * rig.JOINTS
    row(
        "fk",
        f"forward, {rows:,} x {rig.JOINTS} joints, 2 threads",
        best / joints * 1e9,
        "ns/joint",
        reference=f"1 thread, {single / joints * 1e9:.3g} ns/joint",
        ratio=single / best,
    )


def test_other_kernels(benchmark):
    rows = 64 if QUICK else 10_240
    data, world, _ = prepared(rows)
    local = rig.outputs(rows)
    velocities = rig.outputs(rows)[0]
    joints = rows * rig.JOINTS
    origins = data["origin_positions"], data["origin_rotations"]
    rotations, before = data["local_rotations"], np.roll(data["local_rotations"], 1, axis=2)

    def to_local():
        fk.to_local(data["parents"], *world, *origins, 0, rows, *local)

    def angular():
        fk.angular_velocity(rotations, before, 1 / 60, 0, rows, velocities)

    best, turning = compare(benchmark, to_local, angular)
    np.testing.assert_allclose(
        np.abs((local[1][:, :, :rows] * rotations[:, :, :rows]).sum(axis=1)), 1, atol=1e-5
    )
    row("fk", f"to_local, {rows:,} rows, 1 thread", best / joints * 1e9, "ns/joint")
    row("fk", f"angular_velocity, {rows:,} rows, 1 thread", turning / joints * 1e9, "ns/joint")
