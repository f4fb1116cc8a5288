"""Quaternion algebra over columns: the helpers of ``quat`` for M joints (or 1) and N rows.

What a helper defines for zero vectors, half turns and the like holds here too. Columns with one value a
joint are ``(M, N)``.
"""

from .jit import kernel
from .quat import (
    quat_angle,
    quat_conj,
    quat_dot,
    quat_inv,
    quat_mul,
    quat_nlerp,
    quat_normalise,
    quat_rotate,
    quat_slerp,
    quat_swing_twist,
    quat_yaw,
)


@kernel
def quat_mul_rows(a, b, start, stop, rotations_out):
    """Multiply quaternions: the rotation b followed by a.

    a              (M, 4, N)  f4  1  quaternions x y z w
    b              (M, 4, N)  f4  1  quaternions x y z w
    start          ()         i8  1  first row
    stop           ()         i8  1  one past the last row
    rotations_out  (M, 4, N)  f4  1  a * b
    """
    for m in range(a.shape[0]):
        ax, ay = a[m, 0, start:stop], a[m, 1, start:stop]
        az, aw = a[m, 2, start:stop], a[m, 3, start:stop]
        bx, by = b[m, 0, start:stop], b[m, 1, start:stop]
        bz, bw = b[m, 2, start:stop], b[m, 3, start:stop]
        ox, oy = rotations_out[m, 0, start:stop], rotations_out[m, 1, start:stop]
        oz, ow = rotations_out[m, 2, start:stop], rotations_out[m, 3, start:stop]
        for i in range(stop - start):
            ox[i], oy[i], oz[i], ow[i] = quat_mul(ax[i], ay[i], az[i], aw[i], bx[i], by[i], bz[i], bw[i])


@kernel
def quat_conj_rows(rotations, start, stop, rotations_out):
    """Conjugate quaternions: the inverse of unit ones.

    rotations      (M, 4, N)  f4  1  quaternions x y z w
    start          ()         i8  1  first row
    stop           ()         i8  1  one past the last row
    rotations_out  (M, 4, N)  f4  1  the conjugates
    """
    for m in range(rotations.shape[0]):
        qx, qy = rotations[m, 0, start:stop], rotations[m, 1, start:stop]
        qz, qw = rotations[m, 2, start:stop], rotations[m, 3, start:stop]
        ox, oy = rotations_out[m, 0, start:stop], rotations_out[m, 1, start:stop]
        oz, ow = rotations_out[m, 2, start:stop], rotations_out[m, 3, start:stop]
        for i in range(stop - start):
            ox[i], oy[i], oz[i], ow[i] = quat_conj(qx[i], qy[i], qz[i], qw[i])


@kernel
def quat_inv_rows(rotations, start, stop, rotations_out):
    """Invert quaternions of any length.

    rotations      (M, 4, N)  f4  1  quaternions x y z w
    start          ()         i8  1  first row
    stop           ()         i8  1  one past the last row
    rotations_out  (M, 4, N)  f4  1  the inverses; zero where the length is below 1e-15
    """
    for m in range(rotations.shape[0]):
        qx, qy = rotations[m, 0, start:stop], rotations[m, 1, start:stop]
        qz, qw = rotations[m, 2, start:stop], rotations[m, 3, start:stop]
        ox, oy = rotations_out[m, 0, start:stop], rotations_out[m, 1, start:stop]
        oz, ow = rotations_out[m, 2, start:stop], rotations_out[m, 3, start:stop]
        for i in range(stop - start):
            ox[i], oy[i], oz[i], ow[i] = quat_inv(qx[i], qy[i], qz[i], qw[i])


@kernel
def quat_normalise_rows(rotations, start, stop, rotations_out):
    """Bring quaternions to length 1.

    rotations      (M, 4, N)  f4  1  quaternions x y z w
    start          ()         i8  1  first row
    stop           ()         i8  1  one past the last row
    rotations_out  (M, 4, N)  f4  1  unit; the identity where the length is below 1e-15
    """
    for m in range(rotations.shape[0]):
        qx, qy = rotations[m, 0, start:stop], rotations[m, 1, start:stop]
        qz, qw = rotations[m, 2, start:stop], rotations[m, 3, start:stop]
        ox, oy = rotations_out[m, 0, start:stop], rotations_out[m, 1, start:stop]
        oz, ow = rotations_out[m, 2, start:stop], rotations_out[m, 3, start:stop]
        for i in range(stop - start):
            ox[i], oy[i], oz[i], ow[i] = quat_normalise(qx[i], qy[i], qz[i], qw[i])


@kernel
def quat_rotate_rows(rotations, vectors, start, stop, vectors_out):
    """Rotate vectors.

    rotations    (M, 4, N)  f4  1  unit quaternions x y z w
    vectors      (M, 3, N)  f4  m  any unit; the result has the same
    start        ()         i8  1  first row
    stop         ()         i8  1  one past the last row
    vectors_out  (M, 3, N)  f4  m  rotations applied to vectors
    """
    for m in range(rotations.shape[0]):
        qx, qy = rotations[m, 0, start:stop], rotations[m, 1, start:stop]
        qz, qw = rotations[m, 2, start:stop], rotations[m, 3, start:stop]
        vx, vy, vz = vectors[m, 0, start:stop], vectors[m, 1, start:stop], vectors[m, 2, start:stop]
        ox, oy, oz = (
            vectors_out[m, 0, start:stop],
            vectors_out[m, 1, start:stop],
            vectors_out[m, 2, start:stop],
        )
        for i in range(stop - start):
            ox[i], oy[i], oz[i] = quat_rotate(qx[i], qy[i], qz[i], qw[i], vx[i], vy[i], vz[i])


@kernel
def quat_dot_rows(a, b, start, stop, dots_out):
    """Take inner products of quaternions.

    a         (M, 4, N)  f4  1  quaternions x y z w
    b         (M, 4, N)  f4  1  quaternions x y z w
    start     ()         i8  1  first row
    stop      ()         i8  1  one past the last row
    dots_out  (M, N)     f4  1  cosines of half the angles between unit ones, up to sign
    """
    for m in range(a.shape[0]):
        ax, ay = a[m, 0, start:stop], a[m, 1, start:stop]
        az, aw = a[m, 2, start:stop], a[m, 3, start:stop]
        bx, by = b[m, 0, start:stop], b[m, 1, start:stop]
        bz, bw = b[m, 2, start:stop], b[m, 3, start:stop]
        dot = dots_out[m, start:stop]
        for i in range(stop - start):
            dot[i] = quat_dot(ax[i], ay[i], az[i], aw[i], bx[i], by[i], bz[i], bw[i])


@kernel
def quat_angle_rows(a, b, start, stop, angles_out):
    """Measure the angles between rotations.

    a           (M, 4, N)  f4  1    unit quaternions x y z w
    b           (M, 4, N)  f4  1    unit quaternions x y z w
    start       ()         i8  1    first row
    stop        ()         i8  1    one past the last row
    angles_out  (M, N)     f4  rad  0 to pi, accurate for tiny angles
    """
    for m in range(a.shape[0]):
        ax, ay = a[m, 0, start:stop], a[m, 1, start:stop]
        az, aw = a[m, 2, start:stop], a[m, 3, start:stop]
        bx, by = b[m, 0, start:stop], b[m, 1, start:stop]
        bz, bw = b[m, 2, start:stop], b[m, 3, start:stop]
        angle = angles_out[m, start:stop]
        for i in range(stop - start):
            angle[i] = quat_angle(ax[i], ay[i], az[i], aw[i], bx[i], by[i], bz[i], bw[i])


@kernel
def quat_slerp_rows(a, b, weights, start, stop, rotations_out):
    """Interpolate rotations along the shorter arcs at even speed.

    a              (M, 4, N)  f4  1  unit quaternions x y z w, at weight 0
    b              (M, 4, N)  f4  1  unit quaternions x y z w, at weight 1
    weights        (N,)       f4  1  0..1
    start          ()         i8  1  first row
    stop           ()         i8  1  one past the last row
    rotations_out  (M, 4, N)  f4  1  unit to 3e-7; where a · b < 0 the arc leads to -b
    """
    t = weights[start:stop]
    for m in range(a.shape[0]):
        ax, ay = a[m, 0, start:stop], a[m, 1, start:stop]
        az, aw = a[m, 2, start:stop], a[m, 3, start:stop]
        bx, by = b[m, 0, start:stop], b[m, 1, start:stop]
        bz, bw = b[m, 2, start:stop], b[m, 3, start:stop]
        ox, oy = rotations_out[m, 0, start:stop], rotations_out[m, 1, start:stop]
        oz, ow = rotations_out[m, 2, start:stop], rotations_out[m, 3, start:stop]
        for i in range(stop - start):
            ox[i], oy[i], oz[i], ow[i] = quat_slerp(
                ax[i], ay[i], az[i], aw[i], bx[i], by[i], bz[i], bw[i], t[i]
            )


@kernel
def quat_nlerp_rows(a, b, weights, start, stop, rotations_out):
    """Blend and normalise rotations along the shorter arcs.

    a              (M, 4, N)  f4  1  unit quaternions x y z w, at weight 0
    b              (M, 4, N)  f4  1  unit quaternions x y z w, at weight 1
    weights        (N,)       f4  1  0..1
    start          ()         i8  1  first row
    stop           ()         i8  1  one past the last row
    rotations_out  (M, 4, N)  f4  1  unit; where a · b < 0 the arc leads to -b
    """
    t = weights[start:stop]
    for m in range(a.shape[0]):
        ax, ay = a[m, 0, start:stop], a[m, 1, start:stop]
        az, aw = a[m, 2, start:stop], a[m, 3, start:stop]
        bx, by = b[m, 0, start:stop], b[m, 1, start:stop]
        bz, bw = b[m, 2, start:stop], b[m, 3, start:stop]
        ox, oy = rotations_out[m, 0, start:stop], rotations_out[m, 1, start:stop]
        oz, ow = rotations_out[m, 2, start:stop], rotations_out[m, 3, start:stop]
        for i in range(stop - start):
            ox[i], oy[i], oz[i], ow[i] = quat_nlerp(
                ax[i], ay[i], az[i], aw[i], bx[i], by[i], bz[i], bw[i], t[i]
            )


@kernel
def quat_swing_twist_rows(rotations, axes, start, stop, swings_out, twists_out):
    """Split rotations into swing * twist, the twist about an axis of each joint.

    rotations   (M, 4, N)  f4  1  unit quaternions x y z w
    axes        (M, 3)     f4  1  unit twist axes
    start       ()         i8  1  first row
    stop        ()         i8  1  one past the last row
    swings_out  (M, 4, N)  f4  1  about axes across the twist's, w >= 0
    twists_out  (M, 4, N)  f4  1  about the axes; the identity where undefined
    """
    for m in range(rotations.shape[0]):
        qx, qy = rotations[m, 0, start:stop], rotations[m, 1, start:stop]
        qz, qw = rotations[m, 2, start:stop], rotations[m, 3, start:stop]
        ux, uy, uz = axes[m, 0], axes[m, 1], axes[m, 2]
        sx, sy = swings_out[m, 0, start:stop], swings_out[m, 1, start:stop]
        sz, sw = swings_out[m, 2, start:stop], swings_out[m, 3, start:stop]
        tx, ty = twists_out[m, 0, start:stop], twists_out[m, 1, start:stop]
        tz, tw = twists_out[m, 2, start:stop], twists_out[m, 3, start:stop]
        for i in range(stop - start):
            sx[i], sy[i], sz[i], sw[i], tx[i], ty[i], tz[i], tw[i] = quat_swing_twist(
                qx[i], qy[i], qz[i], qw[i], ux, uy, uz
            )


@kernel
def quat_yaw_rows(rotations, start, stop, angles_out):
    """Measure headings: the angles about +Y from +Z to the rotated +Z axes.

    rotations   (M, 4, N)  f4  1    unit quaternions x y z w
    start       ()         i8  1    first row
    stop        ()         i8  1    one past the last row
    angles_out  (M, N)     f4  rad  -pi to pi; near vertical from the left axis, see ``quat_yaw``
    """
    for m in range(rotations.shape[0]):
        qx, qy = rotations[m, 0, start:stop], rotations[m, 1, start:stop]
        qz, qw = rotations[m, 2, start:stop], rotations[m, 3, start:stop]
        angle = angles_out[m, start:stop]
        for i in range(stop - start):
            angle[i] = quat_yaw(qx[i], qy[i], qz[i], qw[i])
