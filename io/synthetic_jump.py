"""Jumps: crouch, push off, fly, land and rise again, as curves over one jump's own time.

In flight the body follows the parabola of free fall exactly: a quintic through its ends with their speeds and
accelerations is that parabola.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .synthetic_gaits import GRAVITY
from .synthetic_math import Array, Curve, glide, smoothstep


@dataclass(frozen=True)
class JumpShape:
    """One jump of one character. Times in seconds from its begin.

    ``leaves`` and ``lands`` are those of the hind and of the fore feet; the biped has only the first.
    """

    period: float
    push: float
    leaves: tuple[float, ...]
    lands: tuple[float, ...]
    lift: float
    body: Curve
    foot_pitch: Curve
    waves: dict[str, Curve]

    def foot_lift(self, time: Array, pair: int) -> Array:
        """Return the height of a foot above its stand [m]."""
        s = self.flight_share(time, pair)
        return self.lift * (4.0 * s * (1.0 - s)) ** 2.5

    def foot_travel(self, time: Array, pair: int) -> Array:
        """Return the share of the jump's way that a foot has made."""
        return glide(self._flown(time, pair))

    def body_travel(self, time: Array) -> Array:
        """Return the share of the jump's way that the root has made."""
        return smoothstep((time - self.push) / (self.lands[0] + 0.2 - self.push))

    def stands(self, time: Array, pair: int) -> NDArray[np.bool_]:
        """Tell where a foot is on the ground."""
        return (time <= self.leaves[pair]) | (time >= self.lands[pair])

    def flight_share(self, time: Array, pair: int) -> Array:
        """Return how much of its flight a foot has done, 0..1; 0 again after it."""
        share = self._flown(time, pair)
        return np.where(share < 1.0, share, 0.0)

    def _flown(self, time: Array, pair: int) -> Array:
        leave, land = self.leaves[pair], self.lands[pair]
        return np.clip((time - leave) / (land - leave), 0.0, 1.0)


@cache
def jump_shape(character: str) -> JumpShape:
    """Return the jump of a character."""
    return _biped() if character == "biped" else _quadruped()


def _body(
    crouch: float,
    depth: float,
    push: float,
    height: float,
    rise: float,
    dip: float,
    absorb: float,
    end: float,
) -> tuple[Curve, float, float]:
    """Return the curve of the root's height, the take-off and the landing time."""
    leave = crouch + push
    land = leave + 2 * rise / GRAVITY
    curve = Curve(
        [0.0, crouch, leave, land, land + absorb, end],
        [0.0, -depth, height, height, -dip, 0.0],
        [0.0, 0.0, rise, -rise, 0.0, 0.0],
        [0.0, 4.0, -GRAVITY, -GRAVITY, 4.0, 0.0],
    )
    return curve, leave, land


def _biped() -> JumpShape:
    body, leave, land = _body(0.55, 0.25, 0.25, -0.02, 2.25, 0.2, 0.24, 2.0)
    return JumpShape(
        period=2.3,
        push=0.5,
        leaves=(leave,),
        lands=(land,),
        lift=0.26,
        body=body,
        foot_pitch=Curve(
            [0.55, leave + 0.06, land - 0.12, land + 0.14], [0.0, 0.85, 0.35, 0.0], [0, 0, -0.8, 0]
        ),
        waves={
            "hip_pitch": Curve([0, 0.5, leave, land, land + 0.24, 1.9], [0, 0.3, 0.0, 0.08, 0.25, 0]),
            "chest_pitch": Curve([0, 0.5, leave, land, land + 0.24, 1.9], [0, 0.55, -0.08, 0.12, 0.42, 0]),
            "head_pitch": Curve([0, 0.5, leave, land, 1.9], [0, 0.15, -0.1, 0.1, 0]),
            "arm": Curve([0, 0.48, leave + 0.05, land, land + 0.3, 1.9], [0, -0.95, 1.9, 0.9, 0.1, 0]),
            "elbow": Curve([0, 0.48, leave, land, 1.9], [0, 0.05, 0.5, 0.35, 0]),
            "spread": Curve([0, leave, land, 1.9], [0, 0.12, 0.3, 0]),
        },
    )


def _quadruped() -> JumpShape:
    body, leave, land = _body(0.45, 0.12, 0.2, -0.01, 1.75, 0.09, 0.2, 1.6)
    return JumpShape(
        period=2.0,
        push=0.4,
        leaves=(leave, leave - 0.1),
        lands=(land, land - 0.04),
        lift=0.17,
        body=body,
        foot_pitch=Curve([0.45, leave + 0.08, land - 0.05, land + 0.2], [0.0, 0.6, 0.15, 0.0]),
        waves={
            "hip_pitch": Curve([0, 0.42, leave, land, 1.5], [0, 0.0, -0.28, 0.1, 0]),
            "chest_pitch": Curve([0, 0.42, leave - 0.03, land, 1.5], [0, 0.06, -0.3, 0.14, 0]),
            "neck_pitch": Curve([0, 0.42, leave, land, 1.5], [0, 0.15, 0.1, -0.15, 0]),
            "tail_pitch": Curve([0, 0.42, leave, land, 1.5], [0, 0.1, -0.5, 0.3, 0]),
        },
    )
