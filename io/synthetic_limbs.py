"""Feet and legs: the path of a foot over its cycle, and the limb that follows it.

A foot turns about a fixed point while it is on the ground: about the heel from the landing to the flat foot, about
the ball (of a dog: the paw) from there to the lift. The point itself stays at its footfall. The limb is solved in
closed form in the plane through hip, ankle and the direction the knee points to, so that its middle joint is a pure
hinge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .synthetic_gaits import NUMBERS
from .synthetic_math import (
    Array,
    about_x,
    about_y,
    about_z,
    arch,
    early_arch,
    glide,
    inverse_multiply,
    multiply,
    plateau,
    smoothstep,
)
from .synthetic_plan import Footfalls, Timeline
from .synthetic_rigs import Leg, reach

# Shares of the straight limb, which is a singular pose. The root stays low enough for a standing foot to be within
# the first. A foot in the air that would be farther than the second, soon after the lift than the third, is drawn in:
# the limb never passes the fourth.
_REACH, _LONG, _AIR_LONG, _FULL = 0.98, 0.983, 0.93, 0.995
# Shares of the hip's height that a foot in the air should, and must, stay below the hip.
_BELOW, _CLOSEST = 0.42, 0.3
_TOE_OUT = 0.09


@dataclass(frozen=True)
class Foot:
    """The path of one foot at n times."""

    ankle: Array
    """(3, n) [m] where the limb must end."""
    yaw: Array
    pitch: Array
    bend: Array
    """(n,) rad, heading, heel up, and toes up against the foot."""
    flight: Array
    """(n,) 0 on the ground, 0..1 over a swing or a flight."""
    contact: NDArray[np.bool_]
    """(n,) whether the contact joint stands still on the ground."""


def foot_path(
    timeline: Timeline, falls: Footfalls, time: Array, numbers: Array, own_pitch: Array | None
) -> Foot:
    """Return the path of a foot.

    Args:
        timeline: The plan.
        falls: Footfalls of the leg.
        time: (n,) [s].
        numbers: (len(NUMBERS), n) blended numbers of the gait.
        own_pitch: (n,) pitch of a paw [rad]; None for a foot that rolls over heel and ball.
    """
    leg = falls.leg
    number: dict[str, Array] = dict(zip(NUMBERS, numbers, strict=True))
    phase = falls.phase(time)
    cycle = np.floor(phase).astype(np.intp)
    part, now = phase - cycle, cycle - falls.cycle
    duty = number["duty"] = falls.duties[now]
    swing = np.clip((part - duty) / (1.0 - duty), 0.0, 1.0)
    # Where swings are long, a late start would leave the foot far behind the body.
    share = glide(swing, np.clip(0.5 * duty, 0.09, 0.35))
    place = falls.places[:, now] + (falls.places[:, now + 1] - falls.places[:, now]) * share
    yaw = falls.yaws[now] + (falls.yaws[now + 1] - falls.yaws[now]) * share + _TOE_OUT * leg.side * leg.bend
    lift = number["clearance"] * arch(swing) + number["kick"] * early_arch(swing)
    contact, flight = part <= duty, swing
    number["land"] = np.minimum(number["land"], 0.3 * duty)

    if own_pitch is None:
        pitch, pivot = _rolling(part, swing, number)
        contact &= part >= number["land"]
        bend = np.maximum(pitch, 0.0) * (1.0 - smoothstep(2.0 * swing))
    else:
        yaw -= _TOE_OUT * leg.side * leg.bend
        pitch, pivot = own_pitch, np.zeros_like(part)
        bend = pitch * (1.0 - 0.7 * arch(swing)) + 0.5 * arch(swing)

    if len(timeline.jump_starts):
        _, local = timeline.jump_time(time)
        place += timeline.jumped(time, falls.pair)
        rise = timeline.jump.foot_lift(local, falls.pair)
        turn = timeline.jump.foot_pitch(local)
        lift += rise
        pitch = pitch + turn
        bend = bend + turn * (1.0 - smoothstep(rise / 0.12))
        contact &= timeline.jump.stands(local, falls.pair)
        flight = flight + timeline.jump.flight_share(local, falls.pair)

    up, ahead = leg.ankle[0] - pivot * leg.heel[0], leg.ankle[1] - pivot * leg.heel[1]
    less, sine = np.cos(pitch) - 1.0, np.sin(pitch)
    forward = leg.ankle[1] + less * ahead + sine * up
    ankle = np.empty((3, len(time)))
    ankle[0] = place[0] + forward * np.sin(yaw)
    ankle[1] = leg.ball_height + lift + leg.ankle[0] + less * up - sine * ahead
    ankle[2] = place[1] + forward * np.cos(yaw)
    return Foot(ankle, yaw, pitch, bend, flight, contact)


def _rolling(part: Array, swing: Array, number: dict[str, Array]) -> tuple[Array, Array]:
    """Return the pitch of a foot [rad] and how far its turning point has moved from the ball to the heel, 0..1."""
    duty, land = number["duty"], np.maximum(number["land"], 1e-3)
    rise_from = land + 0.4 * (duty - land)
    rise_to = duty + 0.03
    toe_off, heel_strike = number["toe_off"], number["heel_strike"]
    pitch = (
        toe_off * smoothstep((part - rise_from) / (rise_to - rise_from))
        - heel_strike * (1.0 - smoothstep(part / land))
        - (toe_off + heel_strike) * smoothstep((part - rise_to) / (0.98 - rise_to))
        + 1.7 * number["kick"] * early_arch(swing)
    )
    pivot = np.where(part < land, 1.0, smoothstep((swing - 0.5) / 0.4))
    return pitch, pivot


def highest_root(leg: Leg, foot: Foot, socket: Array) -> Array:
    """Return the greatest root height at which the limb still reaches its foot [m], infinite in the air.

    Args:
        leg: The limb.
        foot: Its foot.
        socket: (3, n) hip or shoulder joint [m]: x and z in the world, y above the root.
    """
    longest = reach(leg, _REACH)
    across = (foot.ankle[0] - socket[0]) ** 2 + (foot.ankle[2] - socket[2]) ** 2
    # The floor only keeps the root finite: no gait comes near it.
    height = foot.ankle[1] + np.sqrt(np.maximum(longest * longest - across, 1e-4)) - socket[1]
    return np.where(foot.flight > 0.0, np.inf, height)


def solve_limb(leg: Leg, foot: Foot, socket: Array, socket_rotation: Array, facing: Array) -> list[Array]:
    """Return the local rotations of the upper, lower, foot and contact joints, (4, n) each.

    Args:
        leg: The limb.
        foot: Where it must end.
        socket: (3, n) hip or shoulder joint in the world [m].
        socket_rotation: (4, n) rotation of its parent in the world.
        facing: (n,) direction the middle joint bends towards (knee) or away from (elbow) [rad].
    """
    sine, cosine = np.sin(facing), np.cos(facing)
    x, y, z = _within(leg, foot, socket)
    side, ahead = x * cosine - z * sine, z * cosine + x * sine
    distance = np.sqrt(x * x + y * y + z * z)
    roll = np.arctan2(side, -y)
    slant = np.arcsin(np.clip(-ahead / distance, -1.0, 1.0))
    upper, lower = leg.lengths
    at_hip = np.arccos(_cosine(upper, distance, lower))
    at_ankle = np.arccos(_cosine(lower, distance, upper))
    upper_angle = slant - leg.bend * at_hip - leg.rest[0]
    lower_angle = slant + leg.bend * at_ankle - leg.rest[1]
    plane = multiply(about_y(facing), about_z(roll))
    upper_world = multiply(plane, about_x(upper_angle))
    lower_world = multiply(plane, about_x(lower_angle))
    foot_world = multiply(about_y(foot.yaw), about_x(foot.pitch))
    return [
        inverse_multiply(socket_rotation, upper_world),
        about_x(lower_angle - upper_angle),
        inverse_multiply(lower_world, foot_world),
        about_x(-foot.bend),
    ]


def _within(leg: Leg, foot: Foot, socket: Array) -> Array:
    """Return the vector from hip to ankle, changed in the air where the limb would fold up or could not reach."""
    limb = foot.ankle - socket
    # x - tanh x starts with a third power: the joints' accelerations stay continuous.
    height = np.maximum(socket[1], 0.05)
    room = (_BELOW - _CLOSEST) * height
    under = np.maximum(_BELOW * height + limb[1], 0.0)
    limb[1] -= (under - room * np.tanh(under / room)) * plateau(foot.flight, 0.25)
    distance = np.sqrt((limb * limb).sum(axis=0))
    near = reach(leg, _LONG) - reach(leg, _LONG - _AIR_LONG) * plateau(foot.flight, 0.15)
    spare = reach(leg, _FULL) - near
    over = np.maximum(distance - near, 0.0)
    return limb * (1.0 - (over - spare * np.tanh(over / spare)) / distance)


def _cosine(near: float, distance: Array, far: float) -> Array:
    """Return the cosine of the angle between sides ``near`` and ``distance`` opposite to ``far``."""
    return np.clip((near * near + distance * distance - far * far) / (2.0 * near * distance), -1.0, 1.0)
