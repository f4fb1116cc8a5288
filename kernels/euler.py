"""Euler angles in any of the twelve axis sequences, intrinsic or extrinsic, to quaternions and back.

Axes are 0, 1, 2 for x, y, z. Intrinsic angles turn about the axes of the turned body: the first listed is
the outermost, so ZXY is the product Rz(a) * Rx(b) * Ry(c). Extrinsic angles turn about the fixed axes in
the order listed: Ry(c) * Rx(b) * Rz(a). Neighbouring axes must differ; the first and the last may be the
same.
"""

import math

import numpy as np

from .jit import kernel
from .quat import quat_mul
from .trig import arctan2, sin_cos

_ZERO = np.float32(0)
_ONE = np.float32(1)
_TWO = np.float32(2)
_HALF = np.float32(0.5)
_PI = np.float32(math.pi)
_TWO_PI = np.float32(2 * math.pi)
_HALF_PI = np.float32(math.pi / 2)
# Gimbal lock: the middle angle is within 1e-6 rad of where the outer axes coincide. What float32 holds of the
# difference of the outer angles there is noise.
_LOCK_SQUARE = np.float32(2.5e-13)


@kernel
def _pick(x, y, z, axis):
    """Return the component of a vector along a coordinate axis."""
    return x if axis == 0 else (y if axis == 1 else z)


@kernel
def _place(value, axis):
    """Return the vector of a length along a coordinate axis."""
    return value if axis == 0 else _ZERO, value if axis == 1 else _ZERO, value if axis == 2 else _ZERO


@kernel
def _wrap(angle):
    """Return an angle of magnitude up to 2 pi in -pi to pi."""
    angle = angle - _TWO_PI if angle > _PI else angle
    return angle + _TWO_PI if angle < -_PI else angle


@kernel
def euler_to_quat(a, b, c, i, j, k, intrinsic):
    """Return the quaternion of the angles a, b, c in rad about the axes i, j, k."""
    first_sine, first_cosine = sin_cos(_HALF * a)
    sine, cosine = sin_cos(_HALF * b)
    last_sine, last_cosine = sin_cos(_HALF * c)
    px, py, pz = _place(first_sine if intrinsic else last_sine, i if intrinsic else k)
    qx, qy, qz = _place(sine, j)
    rx, ry, rz = _place(last_sine if intrinsic else first_sine, k if intrinsic else i)
    pw = first_cosine if intrinsic else last_cosine
    rw = last_cosine if intrinsic else first_cosine
    x, y, z, w = quat_mul(px, py, pz, pw, qx, qy, qz, cosine)
    return quat_mul(x, y, z, w, rx, ry, rz, rw)


@kernel
def quat_to_euler(x, y, z, w, i, j, k, intrinsic):
    """Return the angles in rad about the axes i, j, k of a rotation by a quaternion of any length but zero.

    First and last angle lie in -pi to pi, the middle one in -pi/2 to pi/2, or in 0 to pi where the first and
    the last axis are the same. In gimbal lock, to 1e-6 rad, the last angle is 0. Bernardes and Viollet,
    Quaternion to Euler angles conversion: A direct, general and computationally efficient method, 2022, with
    the middle angle from atan2, which unlike their acos keeps its digits at both ends.
    """
    # The method is stated for extrinsic angles; intrinsic ones are the same angles in reverse order.
    first = k if intrinsic else i
    last = i if intrinsic else k
    is_proper = first == last
    third = 3 - first - j if is_proper else last
    is_odd = (first - j) * (j - third) * (third - first) < 0
    p = _pick(x, y, z, first)
    q = _pick(x, y, z, j)
    r = _pick(x, y, z, third)
    r = -r if is_odd else r
    a = w if is_proper else w - q
    b = p if is_proper else p + r
    c = q if is_proper else q + w
    d = r if is_proper else r - p
    low = c * c + d * d
    high = a * a + b * b
    middle = _TWO * arctan2(math.sqrt(low), math.sqrt(high))
    half_sum = arctan2(b, a)
    half_difference = arctan2(d, c)
    # In lock one of the two is free; this choice makes the angle of the last axis listed exactly zero.
    limit = _LOCK_SQUARE * (low + high)
    sum_free = half_difference if intrinsic else -half_difference
    difference_free = half_sum if intrinsic else -half_sum
    half_sum = sum_free if high < limit else half_sum
    half_difference = difference_free if low < limit else half_difference
    outer = half_sum - half_difference
    inner = half_sum + half_difference
    inner = -inner if is_odd and not is_proper else inner
    middle = middle if is_proper else middle - _HALF_PI
    outer, inner = _wrap(outer), _wrap(inner)
    return inner if intrinsic else outer, middle, outer if intrinsic else inner


@kernel
def euler_to_quat_rows(angles, axes, intrinsic, start, stop, rotations_out):
    """Turn Euler angles into unit quaternions.

    angles         (M, 3, N)  f4  rad  in the order of the axes
    axes           (3,)       i4  1    0 x, 1 y, 2 z; neighbours differ
    intrinsic      ()         i8  1    1 first axis outermost, 0 fixed axes
    start          ()         i8  1    first row
    stop           ()         i8  1    one past the last row
    rotations_out  (M, 4, N)  f4  1    unit quaternions x y z w
    """
    i, j, k = axes[0], axes[1], axes[2]
    for m in range(angles.shape[0]):
        a, b, c = angles[m, 0, start:stop], angles[m, 1, start:stop], angles[m, 2, start:stop]
        x, y = rotations_out[m, 0, start:stop], rotations_out[m, 1, start:stop]
        z, w = rotations_out[m, 2, start:stop], rotations_out[m, 3, start:stop]
        for n in range(stop - start):
            x[n], y[n], z[n], w[n] = euler_to_quat(a[n], b[n], c[n], i, j, k, intrinsic)


@kernel
def quat_to_euler_rows(rotations, axes, intrinsic, start, stop, angles_out):
    """Turn quaternions into Euler angles; ranges and gimbal lock as in ``quat_to_euler``.

    rotations   (M, 4, N)  f4  1    quaternions x y z w
    axes        (3,)       i4  1    0 x, 1 y, 2 z; neighbours differ
    intrinsic   ()         i8  1    1 first axis outermost, 0 fixed axes
    start       ()         i8  1    first row
    stop        ()         i8  1    one past the last row
    angles_out  (M, 3, N)  f4  rad  in the order of the axes
    """
    i, j, k = axes[0], axes[1], axes[2]
    for m in range(rotations.shape[0]):
        x, y = rotations[m, 0, start:stop], rotations[m, 1, start:stop]
        z, w = rotations[m, 2, start:stop], rotations[m, 3, start:stop]
        a, b, c = angles_out[m, 0, start:stop], angles_out[m, 1, start:stop], angles_out[m, 2, start:stop]
        for n in range(stop - start):
            a[n], b[n], c[n] = quat_to_euler(x[n], y[n], z[n], w[n], i, j, k, intrinsic)
