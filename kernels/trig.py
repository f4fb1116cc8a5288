"""Sine, cosine and arc functions as float32 polynomials that row loops vectorise.

The C library's functions are calls, which keep a loop from being vectorised, and their last bits differ
between platforms; these are plain arithmetic. Every polynomial has the least maximal relative error for its
degree, fitted in float64 by iteratively reweighted least squares (Lawson's method) and rounded to float32.
"""

import math

import numpy as np

from .jit import kernel

_ZERO = np.float32(0)
_ONE = np.float32(1)
_HALF = np.float32(0.5)
_PI = np.float32(math.pi)
_HALF_PI = np.float32(math.pi / 2)
_TWO_OVER_PI = np.float32(2 / math.pi)
_INT_ZERO = np.int32(0)
_INT_ONE = np.int32(1)
_INT_TWO = np.int32(2)

# Adding 1.5 * 2^23 leaves no fraction bits in float32: the sum minus the same is the nearest integer.
_ROUND = np.float32(12582912)
# pi / 2 in three parts of 8, 10 and 24 bits: a whole number below 2^14 times one of the first two is exact.
_PART_HIGH = np.float32(1.5703125)
_PART_MID = np.float32(1014 / 2**21)
_PART_LOW = np.float32(3.1391647326017846e-07)

# (r - sin r) / r^3 and (cos r - 1 + r^2 / 2) / r^4 as polynomials of r^2 for |r| <= pi / 4.
_SIN0 = np.float32(0.166666641831398)
_SIN1 = np.float32(-0.008332744240760803)
_SIN2 = np.float32(0.0001958710781764239)
_COS0 = np.float32(0.0416666641831398)
_COS1 = np.float32(-0.0013888300163671374)
_COS2 = np.float32(2.4547354769310914e-05)

# (r - atan r) / r^3 as a polynomial of r^2 for |r| <= 1.
_ATAN0 = np.float32(0.3333333134651184)
_ATAN1 = np.float32(-0.19999755918979645)
_ATAN2 = np.float32(0.1427890807390213)
_ATAN3 = np.float32(-0.11036393791437149)
_ATAN4 = np.float32(0.08666948974132538)
_ATAN5 = np.float32(-0.06271199882030487)
_ATAN6 = np.float32(0.03611573204398155)
_ATAN7 = np.float32(-0.01365581527352333)
_ATAN8 = np.float32(0.002423536265268922)

# acos(1 - u)^2 / u for 0 <= u <= 1, relative error 6e-9.
_ACOS0 = np.float32(2.0)
_ACOS1 = np.float32(0.33333149552345276)
_ACOS2 = np.float32(0.08893589675426483)
_ACOS3 = np.float32(0.02811311185359955)
_ACOS4 = np.float32(0.01236905436962843)
_ACOS5 = np.float32(-0.002019928302615881)
_ACOS6 = np.float32(0.010359350591897964)
_ACOS7 = np.float32(-0.006616989150643349)
_ACOS8 = np.float32(0.002929088892415166)

# sin(r) / r as a polynomial of r^2 for |r| <= pi / 2, relative error 5e-9.
_SINC0 = np.float32(1.0)
_SINC1 = np.float32(-0.16666656732559204)
_SINC2 = np.float32(0.008333024568855762)
_SINC3 = np.float32(-0.00019807346689049155)
_SINC4 = np.float32(2.6017414711532183e-06)


@kernel
def sin_cos(angle):
    """Return the sine and cosine of an angle of magnitude up to 25,000, to 1.2e-7.

    The angle is reduced to |r| <= pi / 4 by subtracting a multiple of pi / 2 held in three parts (Cody and
    Waite, Software Manual for the Elementary Functions, 1980).
    """
    count = (angle * _TWO_OVER_PI + _ROUND) - _ROUND
    r = ((angle - count * _PART_HIGH) - count * _PART_MID) - count * _PART_LOW
    square = r * r
    sine = r - r * square * ((_SIN2 * square + _SIN1) * square + _SIN0)
    cosine = _ONE - _HALF * square + square * square * ((_COS2 * square + _COS1) * square + _COS0)
    quadrant = np.int32(count)
    is_odd = (quadrant & _INT_ONE) != _INT_ZERO
    s = cosine if is_odd else sine
    c = sine if is_odd else cosine
    s = -s if (quadrant & _INT_TWO) != _INT_ZERO else s
    c = -c if ((quadrant + _INT_ONE) & _INT_TWO) != _INT_ZERO else c
    return s, c


@kernel
def arctan2(y, x):
    """Return the angle of the point (x, y), -pi to pi, to 3e-7 or 2e-7 of a small one; 0 at 0, 0."""
    p, q = abs(x), abs(y)
    is_steep = q > p
    low = p if is_steep else q
    high = q if is_steep else p
    r = low / (_ONE if high == _ZERO else high)
    s = r * r
    tail = ((((_ATAN8 * s + _ATAN7) * s + _ATAN6) * s + _ATAN5) * s + _ATAN4) * s + _ATAN3
    angle = r - r * s * (((tail * s + _ATAN2) * s + _ATAN1) * s + _ATAN0)
    angle = _HALF_PI - angle if is_steep else angle
    angle = _PI - angle if x < _ZERO else angle
    return -angle if y < _ZERO else angle


@kernel
def acos_square(u):
    """Return acos(1 - u)² for 0 <= u <= 1: smooth at 0, where acos is not."""
    high = ((((_ACOS8 * u + _ACOS7) * u + _ACOS6) * u + _ACOS5) * u + _ACOS4) * u + _ACOS3
    return (((high * u + _ACOS2) * u + _ACOS1) * u + _ACOS0) * u


@kernel
def sinc(square):
    """Return sin(r) / r from square = r², |r| <= pi / 2."""
    return (((_SINC4 * square + _SINC3) * square + _SINC2) * square + _SINC1) * square + _SINC0
