"""Unit quaternions x y z w: scalar helpers that kernels inline into their row loops.

Scalars in, tuples out, float32 throughout, and free of branches, so loops over rows vectorise. The right
factor of a product acts first, as with matrices on column vectors. Every helper is defined for every
input of length up to 1e18; what happens where the mathematics leaves a choice (zero vectors, half turns)
stands in its docstring. ``quat_rows`` and ``quat_convert_rows`` hold the same operations over columns.
"""

import math

import numpy as np

from .jit import kernel
from .trig import acos_square, arctan2, sin_cos, sinc

_ZERO = np.float32(0)
_ONE = np.float32(1)
_TWO = np.float32(2)
_HALF = np.float32(0.5)
_FOUR = np.float32(4)
# Squared lengths below this count as zero: a float32 square loses its digits soon after.
_TINY_SQUARE = np.float32(1e-30)
# Squared sines of angles that are rounding noise of unit vectors: about 3e-7, squared.
_NOISE_SQUARE = np.float32(1e-13)
# Relative squared length at which what is left of a vector after a projection has no direction any more.
_LEFTOVER_SQUARE = np.float32(1e-12)
# Squared cosine of the pitch below which a forward axis has no heading: 1e-5 rad from vertical.
_VERTICAL_SQUARE = np.float32(1e-10)


@kernel
def _unit(x, y, z):
    """Return a vector at length 1 and whether it had one; a vector below 1e-15 comes back as zero."""
    square = x * x + y * y + z * z
    is_long = square >= _TINY_SQUARE
    scale = _ONE / math.sqrt(square if is_long else _ONE)
    scale = scale if is_long else _ZERO
    return x * scale, y * scale, z * scale, is_long


@kernel
def _cross(ax, ay, az, bx, by, bz):
    """Return the cross product a × b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def _perpendicular(x, y, z):
    """Return the unit vector across a unit vector that is nearest to +Y; +X where the vector is vertical."""
    level = x * x + z * z
    is_vertical = level < _NOISE_SQUARE
    scale = _ONE / math.sqrt((_ONE if is_vertical else level) * (level + y * y))
    return (
        _ONE if is_vertical else -x * y * scale,
        _ZERO if is_vertical else level * scale,
        _ZERO if is_vertical else -z * y * scale,
    )


@kernel
def quat_mul(ax, ay, az, aw, bx, by, bz, bw):
    """Return the Hamilton product a * b: the rotation b followed by a."""
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@kernel
def quat_conj(x, y, z, w):
    """Return the conjugate, which is the inverse of a unit quaternion."""
    return -x, -y, -z, w


@kernel
def quat_inv(x, y, z, w):
    """Return the inverse of a quaternion of any length; zero where its length is below 1e-15."""
    square = x * x + y * y + z * z + w * w
    is_long = square >= _TINY_SQUARE
    scale = _ONE / (square if is_long else _ONE)
    scale = scale if is_long else _ZERO
    return -x * scale, -y * scale, -z * scale, w * scale


@kernel
def quat_rotate(x, y, z, w, vx, vy, vz):
    """Return the vector v rotated by a unit quaternion: v + w t + q × t with t = 2 q × v."""
    tx = _TWO * (y * vz - z * vy)
    ty = _TWO * (z * vx - x * vz)
    tz = _TWO * (x * vy - y * vx)
    return (
        vx + w * tx + (y * tz - z * ty),
        vy + w * ty + (z * tx - x * tz),
        vz + w * tz + (x * ty - y * tx),
    )


@kernel
def quat_dot(ax, ay, az, aw, bx, by, bz, bw):
    """Return the inner product: the cosine of half the angle between two rotations, up to sign."""
    return ax * bx + ay * by + az * bz + aw * bw


@kernel
def quat_normalise(x, y, z, w):
    """Return the quaternion at length 1; the identity where its length is below 1e-15."""
    square = x * x + y * y + z * z + w * w
    is_long = square >= _TINY_SQUARE
    scale = _ONE / math.sqrt(square if is_long else _ONE)
    scale = scale if is_long else _ZERO
    return x * scale, y * scale, z * scale, w * scale if is_long else _ONE


@kernel
def quat_angle(ax, ay, az, aw, bx, by, bz, bw):
    """Return the angle between two rotations, 0 to pi, in rad.

    The form 4 atan2(|a - b|, |a + b|), sign chosen for the shorter arc, keeps the digits of tiny angles,
    which acos(a · b) loses: Kahan, How Futile are Mindless Assessments of Roundoff, 2006, section 12.
    """
    px, py, pz, pw = ax - bx, ay - by, az - bz, aw - bw
    qx, qy, qz, qw = ax + bx, ay + by, az + bz, aw + bw
    p = math.sqrt(px * px + py * py + pz * pz + pw * pw)
    q = math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
    return _FOUR * arctan2(min(p, q), max(p, q))


@kernel
def quat_from_axis_angle(x, y, z, angle):
    """Return the rotation by an angle in rad about an axis of any length; the identity about a zero axis."""
    ux, uy, uz, is_long = _unit(x, y, z)
    sine, cosine = sin_cos(_HALF * angle)
    return ux * sine, uy * sine, uz * sine, cosine if is_long else _ONE


@kernel
def quat_to_axis_angle(x, y, z, w):
    """Return the unit axis and the angle, 0 to pi, of a rotation; +Y and 0 where the angle is below 1e-15.

    A half turn has two axes; that of the quaternion as it is given is returned.
    """
    sign = -_ONE if w < _ZERO else _ONE
    ux, uy, uz, is_long = _unit(x * sign, y * sign, z * sign)
    angle = _TWO * arctan2(math.sqrt(x * x + y * y + z * z), abs(w))
    return ux, uy if is_long else _ONE, uz, angle if is_long else _ZERO


@kernel
def quat_exp(x, y, z):
    """Return the rotation by a rotation vector: its direction is the axis, its length the angle in rad."""
    square = x * x + y * y + z * z
    is_long = square >= _TINY_SQUARE
    angle = math.sqrt(square if is_long else _ONE)
    sine, cosine = sin_cos(_HALF * angle)
    scale = sine / angle if is_long else _HALF
    return x * scale, y * scale, z * scale, cosine if is_long else _ONE


@kernel
def quat_log(x, y, z, w):
    """Return the rotation vector of a rotation the short way: of length 0 to pi, in rad."""
    square = x * x + y * y + z * z
    is_long = square >= _TINY_SQUARE
    length = math.sqrt(square if is_long else _ONE)
    scale = _TWO * arctan2(length, abs(w)) / length if is_long else _TWO
    scale = -scale if w < _ZERO else scale
    return x * scale, y * scale, z * scale


@kernel
def quat_to_matrix(x, y, z, w):
    """Return the nine elements, row by row, of the matrix of a unit quaternion."""
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return (
        _ONE - (yy + zz),
        xy - wz,
        xz + wy,
        xy + wz,
        _ONE - (xx + zz),
        yz - wx,
        xz - wy,
        yz + wx,
        _ONE - (xx + yy),
    )


@kernel
def quat_from_matrix(m00, m01, m02, m10, m11, m12, m20, m21, m22):
    """Return the unit quaternion, w >= 0, of a rotation matrix given row by row.

    Of the four ways to divide, the one with the largest divisor is taken (Shepperd, Quaternion from
    Rotation Matrix, 1978) and its result normalised, so a matrix with rounding errors gives a nearby
    rotation.
    """
    tw = _ONE + m00 + m11 + m22
    tx = _ONE + m00 - m11 - m22
    ty = _ONE - m00 + m11 - m22
    tz = _ONE - m00 - m11 + m22
    use_w = (tw >= tx) & (tw >= ty) & (tw >= tz)
    use_x = (tx >= ty) & (tx >= tz)
    use_y = ty >= tz
    wx, wy, wz = m21 - m12, m02 - m20, m10 - m01
    xy, xz, yz = m10 + m01, m02 + m20, m21 + m12
    x = wx if use_w else (tx if use_x else (xy if use_y else xz))
    y = wy if use_w else (xy if use_x else (ty if use_y else yz))
    z = wz if use_w else (xz if use_x else (yz if use_y else tz))
    w = tw if use_w else (wx if use_x else (wy if use_y else wz))
    sign = -_ONE if w < _ZERO else _ONE
    return quat_normalise(x * sign, y * sign, z * sign, w * sign)


@kernel
def quat_to_6d(x, y, z, w):
    """Return the first two columns of the rotation matrix, six scalars.

    Zhou et al., On the Continuity of Rotation Representations in Neural Networks, 2019.
    """
    m00, m01, _, m10, m11, _, m20, m21, _ = quat_to_matrix(x, y, z, w)
    return m00, m10, m20, m01, m11, m21


@kernel
def quat_from_6d(ax, ay, az, bx, by, bz):
    """Return the unit quaternion, w >= 0, of a matrix from its first two columns of any length and angle.

    Gram and Schmidt's construction after Zhou et al., 2019. A first column of zero stands for +X; a second
    one that is zero or parallel to the first, to 1e-6, stands for the vector across the first nearest to +Y
    (+X under a vertical first column).
    """
    ux, uy, uz, is_long = _unit(ax, ay, az)
    ux = ux if is_long else _ONE
    vx, vy, vz, is_second = _unit(bx, by, bz)
    along = ux * vx + uy * vy + uz * vz
    vx, vy, vz = vx - along * ux, vy - along * uy, vz - along * uz
    is_across = is_second & (vx * vx + vy * vy + vz * vz > _LEFTOVER_SQUARE)
    fx, fy, fz = _perpendicular(ux, uy, uz)
    vx, vy, vz = vx if is_across else fx, vy if is_across else fy, vz if is_across else fz
    vx, vy, vz, _ = _unit(vx, vy, vz)
    # The little left of a nearly parallel vector is across to float32's precision only after a second pass.
    along = ux * vx + uy * vy + uz * vz
    vx, vy, vz, _ = _unit(vx - along * ux, vy - along * uy, vz - along * uz)
    wx, wy, wz = _cross(ux, uy, uz, vx, vy, vz)
    return quat_from_matrix(ux, vx, wx, uy, vy, wy, uz, vz, wz)


@kernel
def quat_from_to(ax, ay, az, bx, by, bz):
    """Return the smallest rotation that turns the direction a into the direction b; vectors of any length.

    Opposite directions, to 3e-7, are turned about the axis across a nearest to +Y (+X where a is vertical).
    A zero vector gives the identity.
    """
    ax, ay, az, is_a = _unit(ax, ay, az)
    bx, by, bz, is_b = _unit(bx, by, bz)
    px, py, pz = ax + bx, ay + by, az + bz
    dx, dy, dz = bx - ax, by - ay, bz - az
    cosine = _HALF * math.sqrt(px * px + py * py + pz * pz)
    sine = _HALF * math.sqrt(dx * dx + dy * dy + dz * dz)
    # a × (b ± a) is a × b, but the short one of the two sums is exact where a × b would cancel.
    is_obtuse = cosine < sine
    cx, cy, cz = _cross(ax, ay, az, px if is_obtuse else dx, py if is_obtuse else dy, pz if is_obtuse else dz)
    is_opposite = is_obtuse & (cx * cx + cy * cy + cz * cz < _NOISE_SQUARE)
    fx, fy, fz = _perpendicular(ax, ay, az)
    cx, cy, cz = fx if is_opposite else cx, fy if is_opposite else cy, fz if is_opposite else cz
    cx, cy, cz, _ = _unit(cx, cy, cz)
    return cx * sine, cy * sine, cz * sine, cosine if is_a & is_b else _ONE


@kernel
def quat_slerp(ax, ay, az, aw, bx, by, bz, bw, t):
    """Return the rotation at weight t, 0 <= t <= 1, on the shorter arc between two unit quaternions.

    Exactly a at 0 and exactly b, or -b where a · b < 0, at 1. The pair a, -a is one rotation and gives a;
    at 180 degrees apart (a · b = 0) the arc leads towards b as it is given. Error below 5e-7. Formula:
    Shoemake, Animating Rotation with Quaternion Curves, 1985, in functions of the squared angle, which are
    smooth where it is zero.
    """
    cosine = quat_dot(ax, ay, az, aw, bx, by, bz, bw)
    square = acos_square(_ONE - abs(cosine))
    s = _ONE - t
    whole = sinc(square)
    # Divided, not multiplied by a reciprocal: whole / whole is exactly 1 at the ends.
    p = s * sinc(s * s * square) / whole
    q = t * sinc(t * t * square) / whole
    q = -q if cosine < _ZERO else q
    return p * ax + q * bx, p * ay + q * by, p * az + q * bz, p * aw + q * bw


@kernel
def quat_nlerp(ax, ay, az, aw, bx, by, bz, bw, t):
    """Return the normalised blend at weight t, 0 <= t <= 1, on the shorter arc.

    The path is slerp's, the speed along it is not constant.
    """
    q = -t if quat_dot(ax, ay, az, aw, bx, by, bz, bw) < _ZERO else t
    p = _ONE - t
    return quat_normalise(p * ax + q * bx, p * ay + q * by, p * az + q * bz, p * aw + q * bw)


@kernel
def quat_swing_twist(x, y, z, w, ux, uy, uz):
    """Return swing and twist, eight scalars: rotation = swing * twist, the twist about the unit axis u.

    The swing, w >= 0, turns about an axis across u. A half turn across u has no twist of its own: there, to
    3e-7, the twist is the identity and the swing the whole rotation.
    """
    along = x * ux + y * uy + z * uz
    square = along * along + w * w
    is_defined = square >= _NOISE_SQUARE
    scale = _ONE / math.sqrt(square if is_defined else _ONE)
    scale = scale if is_defined else _ZERO
    sine = along * scale
    cosine = w * scale if is_defined else _ONE
    tx, ty, tz = ux * sine, uy * sine, uz * sine
    sx, sy, sz, sw = quat_mul(x, y, z, w, -tx, -ty, -tz, cosine)
    return sx, sy, sz, sw, tx, ty, tz, cosine


@kernel
def quat_look(fx, fy, fz, ux, uy, uz):
    """Return the rotation, w >= 0, that turns +Z to a forward vector, +Y as near as possible to up.

    Vectors of any length. A zero forward stands for +Z. An up that is zero or parallel to forward, to 1e-6,
    stands for +Y; if forward is vertical too, the left axis is +X, as after a pure pitch.
    """
    zx, zy, zz, is_long = _unit(fx, fy, fz)
    zz = zz if is_long else _ONE
    ux, uy, uz, _ = _unit(ux, uy, uz)
    x, y, z = _cross(ux, uy, uz, zx, zy, zz)
    is_across = x * x + y * y + z * z > _LEFTOVER_SQUARE
    is_vertical = zx * zx + zz * zz < _NOISE_SQUARE
    x = x if is_across else (_ONE if is_vertical else zz)
    y = y if is_across else _ZERO
    z = z if is_across else (_ZERO if is_vertical else -zx)
    x, y, z, _ = _unit(x, y, z)
    # As in quat_from_6d: across to float32's precision only after a second pass.
    along = x * zx + y * zy + z * zz
    x, y, z, _ = _unit(x - along * zx, y - along * zy, z - along * zz)
    yx, yy, yz = _cross(zx, zy, zz, x, y, z)
    return quat_from_matrix(x, yx, zx, y, yy, zy, z, yz, zz)


@kernel
def quat_yaw(x, y, z, w):
    """Return the heading, -pi to pi: the angle about +Y from +Z to the rotated +Z axis seen from above.

    Within 1e-5 rad of vertical that axis has no heading; there it is a quarter turn from the rotated +X
    (left) axis, which agrees with the heading before a pure pitch.
    """
    m00, _, m02, _, _, _, m20, _, m22 = quat_to_matrix(x, y, z, w)
    is_vertical = m02 * m02 + m22 * m22 < _VERTICAL_SQUARE
    return arctan2(-m20 if is_vertical else m02, m00 if is_vertical else m22)
