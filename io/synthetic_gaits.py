"""What each gait looks like: one vector of numbers per gait, speed, turn, direction and style.

A vector holds plain numbers (cadence, duty, step width, ...) and waves: functions of the gait's phase with a mean
and two harmonics, five numbers each. A transition blends two vectors. Phase 0 is the landing of the left (hind) foot;
a wave is given by the phases of its peaks. The amplitudes follow the textbook picture of human and canine gait (Perry
and Burnfield, Gait Analysis, 2010; Hildebrand, Symmetrical gaits of dogs, 1968) and were then tuned by eye.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

GRAVITY = 9.81

NUMBERS = (
    "side_speed",  # m/s, to the left
    "speed",  # m/s, forward
    "turn",  # rad/s, to the left
    "cadence",  # cycles/s
    "duty",  # share of the cycle a foot stands
    "land",  # share of the cycle from the heel's landing to the flat foot
    "offset_1",  # phase of the legs after the first, in cycles
    "offset_2",
    "offset_3",
    "width",  # m, the feet's distance from the middle line, added to rest
    "fore",  # m, added forward to the feet's place
    "hind_fore",  # m, the same for the hind feet alone
    "clearance",  # m, lift of the swinging foot
    "kick",  # m, extra lift early in the swing
    "toe_off",  # rad, heel up at the end of the stance
    "heel_strike",  # rad, toes up at landing
    "height",  # m, of the root above its rest
    "liveliness",  # 0..1, amount of breathing, looking around and shifting weight
)
WAVES = (
    "sway",  # m, root to the left
    "surge",  # m, root forward
    "bob",  # m, root up
    "hip_pitch",  # rad, positive leans forward (biped) or nose down (quadruped)
    "hip_yaw",  # rad, positive turns left
    "hip_roll",  # rad, positive leans right
    "chest_pitch",
    "chest_yaw",
    "chest_roll",
    "head_pitch",
    "head_yaw",
    "neck_pitch",  # rad, quadruped: against the chest
    "arm",  # rad, biped: left arm forward; the right arm is half a cycle later
    "elbow",  # rad, biped
    "spread",  # rad, biped: arm away from the body
    "tail_pitch",  # rad, quadruped: positive hangs lower
    "tail_yaw",  # rad, quadruped
    "rock_hip",  # rad, quadruped, of the fore legs' mean phase: added to the pitch of the hips,
    "rock_chest",  # rad, of the chest,
    "rock_bob",  # m, to the height of the root,
    "rock_neck",  # rad, to the pitch of the neck
    "rock_tail",  # rad, and of the tail
    "hind_pitch",  # rad, quadruped, of the leg's own phase: foot segment leans forward
    "fore_pitch",
    "shoulder",  # rad, quadruped, of the leg's own phase: shoulder blade forward
)
ROWS = len(NUMBERS) + 5 * len(WAVES)
Vector = NDArray[np.float64]
Program = dict[str, float | tuple[float, float, float, float, float]]


@dataclass(frozen=True)
class Style:
    """How a gait is done; 1 (or 0 for ``lean`` and ``crouch``) is the plain way.

    Raises:
        ValueError: A value lies outside its range.
    """

    arm_swing: float = 1.0
    """Factor on the arms' swing, 0..2."""
    bounce: float = 1.0
    """Factor on the up and down of the body, 0..1.5."""
    sway: float = 1.0
    """Factor on the side to side of the body, 0..2."""
    lean: float = 0.0
    """Added forward lean of the trunk [rad], -0.3..0.5."""
    stride: float = 1.0
    """Factor on the length of the strides at the same speed, 0.8..1.15."""
    crouch: float = 0.0
    """Bent legs, 0..1."""
    energy: float = 1.0
    """Factor on the lift of the feet and the turning of the trunk, 0.5..1.5."""

    def __post_init__(self) -> None:
        for field in fields(self):
            low, high = _STYLE_RANGES[field.name]
            value = getattr(self, field.name)
            if not low <= value <= high:
                raise ValueError(f"{field.name} must lie in {low:g}..{high:g}, got {value}")


_STYLE_RANGES = {
    "arm_swing": (0.0, 2.0),
    "bounce": (0.0, 1.5),
    "sway": (0.0, 2.0),
    "lean": (-0.3, 0.5),
    "stride": (0.8, 1.15),
    "crouch": (0.0, 1.0),
    "energy": (0.5, 1.5),
}


@dataclass(frozen=True)
class Gait:
    """The default and the greatest speed [m/s] and turning rate [rad/s] of a gait, and its default direction.

    ``stands``: the feet come to a halt. ``sits``: in places of its own, so that they step to them and away.
    """

    speed: float
    top_speed: float
    turn: float
    top_turn: float
    direction: float = 0.0
    stands: bool = False
    sits: bool = False


_LEFT = 0.5 * math.pi
GAITS: dict[str, dict[str, Gait]] = {
    "biped": {
        "idle": Gait(0.0, 0.0, 0.0, 0.0, stands=True),
        "walk": Gait(1.35, 2.0, 0.0, 1.5),
        "run": Gait(3.2, 6.5, 0.0, 1.5),
        "turn": Gait(0.0, 0.3, 1.4, 2.5),
        "strafe": Gait(0.9, 1.4, 0.0, 1.0, _LEFT),
        "sidestep": Gait(0.5, 0.8, 0.0, 0.5, _LEFT),
        "crouch": Gait(0.8, 1.4, 0.0, 1.2),
        "jump": Gait(0.0, 0.6, 0.0, 0.0, stands=True),
    },
    "quadruped": {
        "idle": Gait(0.0, 0.0, 0.0, 0.0, stands=True),
        "walk": Gait(0.85, 1.5, 0.0, 1.0),
        "trot": Gait(2.2, 3.5, 0.0, 1.0),
        "canter": Gait(3.8, 5.0, 0.0, 0.8),
        "gallop": Gait(5.5, 7.0, 0.0, 0.6),
        "turn": Gait(0.0, 0.3, 1.0, 1.6),
        "strafe": Gait(0.35, 0.5, 0.0, 0.5, _LEFT),
        "sit": Gait(0.0, 0.0, 0.0, 0.0, stands=True, sits=True),
        "jump": Gait(0.0, 0.6, 0.0, 0.0, stands=True),
    },
}


def gait_vector(
    character: str, gait: str, speed: float, turn: float, direction: float, style: Style
) -> Vector:
    """Return the (ROWS,) vector of a gait; the arguments are taken as checked."""
    make = _biped if character == "biped" else _quadruped
    program = make(gait, speed, turn, direction, style)
    program["turn"] = turn
    # A jump travels during its flights only; see synthetic_jump.
    moving = 0.0 if gait == "jump" else speed
    program["speed"], program["side_speed"] = moving * math.cos(direction), moving * math.sin(direction)
    values = np.zeros(ROWS)
    for name, value in program.items():
        values[row(name)] = value
    return values


def row(name: str) -> int | slice:
    """Return where a number or the five rows of a wave stand in a vector."""
    if name in NUMBERS:
        return NUMBERS.index(name)
    first = len(NUMBERS) + 5 * WAVES.index(name)
    return slice(first, first + 5)


def _wave(
    mean: float = 0.0, once: float = 0.0, peak: float = 0.0, twice: float = 0.0, peak_2: float = 0.0
) -> tuple[float, float, float, float, float]:
    """Return a mean and two harmonics by their amplitudes and the phases [cycles] of their peaks."""
    a, b = 2 * math.pi * peak, 4 * math.pi * peak_2
    return mean, once * math.cos(a), once * math.sin(a), twice * math.cos(b), twice * math.sin(b)


def _biped(gait: str, speed: float, turn: float, direction: float, style: Style) -> Program:
    if gait in ("idle", "jump"):
        return _biped_stand(gait, style)
    program = _biped_run(speed, style) if gait == "run" else _biped_walk(gait, speed, turn, direction, style)
    cadence = program["cadence"]
    assert isinstance(cadence, float)
    # Legs that step to the side must not cross: the gap between the feet closes by half a stride.
    spread = 0.25 * abs(speed * math.sin(direction)) / cadence
    program["width"] = _number(program, "width") + max(spread - 0.03, 0.0)
    inward = speed * math.cos(direction) * turn / GRAVITY
    for name, share in (("hip_roll", -0.5), ("chest_roll", -0.9), ("sway", 0.04)):
        _shift(program, name, share * inward)
    _shift(program, "head_yaw", 0.2 * turn)
    _shift(program, "chest_yaw", 0.06 * turn)
    return _crouched(program, max(style.crouch, 1.0 if gait == "crouch" else 0.0))


def _biped_stand(gait: str, style: Style) -> Program:
    return _crouched(
        {
            "cadence": 0.95,
            "duty": 0.75,
            "land": 0.08,
            "offset_1": 0.5,
            "width": 0.01,
            "fore": -0.02,
            "clearance": 0.045,
            "toe_off": 0.0,
            "height": -0.014,
            "liveliness": 1.0 if gait == "idle" else 0.3,
            "hip_pitch": _wave(0.02 + 0.4 * style.lean),
            "chest_pitch": _wave(0.03 + style.lean),
            "arm": _wave(0.04),
            "elbow": _wave(0.22),
            "spread": _wave(0.16),
        },
        style.crouch,
    )


def _biped_walk(gait: str, speed: float, turn: float, direction: float, style: Style) -> Program:
    pace = min(speed / 1.4, 1.3)
    forward = max(math.cos(direction), 0.0)
    ahead = pace * forward
    # Walking on with quick steps and short stances keeps the knees straight: far strides pull the pelvis down.
    straight = gait == "walk"
    duty = (0.625 if straight else 0.68) - 0.042 * speed
    start = {"turn": 0.7 + 0.2 * abs(turn), "sidestep": 0.85, "walk": 0.67}.get(gait, 0.62)
    cadence = (start + (0.3 if straight else 0.28) * speed) / style.stride
    longest = 0.72 if gait == "crouch" else 0.84
    sideways = speed * abs(math.sin(direction))
    cadence = max(cadence, duty * speed / longest, duty * sideways / 0.42)
    low = 0.55 if gait == "crouch" else 1.0
    turning = style.energy * pace * (0.35 + 0.65 * forward)
    arm = 0.42 * style.arm_swing * min(pace, 1.2) * (0.3 + 0.7 * forward) * low
    return {
        "cadence": cadence,
        "duty": duty,
        "land": 0.65 * (duty - 0.5),
        "offset_1": 0.5,
        "width": -0.015 * ahead,
        "fore": (0.0 if straight else -0.02) - 0.065 * min(ahead, 1.0),
        "clearance": style.energy * (0.035 + 0.02 * min(pace, 1.0)),
        "toe_off": (0.085 + 0.44 * ahead if straight else 0.1 + 0.52 * ahead) * low,
        "heel_strike": 0.3 * ahead * low,
        "height": (0.009 if straight else -0.016) - 0.022 * min(pace, 1.2),
        "liveliness": 0.25,
        "sway": _wave(0.0, 0.024 * style.sway, 0.32),
        "surge": _wave(0.0, 0.0, 0.0, 0.008 * pace, 0.1),
        "bob": _wave(0.0, 0.0, 0.0, 0.012 * style.bounce * pace, 0.31),
        "hip_pitch": _wave(0.03 + 0.02 * ahead + 0.4 * style.lean, 0.0, 0.0, 0.015 * pace, 0.05),
        "hip_yaw": _wave(0.0, 0.11 * turning, 0.5),
        "hip_roll": _wave(0.0, 0.06 * turning * style.sway, 0.2),
        "chest_pitch": _wave(0.04 + 0.03 * ahead + style.lean, 0.0, 0.0, 0.012 * pace, 0.1),
        "chest_yaw": _wave(0.0, 0.12 * turning * (0.4 + 0.6 * style.arm_swing), 0.02),
        "chest_roll": _wave(0.0, 0.025 * turning * style.sway, 0.72),
        "head_pitch": _wave(0.03),
        "arm": _wave(0.02, arm, 0.52),
        "elbow": _wave(0.28 + 0.12 * pace, 0.35 * arm, 0.58),
        "spread": _wave(0.16),
    }


def _biped_run(speed: float, style: Style) -> Program:
    cadence = (1.27 + 0.08 * speed) / style.stride
    duty = max(0.42 - 0.03 * speed, 0.2)
    duty = max(min(duty, 0.7 * cadence / max(speed, 0.1)), 0.12)
    drive = min(speed / 3.0, 1.8)
    # In flight the body falls: the double-frequency bob may accelerate with about gravity.
    bob = 0.85 * GRAVITY / (4 * math.pi * cadence) ** 2 * style.bounce
    arm = (0.4 + 0.2 * drive) * style.arm_swing
    return {
        "cadence": cadence,
        "duty": duty,
        "land": 0.12 * duty,
        "offset_1": 0.5,
        "width": -0.035,
        "fore": -0.078,
        "clearance": 0.05 * style.energy,
        "kick": min(0.05 + 0.08 * speed, 0.42) * (0.6 + 0.4 * style.energy),
        "toe_off": 0.5 + 0.12 * drive,
        "heel_strike": 0.08,
        "height": -0.055 - 0.012 * drive,
        "liveliness": 0.15,
        "sway": _wave(0.0, 0.014 * style.sway, 0.5 * duty),
        "surge": _wave(0.0, 0.0, 0.0, 0.01, 0.0),
        "bob": _wave(0.0, 0.0, 0.0, bob, 0.5 * duty + 0.25),
        "hip_pitch": _wave(0.1 + 0.05 * drive + 0.4 * style.lean, 0.0, 0.0, 0.02, 0.05),
        "hip_yaw": _wave(0.0, (0.09 + 0.05 * drive) * style.energy, 0.46),
        "hip_roll": _wave(0.0, 0.05 * style.sway, 0.45 * duty),
        "chest_pitch": _wave(0.1 + 0.06 * drive + style.lean, 0.0, 0.0, 0.02, 0.1),
        "chest_yaw": _wave(0.0, (0.16 + 0.05 * drive) * (0.4 + 0.6 * style.arm_swing), 0.98),
        "chest_roll": _wave(0.0, 0.03 * style.sway, 0.5 + 0.45 * duty),
        "head_pitch": _wave(0.02),
        "arm": _wave(-0.12, arm, 0.5),
        "elbow": _wave(1.35, 0.3 * style.arm_swing, 0.52),
        "spread": _wave(0.24),
    }


def _crouched(program: Program, amount: float) -> Program:
    for name, change in (
        ("height", -0.25),
        ("hip_pitch", 0.2),
        ("chest_pitch", 0.42),
        ("arm", 0.1),
        ("elbow", 0.45),
        ("spread", 0.1),
    ):
        _shift(program, name, amount * change)
    return program


# Phases of the right hind, left fore and right fore leg against the left hind one. Walk: lateral sequence, four even
# beats. Trot: diagonal pairs. Canter: the left hind and right fore land together, between the other two. Gallop:
# hind pair, then fore pair, left leading.
_LATERAL = (0.5, 0.75, 0.25)
_DIAGONAL = (0.5, 0.5, 0.0)
_CANTER = (0.28, 0.7, 0.0)
_GALLOP = (0.12, 0.5, -0.38)


def _quadruped(gait: str, speed: float, turn: float, direction: float, style: Style) -> Program:
    if gait in ("idle", "jump", "sit"):
        return _quadruped_stand(gait, style)
    if gait in ("canter", "gallop"):
        program = _bounding(gait, speed, style)
    else:
        program = _stepping(gait, speed, turn, direction, style)
    sideways = speed * abs(math.sin(direction))
    program["width"] = _number(program, "width") + 0.12 * sideways / _number(program, "cadence")
    inward = speed * math.cos(direction) * turn / GRAVITY
    for name, share in (("hip_roll", -0.3), ("chest_roll", -0.3), ("sway", 0.04)):
        _shift(program, name, share * inward)
    for name, share in (("chest_yaw", 0.12), ("hip_yaw", -0.06), ("head_yaw", 0.3), ("tail_yaw", -0.15)):
        _shift(program, name, share * turn)
    _shift(program, "height", -0.06 * style.crouch)
    return program


def _quadruped_stand(gait: str, style: Style) -> Program:
    program: Program = {
        "cadence": 0.85,
        "duty": 0.8,
        "clearance": 0.03,
        "height": -0.006 - 0.06 * style.crouch,
        "liveliness": 1.0 if gait == "idle" else 0.5,
        "tail_pitch": _wave(0.35),
        "neck_pitch": _wave(-0.1),
        "head_pitch": _wave(0.1),
    }
    if gait == "sit":
        program |= {
            "cadence": 1.5,
            "clearance": 0.022,
            "hind_fore": 0.2,
            "height": -0.255,
            "surge": _wave(0.03),
            "hip_pitch": _wave(-0.74),
            "chest_pitch": _wave(-0.58),
            "neck_pitch": _wave(0.25),
            "hind_pitch": _wave(-1.05),
            "tail_pitch": _wave(-0.55),
            "shoulder": _wave(0.1),
        }
    return program | dict(zip(("offset_1", "offset_2", "offset_3"), _LATERAL, strict=True))


def _stepping(gait: str, speed: float, turn: float, direction: float, style: Style) -> Program:
    if gait == "trot":
        offsets, duty = _DIAGONAL, 0.47 - 0.03 * speed
        cadence = (1.5 + 0.2 * speed) / style.stride
    else:
        offsets, duty = _LATERAL, 0.72 - 0.06 * speed
        cadence = ((0.85 if gait == "turn" else 0.7) + 0.4 * speed + 0.15 * abs(turn)) / style.stride
    if gait == "trot":
        duty = max(min(duty, 0.4 * cadence / max(speed, 0.1)), 0.15)
    else:
        # Turning moves the fore legs to the side.
        sideways = speed * abs(math.sin(direction)) + 0.45 * abs(turn)
        cadence = max(cadence, duty * speed / 0.44, duty * sideways / 0.26)
    pace = min(speed / (2.2 if gait == "trot" else 0.9), 1.3)
    ahead = min(pace, 1.0) * math.cos(direction)
    lively = style.energy * pace
    mid = 0.5 * duty
    trot = gait == "trot"
    bob = (0.5 * GRAVITY / (4 * math.pi * cadence) ** 2 if trot else 0.006) * style.bounce * min(pace, 1.0)
    return {
        "cadence": cadence,
        "duty": duty,
        "offset_1": offsets[0],
        "offset_2": offsets[1],
        "offset_3": offsets[2],
        "width": -0.012 * pace,
        "fore": 0.05 * ahead,
        "hind_fore": -0.02 * ahead,
        "clearance": style.energy * (0.035 + (0.035 if trot else 0.02) * pace),
        "kick": (0.02 if trot else 0.01) * lively,
        "height": (-0.026 if trot else -0.02) * min(pace, 1.0) - 0.006,
        "liveliness": 0.25,
        "sway": _wave(0.0, 0.008 * style.sway * (0.5 if trot else 1.0), 0.3),
        "surge": _wave(0.0, 0.0, 0.0, 0.006 * pace, 0.0),
        "bob": _wave(0.0, 0.0, 0.0, bob, mid + 0.25 if trot else 0.1),
        "hip_pitch": _wave(0.0, 0.0, 0.0, 0.02 * lively, 0.1),
        "hip_yaw": _wave(0.0, (0.05 if trot else 0.09) * lively, 0.5),
        "hip_roll": _wave(0.0, (0.03 if trot else 0.06) * lively * style.sway, mid),
        "chest_pitch": _wave(0.25 * style.lean, 0.0, 0.0, 0.015 * lively, 0.3),
        "chest_yaw": _wave(0.0, (0.04 if trot else 0.07) * lively, 0.05 if trot else 0.75),
        "chest_roll": _wave(0.0, 0.03 * lively * style.sway, 0.5 + mid if trot else 0.25 + mid),
        "neck_pitch": _wave(-0.05 if trot else 0.12, 0.0, 0.0, (0.03 if trot else 0.07) * style.bounce, 0.15),
        "head_pitch": _wave(0.12, 0.0, 0.0, 0.02, 0.2),
        "tail_pitch": _wave(-0.05 if trot else 0.15, 0.0, 0.0, 0.06 * lively, 0.2),
        "tail_yaw": _wave(0.0, 0.14 * style.sway * style.energy, 0.1),
        "hind_pitch": _wave(0.1 * pace, 0.32 * pace, duty + 0.05),
        "fore_pitch": _wave(0.18 * pace, 0.5 * pace, duty + 0.08),
        "shoulder": _wave(0.0, 0.22 * pace, -0.04),
    }


def _bounding(gait: str, speed: float, style: Style) -> Program:
    gallop = gait == "gallop"
    offsets = _GALLOP if gallop else _CANTER
    cadence = ((2.0 + 0.11 * speed) if gallop else (1.7 + 0.1 * speed)) / style.stride
    duty = max(min(0.26 if gallop else 0.38, 0.38 * cadence / max(speed, 0.1)), 0.12)
    drive = min(speed / (6.0 if gallop else 3.8), 1.2) * (0.7 + 0.3 * style.energy)
    # The trunk pitches down on the fore legs, as long as they work together, and flies after them. It rocks about its
    # middle, not about the hips: they rise while the nose goes down.
    nod = (0.17 if gallop else 0.14) * drive
    flight = 0.32 * GRAVITY / (2 * math.pi * cadence) ** 2 * style.bounce * min(drive, 1.0)
    rock = 0.2 * nod
    mid = 0.5 * duty
    return {
        "cadence": cadence,
        "duty": duty,
        "offset_1": offsets[0],
        "offset_2": offsets[1],
        "offset_3": offsets[2],
        "width": -0.015,
        "fore": 0.04,
        "hind_fore": -0.025,
        "clearance": (0.045 + 0.015 * drive) * style.energy,
        "kick": 0.02 * drive,
        "height": -0.03 - 0.01 * drive,
        "liveliness": 0.15,
        "surge": _wave(0.0, 0.01, 0.2),
        "chest_pitch": _wave(0.25 * style.lean),
        "chest_yaw": _wave(0.03),
        "neck_pitch": _wave(0.25 if gallop else 0.1),
        "head_pitch": _wave(0.1),
        "tail_pitch": _wave(-0.15),
        "rock_hip": _wave(0.0, nod, mid - 0.08),
        "rock_chest": _wave(0.0, 0.8 * nod, mid + 0.04),
        "rock_bob": _wave(0.0, math.hypot(flight, rock), mid + 0.3 * flight / (flight + rock + 1e-6)),
        "rock_neck": _wave(0.0, 0.1 * drive, mid + 0.5),
        "rock_tail": _wave(0.0, 0.2 * drive, mid + 0.2),
        "hind_pitch": _wave(0.15, 0.45 * drive, duty + 0.18),
        "fore_pitch": _wave(0.25, 0.6 * drive, duty + 0.18),
        "shoulder": _wave(0.0, 0.3 * drive, -0.06),
    }


def _number(program: Program, name: str) -> float:
    value = program.get(name, 0.0)
    return value[0] if isinstance(value, tuple) else value


def _shift(program: Program, name: str, amount: float) -> None:
    """Add to a number, or to the mean of a wave."""
    value = program.get(name, 0.0 if name in NUMBERS else _wave())
    program[name] = (value[0] + amount, *value[1:]) if isinstance(value, tuple) else value + amount
