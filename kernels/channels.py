"""Animation channels (degrees, lengths, one column each) to local poses, and angles back to channels."""

import math

import numpy as np

from .jit import kernel
from .trig import sin_cos

_ZERO = np.float32(0)
_TURN = np.float32(360)
_TWO_TURNS = np.float32(720)
_PER_TWO_TURNS = np.float32(1 / 720)
_HALF_RADIANS = np.float32(math.pi / 360)
_DEGREES = np.float32(180 / math.pi)
_HALF_TURN = np.float32(180)
_PER_TURN = np.float32(1 / 360)
# Adding 1.5 * 2^23 leaves no fraction bits in float32: the sum minus the same is the nearest integer.
_ROUND = np.float32(12582912)
# Four turns: float32 still resolves 1e-6 rad there.
_MOST_DEGREES = np.float32(1440)


@kernel
def half_sin_cos(degrees):
    """Return the sine and cosine of half an angle in degrees.

    Whole double turns are taken off first, which is exact up to 1e9 degrees. Beyond, where neighbouring float32
    lie more than a turn apart, the result is that of some angle.
    """
    rest = degrees - _TWO_TURNS * ((degrees * _PER_TWO_TURNS + _ROUND) - _ROUND)
    rest = _TURN if rest > _TURN else rest
    rest = -_TURN if rest < -_TURN else rest
    return sin_cos(rest * _HALF_RADIANS)


@kernel
def pose_from_channels(
    values,
    first,
    axes,
    angle_channels,
    position_channels,
    position_bases,
    scale,
    start,
    stop,
    rotations_out,
    positions_out,
):
    """Turn channels into local rotations and positions.

    values             (C, R)     f4  *    deg or length; row 0 is row ``first`` of the outputs
    first              ()         i8  1    row of the outputs that row 0 of the values belongs to
    axes               (J, 3)     i4  1    0 x, 1 y, 2 z, all different: the first one is the outermost rotation
    angle_channels     (J, 3)     i4  1    channels of the angles about these axes
    position_channels  (P, 3)     i4  1    channels of x, y, z
    position_bases     (P, 3)     f4  m    what scale times the channel is added to
    scale              ()         f8  1    metres of a unit of length
    start              ()         i8  1    first row
    stop               ()         i8  1    one past the last row
    rotations_out      (J, 4, N)  f4  1    unit quaternions x y z w; NaN where an angle is
    positions_out      (P, 3, N)  f4  m    positions
    """
    begin, end = start - first, stop - first
    unit = np.float32(scale)
    for j in range(axes.shape[0]):
        i, k, m = axes[j, 0], axes[j, 1], axes[j, 2]
        a = values[angle_channels[j, 0], begin:end]
        b = values[angle_channels[j, 1], begin:end]
        c = values[angle_channels[j, 2], begin:end]
        p, q = rotations_out[j, i, start:stop], rotations_out[j, k, start:stop]
        r, w = rotations_out[j, m, start:stop], rotations_out[j, 3, start:stop]
        # The product of three quaternions about the axes; turning the cyclic order around turns the last term.
        is_cyclic = (i + 1) % 3 == k
        for n in range(stop - start):
            sa, ca = half_sin_cos(a[n])
            sb, cb = half_sin_cos(b[n])
            sc, cc = half_sin_cos(c[n])
            sc_or_minus = sc if is_cyclic else -sc
            sb_or_minus = sb if is_cyclic else -sb
            p[n] = sa * cb * cc + ca * sb * sc_or_minus
            q[n] = ca * sb * cc - sa * cb * sc_or_minus
            r[n] = ca * cb * sc + sa * sb_or_minus * cc
            w[n] = ca * cb * cc - sa * sb_or_minus * sc
    for j in range(position_channels.shape[0]):
        for axis in range(3):
            base = position_bases[j, axis]
            v = values[position_channels[j, axis], begin:end]
            o = positions_out[j, axis, start:stop]
            for n in range(stop - start):
                o[n] = base + unit * v[n]


@kernel
def degrees_unwrapped(angles, previous, start, stop, degrees_out):
    """Turn angles into degrees that follow on from row to row without jumps of whole turns.

    angles       (M, 3, N)  f4  rad  from -pi to pi
    previous     (M, 3)     f4  deg  the row before ``start``; zeros where there is none
    start        ()         i8  1    first row
    stop         ()         i8  1    one past the last row
    degrees_out  (M, 3, N)  f4  deg  within 180 of the row before

    Beyond four turns the count starts again at zero, since float32 would lose digits.
    """
    for m in range(angles.shape[0]):
        for c in range(3):
            a, o = angles[m, c, start:stop], degrees_out[m, c, start:stop]
            before = previous[m, c]
            for n in range(stop - start):
                degrees = a[n] * _DEGREES
                turns = ((before - degrees) * _PER_TURN + _ROUND) - _ROUND
                unwrapped = degrees + turns * _TURN
                before = unwrapped if abs(unwrapped) <= _MOST_DEGREES else degrees
                o[n] = before
