"""The rig of the benchmarks: 24 joints like a mocap biped's, random poses, and reference implementations."""

from __future__ import annotations

import numba
import numpy as np

from ai4animation.engine.table import aligned_empty, padded_capacity

PARENTS = np.array(
    [-1, 0, 1, 2, 3, 0, 5, 6, 7, 0, 9, 10, 11, 12, 11, 14, 15, 16, 11, 18, 19, 20, 16, 20], np.int32
)
JOINTS = len(PARENTS)


def make(rows: int) -> dict[str, np.ndarray]:
    """Return the arguments of ``fk.forward`` up to ``start``, as a table of this many rows would hold them."""
    rng = np.random.default_rng(0)
    capacity = padded_capacity(rows)
    rotations = aligned_empty((JOINTS, 4, capacity), np.float32)
    for joint in rotations:
        values = rng.standard_normal((4, capacity), np.float32)
        joint[:] = values / np.linalg.norm(values, axis=0)
    positions = aligned_empty((1, 3, capacity), np.float32)
    positions[:] = rng.standard_normal((1, 3, capacity), np.float32)
    origins = aligned_empty((3, capacity), np.float32), aligned_empty((4, capacity), np.float32)
    origins[0][:] = 0
    origins[1][:] = np.float32([[0], [0], [0], [1]])
    slots = np.full(JOINTS, -1, np.int32)
    slots[0] = 0
    return {
        "parents": PARENTS.copy(),
        "offsets": rng.standard_normal((JOINTS, 3)).astype(np.float32) * np.float32(0.2),
        "slots": slots,
        "local_positions": positions,
        "local_rotations": rotations,
        "origin_positions": origins[0],
        "origin_rotations": origins[1],
    }


def outputs(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return poisoned world columns."""
    capacity = padded_capacity(rows)
    positions = aligned_empty((JOINTS, 3, capacity), np.float32)
    rotations = aligned_empty((JOINTS, 4, capacity), np.float32)
    positions[:] = np.nan
    rotations[:] = np.nan
    return positions, rotations


@numba.njit(error_model="numpy", fastmath={"contract"})
def scalar_forward(offsets, root, local, parents, positions, rotations):
    """Reference: the same arithmetic over ``(N, J, C)``, one character after the other.

    Its speed equals ozz-animation's C++ local-to-model job (SSE) within 10 % on the machine where that was measured.
    """
    for n in range(local.shape[0]):
        for j in range(local.shape[1]):
            lx, ly, lz, lw = local[n, j, 0], local[n, j, 1], local[n, j, 2], local[n, j, 3]
            p = parents[j]
            if p < 0:
                positions[n, j, 0], positions[n, j, 1], positions[n, j, 2] = (
                    root[n, 0],
                    root[n, 1],
                    root[n, 2],
                )
                rotations[n, j, 0], rotations[n, j, 1], rotations[n, j, 2], rotations[n, j, 3] = (
                    lx,
                    ly,
                    lz,
                    lw,
                )
                continue
            x, y, z, w = rotations[n, p, 0], rotations[n, p, 1], rotations[n, p, 2], rotations[n, p, 3]
            vx, vy, vz = offsets[j, 0], offsets[j, 1], offsets[j, 2]
            tx, ty, tz = y * vz - z * vy, z * vx - x * vz, x * vy - y * vx
            tx, ty, tz = tx + tx, ty + ty, tz + tz
            positions[n, j, 0] = positions[n, p, 0] + vx + w * tx + y * tz - z * ty
            positions[n, j, 1] = positions[n, p, 1] + vy + w * ty + z * tx - x * tz
            positions[n, j, 2] = positions[n, p, 2] + vz + w * tz + x * ty - y * tx
            rotations[n, j, 0] = w * lx + x * lw + y * lz - z * ly
            rotations[n, j, 1] = w * ly - x * lz + y * lw + z * lx
            rotations[n, j, 2] = w * lz + x * ly - y * lx + z * lw
            rotations[n, j, 3] = w * lw - x * lx - y * ly - z * lz


def matrix_locals(data: dict[str, np.ndarray], rows: int) -> np.ndarray:
    """Return local 4x4 matrices (N, J, 4, 4) float32: what a matrix-based engine stores."""
    x, y, z, w = data["local_rotations"][:, :, :rows].transpose(1, 2, 0)
    local = np.zeros((rows, JOINTS, 4, 4), np.float32)
    local[..., 0, 0], local[..., 0, 1], local[..., 0, 2] = (
        1 - 2 * (y * y + z * z),
        2 * (x * y - z * w),
        2 * (x * z + y * w),
    )
    local[..., 1, 0], local[..., 1, 1], local[..., 1, 2] = (
        2 * (x * y + z * w),
        1 - 2 * (x * x + z * z),
        2 * (y * z - x * w),
    )
    local[..., 2, 0], local[..., 2, 1], local[..., 2, 2] = (
        2 * (x * z - y * w),
        2 * (y * z + x * w),
        1 - 2 * (x * x + y * y),
    )
    local[..., 3, 3] = 1
    local[:, :, :3, 3] = data["offsets"]
    local[:, 0, :3, 3] = data["local_positions"][0, :, :rows].T
    return local


def matrix_forward(local: np.ndarray, world: np.ndarray) -> None:
    """Reference: one NumPy matrix product a joint over all rows."""
    for j, parent in enumerate(PARENTS):
        if parent < 0:
            world[:, j] = local[:, j]
        else:
            np.matmul(world[:, parent], local[:, j], out=world[:, j])


def matrix_forward_singly(local: np.ndarray, world: np.ndarray) -> None:
    """Reference: one NumPy matrix product a joint and character, as an engine with an object per joint does."""
    for n in range(len(local)):
        for j, parent in enumerate(PARENTS):
            world[n, j] = local[n, j] if parent < 0 else world[n, parent] @ local[n, j]
