"""Forward kinematics over columns: local to world, world to local, velocities.

A joint's local position is its constant offset or, where ``slots[j] >= 0``, a position of its own per row:
``local_positions[slots[j]]``. So one kernel serves rigs with constant offsets (slots only at the roots), rigs
that translate some joints, and clips that translate all of them.
"""

import math

import numpy as np

from .jit import kernel
from .quat import quat_conj, quat_mul, quat_rotate
from .trig import arctan2

# Rows computed together. A block's slices are long enough for the hardware prefetcher (16 KiB each); below
# 1,024 rows a block the kernel falls to half its speed once the columns leave the cache (bench_fk.py).
BLOCK = 4096
_ONE = np.float32(1)
_TWO = np.float32(2)
_TINY = np.float32(1e-12)


@kernel
def forward(
    parents,
    offsets,
    slots,
    local_positions,
    local_rotations,
    origin_positions,
    origin_rotations,
    start,
    stop,
    world_positions_out,
    world_rotations_out,
):
    """Compose local joint transforms from the roots to the leaves.

    parents              (J,)       i4  1  parent index, -1 for a root; parents[j] < j
    offsets              (J, 3)     f4  m  local position of a joint without a slot
    slots                (J,)       i4  1  index into local_positions, or -1 to use the offset
    local_positions      (T, 3, N)  f4  m  positions in the parent's space
    local_rotations      (J, 4, N)  f4  1  unit quaternions x y z w in the parent's space
    origin_positions     (3, N)     f4  m  what the roots hang from: the row's place in the world
    origin_rotations     (4, N)     f4  1  its rotation
    start                ()         i8  1  first row
    stop                 ()         i8  1  one past the last row
    world_positions_out  (J, 3, N)  f4  m  world space
    world_rotations_out  (J, 4, N)  f4  1  world space, not renormalised
    """
    for s in range(start, stop, BLOCK):
        e = min(s + BLOCK, stop)
        n = e - s
        for j in range(parents.shape[0]):
            p = parents[j]
            if p < 0:
                px, py, pz = origin_positions[0, s:e], origin_positions[1, s:e], origin_positions[2, s:e]
                qx, qy = origin_rotations[0, s:e], origin_rotations[1, s:e]
                qz, qw = origin_rotations[2, s:e], origin_rotations[3, s:e]
            else:
                px = world_positions_out[p, 0, s:e]
                py = world_positions_out[p, 1, s:e]
                pz = world_positions_out[p, 2, s:e]
                qx, qy = world_rotations_out[p, 0, s:e], world_rotations_out[p, 1, s:e]
                qz, qw = world_rotations_out[p, 2, s:e], world_rotations_out[p, 3, s:e]
            lx, ly = local_rotations[j, 0, s:e], local_rotations[j, 1, s:e]
            lz, lw = local_rotations[j, 2, s:e], local_rotations[j, 3, s:e]
            ox = world_positions_out[j, 0, s:e]
            oy = world_positions_out[j, 1, s:e]
            oz = world_positions_out[j, 2, s:e]
            rx, ry = world_rotations_out[j, 0, s:e], world_rotations_out[j, 1, s:e]
            rz, rw = world_rotations_out[j, 2, s:e], world_rotations_out[j, 3, s:e]
            k = slots[j]
            if k >= 0:
                tx, ty, tz = (
                    local_positions[k, 0, s:e],
                    local_positions[k, 1, s:e],
                    local_positions[k, 2, s:e],
                )
                for i in range(n):
                    vx, vy, vz = quat_rotate(qx[i], qy[i], qz[i], qw[i], tx[i], ty[i], tz[i])
                    ox[i], oy[i], oz[i] = px[i] + vx, py[i] + vy, pz[i] + vz
                    rx[i], ry[i], rz[i], rw[i] = quat_mul(
                        qx[i], qy[i], qz[i], qw[i], lx[i], ly[i], lz[i], lw[i]
                    )
            else:
                ux, uy, uz = offsets[j, 0], offsets[j, 1], offsets[j, 2]
                for i in range(n):
                    vx, vy, vz = quat_rotate(qx[i], qy[i], qz[i], qw[i], ux, uy, uz)
                    ox[i], oy[i], oz[i] = px[i] + vx, py[i] + vy, pz[i] + vz
                    rx[i], ry[i], rz[i], rw[i] = quat_mul(
                        qx[i], qy[i], qz[i], qw[i], lx[i], ly[i], lz[i], lw[i]
                    )


@kernel
def to_local(
    parents,
    world_positions,
    world_rotations,
    origin_positions,
    origin_rotations,
    start,
    stop,
    local_positions_out,
    local_rotations_out,
):
    """Express world joint transforms in their parents' space: the inverse of ``forward``.

    parents              (J,)       i4  1  parent index, -1 for a root
    world_positions      (J, 3, N)  f4  m  world space
    world_rotations      (J, 4, N)  f4  1  unit quaternions x y z w
    origin_positions     (3, N)     f4  m  what the roots hang from: the row's place in the world
    origin_rotations     (4, N)     f4  1  its rotation
    start                ()         i8  1  first row
    stop                 ()         i8  1  one past the last row
    local_positions_out  (J, 3, N)  f4  m  in the parent's space, every joint
    local_rotations_out  (J, 4, N)  f4  1  in the parent's space
    """
    for s in range(start, stop, BLOCK):
        e = min(s + BLOCK, stop)
        n = e - s
        for j in range(parents.shape[0]):
            p = parents[j]
            if p < 0:
                px, py, pz = origin_positions[0, s:e], origin_positions[1, s:e], origin_positions[2, s:e]
                qx, qy = origin_rotations[0, s:e], origin_rotations[1, s:e]
                qz, qw = origin_rotations[2, s:e], origin_rotations[3, s:e]
            else:
                px, py, pz = (
                    world_positions[p, 0, s:e],
                    world_positions[p, 1, s:e],
                    world_positions[p, 2, s:e],
                )
                qx, qy = world_rotations[p, 0, s:e], world_rotations[p, 1, s:e]
                qz, qw = world_rotations[p, 2, s:e], world_rotations[p, 3, s:e]
            wx, wy, wz = world_positions[j, 0, s:e], world_positions[j, 1, s:e], world_positions[j, 2, s:e]
            ax, ay = world_rotations[j, 0, s:e], world_rotations[j, 1, s:e]
            az, aw = world_rotations[j, 2, s:e], world_rotations[j, 3, s:e]
            ox = local_positions_out[j, 0, s:e]
            oy = local_positions_out[j, 1, s:e]
            oz = local_positions_out[j, 2, s:e]
            rx, ry = local_rotations_out[j, 0, s:e], local_rotations_out[j, 1, s:e]
            rz, rw = local_rotations_out[j, 2, s:e], local_rotations_out[j, 3, s:e]
            for i in range(n):
                cx, cy, cz, cw = quat_conj(qx[i], qy[i], qz[i], qw[i])
                ox[i], oy[i], oz[i] = quat_rotate(cx, cy, cz, cw, wx[i] - px[i], wy[i] - py[i], wz[i] - pz[i])
                rx[i], ry[i], rz[i], rw[i] = quat_mul(cx, cy, cz, cw, ax[i], ay[i], az[i], aw[i])


@kernel
def rotation_rate(ax, ay, az, aw, bx, by, bz, bw, rate):
    """Return the rotation vector that turns b into a along the shorter arc, times a rate.

    The step ``a * conj(b)`` is applied on the left of b, so the vector lies in the outer space.
    """
    cx, cy, cz, cw = quat_conj(bx, by, bz, bw)
    x, y, z, w = quat_mul(ax, ay, az, aw, cx, cy, cz, cw)
    sine = np.float32(math.sqrt(x * x + y * y + z * z))
    # atan2 keeps the tiny angles that acos(w) loses.
    angle = _TWO * arctan2(sine, abs(w))
    scale = np.float32(math.copysign(angle / max(sine, _TINY), w)) * rate
    return x * scale, y * scale, z * scale


@kernel
def linear_velocity(positions, previous_positions, dt, start, stop, velocities_out):
    """Divide the way between two poses by the time between them.

    positions           (J, 3, N)  f4  m    now
    previous_positions  (J, 3, N)  f4  m    dt earlier
    dt                  ()         f8  s    time between the two, not zero
    start               ()         i8  1    first row
    stop                ()         i8  1    one past the last row
    velocities_out      (J, 3, N)  f4  m/s  mean linear velocity over dt
    """
    rate = _ONE / np.float32(dt)
    for j in range(positions.shape[0]):
        for c in range(3):
            now, before = positions[j, c, start:stop], previous_positions[j, c, start:stop]
            out = velocities_out[j, c, start:stop]
            for i in range(stop - start):
                out[i] = (now[i] - before[i]) * rate


@kernel
def angular_velocity(rotations, previous_rotations, dt, start, stop, velocities_out):
    """Turn the rotation between two poses into a rotation vector per second, along the shorter arc.

    rotations           (J, 4, N)  f4  1      unit quaternions x y z w, now
    previous_rotations  (J, 4, N)  f4  1      dt earlier
    dt                  ()         f8  s      time between the two, not zero
    start               ()         i8  1      first row
    stop                ()         i8  1      one past the last row
    velocities_out      (J, 3, N)  f4  rad/s  in the space of the rotations (world for world rotations)
    """
    rate = _ONE / np.float32(dt)
    for j in range(rotations.shape[0]):
        ax, ay = rotations[j, 0, start:stop], rotations[j, 1, start:stop]
        az, aw = rotations[j, 2, start:stop], rotations[j, 3, start:stop]
        bx, by = previous_rotations[j, 0, start:stop], previous_rotations[j, 1, start:stop]
        bz, bw = previous_rotations[j, 2, start:stop], previous_rotations[j, 3, start:stop]
        ox, oy, oz = (
            velocities_out[j, 0, start:stop],
            velocities_out[j, 1, start:stop],
            velocities_out[j, 2, start:stop],
        )
        for i in range(stop - start):
            ox[i], oy[i], oz[i] = rotation_rate(ax[i], ay[i], az[i], aw[i], bx[i], by[i], bz[i], bw[i], rate)


@kernel
def clip_linear_velocity(positions, framerate, start, stop, velocities_out):
    """Differentiate positions along the frames of one clip.

    positions       (J, 3, F)  f4  m    rows are frames
    framerate       ()         f8  Hz   frames per second
    start           ()         i8  1    first frame
    stop            ()         i8  1    one past the last frame
    velocities_out  (J, 3, F)  f4  m/s  central differences; one-sided at the first and last frame of the clip
    """
    last = positions.shape[2] - 1
    for f in range(start, stop):
        before, after = max(f - 1, 0), min(f + 1, last)
        rate = np.float32(framerate / max(after - before, 1))
        for j in range(positions.shape[0]):
            for c in range(3):
                velocities_out[j, c, f] = (positions[j, c, after] - positions[j, c, before]) * rate


@kernel
def clip_angular_velocity(rotations, framerate, start, stop, velocities_out):
    """Differentiate rotations along the frames of one clip, along the shorter arcs.

    rotations       (J, 4, F)  f4  1      unit quaternions x y z w; rows are frames
    framerate       ()         f8  Hz     frames per second
    start           ()         i8  1      first frame
    stop            ()         i8  1      one past the last frame
    velocities_out  (J, 3, F)  f4  rad/s  central differences; one-sided at the first and last frame of the clip
    """
    last = rotations.shape[2] - 1
    for f in range(start, stop):
        b, a = max(f - 1, 0), min(f + 1, last)
        rate = np.float32(framerate / max(a - b, 1))
        for j in range(rotations.shape[0]):
            q = rotations[j]
            velocities_out[j, 0, f], velocities_out[j, 1, f], velocities_out[j, 2, f] = rotation_rate(
                q[0, a], q[1, a], q[2, a], q[3, a], q[0, b], q[1, b], q[2, b], q[3, b], rate
            )
