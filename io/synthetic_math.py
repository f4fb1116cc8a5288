"""Smooth curves and quaternions in float64 for the motion generator; the last axis is time.

Quaternions are ``(4, F)`` arrays x y z w, vectors ``(3, F)``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def smoothstep(s: ArrayLike) -> Array:
    """Return the quintic step: 0 below 0, 1 above 1, first and second derivatives zero at both ends."""
    x = np.clip(s, 0.0, 1.0)
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))


def smoothstep_slope(s: ArrayLike) -> Array:
    """Return the derivative of ``smoothstep``; its peak is 1.875."""
    x = np.clip(s, 0.0, 1.0)
    return 30.0 * (x * (1.0 - x)) ** 2


def glide(s: Array, ramp: Array | float = 0.3) -> Array:
    """Return a step from 0 to 1 with an even middle, as a swinging foot moves.

    The speed rises over ``ramp``, stays and falls again; it and the acceleration are continuous, and its peak is
    1 / (1 - ramp) of the mean where that of ``smoothstep`` is 1.875.
    """
    x = np.clip(s, 0.0, 1.0)
    near = np.minimum(x, 1.0 - x)
    rise = np.minimum(near / ramp, 1.0)
    # The integral of the cubic step 3 r^2 - 2 r^3 from 0 to r is r^3 - r^4 / 2.
    travelled = ramp * rise * rise * rise * (1.0 - 0.5 * rise) + np.maximum(near - ramp, 0.0)
    share = travelled / (1.0 - ramp)
    return np.where(x > 0.5, 1.0 - share, share)


def arch(s: Array) -> Array:
    """Return a bump on 0..1 with peak 1 in the middle; first and second derivatives vanish at both ends."""
    x = np.clip(s, 0.0, 1.0)
    return 64.0 * (x * (1.0 - x)) ** 3


def early_arch(s: Array) -> Array:
    """Return a bump like ``arch`` with its peak 1 at three eighths."""
    x = np.clip(s, 0.0, 1.0)
    y = 1.0 - x
    return x**3 * y**5 * (8.0**8 / (3.0**3 * 5.0**5))


def plateau(s: Array, ramp: float) -> Array:
    """Return a smooth 1 on 0..1 that rises from 0 and falls to 0 over ``ramp`` at the ends."""
    return smoothstep(np.minimum(s, 1.0 - s) / ramp)


class Curve:
    """A curve through knots with given slopes and curvatures: quintic pieces, constant outside.

    Args:
        times: (K,) ascending [s].
        values: (K,) at the knots.
        slopes: (K,) first derivatives; zero by default, and meant to be zero at the ends.
        curvatures: (K,) second derivatives; likewise.
    """

    def __init__(
        self,
        times: Sequence[float],
        values: Sequence[float],
        slopes: Sequence[float] | None = None,
        curvatures: Sequence[float] | None = None,
    ) -> None:
        self.times = np.asarray(times, np.float64)
        p = np.asarray(values, np.float64)
        v = np.zeros_like(p) if slopes is None else np.asarray(slopes, np.float64)
        a = np.zeros_like(p) if curvatures is None else np.asarray(curvatures, np.float64)
        h = np.diff(self.times)
        v0, v1, a0, a1 = v[:-1] * h, v[1:] * h, a[:-1] * h * h, a[1:] * h * h
        rest = p[1:] - p[:-1] - v0 - 0.5 * a0
        slope = v1 - v0 - a0
        bend = a1 - a0
        self._spans = h
        self._coefficients = np.stack(
            [
                p[:-1],
                v0,
                0.5 * a0,
                10.0 * rest - 4.0 * slope + 0.5 * bend,
                -15.0 * rest + 7.0 * slope - bend,
                6.0 * rest - 3.0 * slope + 0.5 * bend,
            ]
        )

    def __call__(self, time: Array) -> Array:
        """Return the values at times of any shape."""
        inside = np.clip(time, self.times[0], self.times[-1])
        piece = np.clip(np.searchsorted(self.times, inside, "right") - 1, 0, len(self._spans) - 1)
        x = (inside - self.times[piece]) / self._spans[piece]
        c = self._coefficients[:, piece]
        return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * (c[4] + x * c[5]))))


class Cover:
    """A smooth function of time that is nowhere less than samples of a rough one.

    The running maximum of the samples, averaged three times and taken as the control points of a uniform cubic
    spline: every value is a weighted mean of maxima over windows that hold its time. Twice differentiable.

    Args:
        begin: Time of the first sample [s].
        step: Time between samples [s].
        samples: (K,) the rough function.
    """

    _BOX = 2  # samples to either side of each average
    _SPLINE = 2  # control points to either side that the spline reaches

    def __init__(self, begin: float, step: float, samples: Array) -> None:
        self._begin, self._step = begin, step
        reach = 3 * self._BOX + self._SPLINE + 1
        points = np.lib.stride_tricks.sliding_window_view(np.pad(samples, reach, "edge"), 2 * reach + 1).max(
            axis=1
        )
        for _ in range(3):
            padded = np.pad(points, self._BOX, "edge")
            points = np.mean([padded[k : k + len(points)] for k in range(2 * self._BOX + 1)], axis=0)
        self._points = points

    def __call__(self, time: Array) -> Array:
        """Return the values at times within the samples, but for one step at either end."""
        place = (time - self._begin) / self._step
        i = np.clip(place.astype(np.intp), 1, len(self._points) - 3)
        x = place - i
        y = 1.0 - x
        p = self._points
        before, now, after, later = p[i - 1], p[i], p[i + 1], p[i + 2]
        weight = 4.0 + 3.0 * (x * x * x - 2.0 * x * x)
        return (y**3 * before + weight * now + (6.0 - y**3 - weight - x**3) * after + x**3 * later) / 6.0


def turned(side: Array | float, forward: Array | float, heading: Array | float) -> tuple[Array, Array]:
    """Return x and z of a vector to the left and forward of a heading [rad]."""
    sine, cosine = np.sin(heading), np.cos(heading)
    return side * cosine + forward * sine, forward * cosine - side * sine


def about_x(angle: Array) -> Array:
    """Return rotations about +X by angles [rad]."""
    q = np.zeros((4, *np.shape(angle)))
    q[0], q[3] = np.sin(0.5 * angle), np.cos(0.5 * angle)
    return q


def about_y(angle: Array) -> Array:
    """Return rotations about +Y by angles [rad]."""
    q = np.zeros((4, *np.shape(angle)))
    q[1], q[3] = np.sin(0.5 * angle), np.cos(0.5 * angle)
    return q


def about_z(angle: Array) -> Array:
    """Return rotations about +Z by angles [rad]."""
    q = np.zeros((4, *np.shape(angle)))
    q[2], q[3] = np.sin(0.5 * angle), np.cos(0.5 * angle)
    return q


def multiply(p: Array, q: Array) -> Array:
    """Return ``p * q``: q first, then p."""
    out = np.empty_like(p)
    out[0] = p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1]
    out[1] = p[3] * q[1] + p[1] * q[3] + p[2] * q[0] - p[0] * q[2]
    out[2] = p[3] * q[2] + p[2] * q[3] + p[0] * q[1] - p[1] * q[0]
    out[3] = p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2]
    return out


def inverse_multiply(p: Array, q: Array) -> Array:
    """Return ``inverse(p) * q``: the rotation q seen from p."""
    out = np.empty_like(p)
    out[0] = p[3] * q[0] - p[0] * q[3] - p[1] * q[2] + p[2] * q[1]
    out[1] = p[3] * q[1] - p[1] * q[3] - p[2] * q[0] + p[0] * q[2]
    out[2] = p[3] * q[2] - p[2] * q[3] - p[0] * q[1] + p[1] * q[0]
    out[3] = p[3] * q[3] + p[0] * q[0] + p[1] * q[1] + p[2] * q[2]
    return out


def rotate(q: Array, vector: Sequence[float] | Array) -> Array:
    """Return a vector, constant or one per frame, turned by rotations."""
    x, y, z = vector
    tx, ty, tz = 2 * (q[1] * z - q[2] * y), 2 * (q[2] * x - q[0] * z), 2 * (q[0] * y - q[1] * x)
    out = np.empty((3, q.shape[1]))
    out[0] = x + q[3] * tx + q[1] * tz - q[2] * ty
    out[1] = y + q[3] * ty + q[2] * tx - q[0] * tz
    out[2] = z + q[3] * tz + q[0] * ty - q[1] * tx
    return out


def part_of(q: Array, share: float) -> Array:
    """Return the rotations by a share of their angle: ``share = 1 / n`` taken n times gives q.

    The quaternion must lie on the near side (w > 0), as the small turns between neighbouring joints do.
    """
    sine = np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    half = np.arctan2(sine, q[3])
    scale = np.where(sine > 1e-9, np.sin(share * half) / np.maximum(sine, 1e-9), share)
    out = np.empty_like(q)
    out[:3] = q[:3] * scale
    out[3] = np.cos(share * half)
    return out


def euler(yaw: Array, pitch: Array, roll: Array) -> Array:
    """Return ``Ry(yaw) Rx(pitch) Rz(roll)`` [rad]: heading, then nodding, then leaning to a side."""
    return multiply(multiply(about_y(yaw), about_x(pitch)), about_z(roll))
