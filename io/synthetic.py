"""Procedural motion of a biped and a dog, with planted feet: any gait, speed, style, seed, duration and frame rate.

``synthesize`` plays one gait or a list of segments, ``loop`` makes a clip to be played round and round,
``random_session`` varies all gaits for hours. The motion is a continuous function of time: another frame rate samples
the same motion, the same arguments give the same bytes.

While a contact is reported, its joint stays where it is: the ball of the biped's foot (the toe joint) from the flat
foot to the lift, the dog's paws from landing to lift.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .motion import Motion, check_framerate
from .skeleton import did_you_mean
from .synthetic_gaits import GAITS, Gait, Style, Vector, gait_vector, row
from .synthetic_jump import jump_shape
from .synthetic_plan import Stage, Timeline, blend_seconds, stand_wait
from .synthetic_pose import Animator
from .synthetic_rigs import biped_skeleton, quadruped_skeleton, rig

__all__ = [
    "Segment",
    "Style",
    "Synthesis",
    "biped_skeleton",
    "gaits",
    "loop",
    "quadruped_skeleton",
    "random_session",
    "synthesize",
]

_JITTER = 0.006  # m, of footfalls
_IDLE_LOOP = 6.0  # s
# A circle tighter than this acceleration [m/s^2] would topple the character.
_CENTRIPETAL = 5.0


@dataclass(frozen=True)
class Segment:
    """A stretch of one gait.

    It begins with the transition from the segment before, which must fit into it; the first segment begins at full
    speed. Gaits that stand (idle, sit, jump) come to a halt first.
    """

    gait: str
    """A name from ``gaits(character)``."""
    seconds: float
    """Duration [s]."""
    speed: float | None = None
    """Speed over the ground [m/s]; None for the gait's own. A jump's is its mean speed, made in flight."""
    turn: float | None = None
    """Turning rate [rad/s], positive to the left; None for the gait's own."""
    direction: float | None = None
    """Direction of the way against the facing [rad], positive to the left; None for the gait's own."""


@dataclass(frozen=True)
class Synthesis:
    """A generated motion and when its feet stand.

    Attributes:
        motion: The clip.
        contacts: (F, feet) bool, whether the contact joint stands still on the ground.
        contact_joints: Their names: hind before fore, left before right.
    """

    motion: Motion
    contacts: NDArray[np.bool_]
    contact_joints: tuple[str, ...]


def gaits(character: str) -> tuple[str, ...]:
    """Return the names of the gaits of ``"biped"`` or ``"quadruped"``.

    Raises:
        ValueError: There is no such character.
    """
    rig(character)
    return tuple(GAITS[character])


def synthesize(
    character: str,
    gait: str | Segment | Sequence[Segment],
    seconds: float | None = None,
    *,
    framerate: float = 60.0,
    seed: int = 0,
    style: Style | None = None,
) -> Synthesis:
    """Generate a motion that begins at the origin, facing +Z.

    Args:
        character: ``"biped"`` or ``"quadruped"``.
        gait: Name of a gait, or one or more segments. To start and stop, put idle segments at the ends.
        seconds: Duration [s] where a name is given, 10 by default; segments bring their own.
        framerate: Frames per second [Hz].
        seed: Of the small variations between cycles.
        style: How the gaits are done.

    Returns:
        The motion, with ``round(seconds * framerate) + 1`` frames, and its contacts.

    Raises:
        ValueError: A name is unknown, a number out of range, a segment too short for its transition.
        TypeError: Segments and ``seconds`` were both given.
    """
    if isinstance(gait, str):
        segments = [Segment(gait, 10.0 if seconds is None else seconds)]
    else:
        if seconds is not None:
            raise TypeError("segments bring their own seconds; leave out the argument")
        segments = [gait] if isinstance(gait, Segment) else list(gait)
    if not segments:
        raise ValueError("there must be at least one segment, got none")
    rate, style = check_framerate(framerate), style or Style()
    stages = _stages(character, segments, style)
    total = math.fsum(segment.seconds for segment in segments)
    timeline = Timeline(character, stages, total)
    animator = Animator(character, timeline, np.random.default_rng(seed), _JITTER, None)
    times = np.arange(round(total * rate) + 1) / rate
    names = list(dict.fromkeys(segment.gait for segment in segments))
    label = names[0] if len(names) == 1 else "mixed"
    return _synthesis(animator, times, rate, False, f"{character}_{label}")


def loop(
    character: str,
    gait: str,
    *,
    framerate: float = 60.0,
    speed: float | None = None,
    turn: float | None = None,
    direction: float | None = None,
    style: Style | None = None,
    in_place: bool = True,
) -> Motion:
    """Generate a clip of whole cycles to be played round and round.

    The cadence is moved by up to 2 % so that the cycles end on a frame; standing gaits last some seconds. In place,
    the motion is seen from the moving path (the feet slide back under the character) and the last frame equals the
    first. Otherwise the root travels, and the last frame equals the first but for the way made.

    Args:
        character: ``"biped"`` or ``"quadruped"``.
        gait: A name from ``gaits(character)``.
        framerate: Frames per second [Hz].
        speed: As in ``Segment``.
        turn: As in ``Segment``.
        direction: As in ``Segment``.
        style: How the gait is done.
        in_place: Whether the travel of the path is taken out.

    Raises:
        ValueError: A name is unknown, a number out of range.
    """
    rate, style = check_framerate(framerate), style or Style()
    stage = _stages(character, [Segment(gait, 1.0, speed, turn, direction)], style, check_length=False)[0]
    if stage.stands:
        least = jump_shape(character).period if gait == "jump" else _IDLE_LOOP
        frames = max(math.ceil(least * rate - 1e-9), 1)
    else:
        frames, cycles = _whole_cycles(rate / float(stage.vector[row("cadence")]))
        stage.vector[row("cadence")] = cycles * rate / frames
    seconds = frames / rate
    timeline = Timeline(character, [replace(stage, seconds=seconds)], seconds)
    animator = Animator(character, timeline, np.random.default_rng(0), 0.0, seconds)
    made = _synthesis(animator, np.arange(frames + 1) / rate, rate, in_place, f"{character}_{gait}").motion
    if in_place:
        made.local_rotation_column[:, :, -1] = made.local_rotation_column[:, :, 0]
        made.local_position_column[:, :, -1] = made.local_position_column[:, :, 0]
    return made


def random_session(
    character: str, seconds: float, *, framerate: float = 60.0, seed: int = 0, style: Style | None = None
) -> Synthesis:
    """Generate a long motion of ever changing gaits, speeds and turns that stays near the origin.

    Args:
        character: ``"biped"`` or ``"quadruped"``.
        seconds: Duration [s].
        framerate: Frames per second [Hz].
        seed: Of everything: the choice of gaits, and the small variations.
        style: How the gaits are done.

    Raises:
        ValueError: A name is unknown, a number out of range.
    """
    rate, style = check_framerate(framerate), style or Style()
    rig(character)
    _check_seconds(seconds)
    rng = np.random.default_rng(seed)
    stages = _stages(character, _random_segments(character, seconds, rng, style), style)
    animator = Animator(character, Timeline(character, stages, seconds), rng, _JITTER, None)
    times = np.arange(round(seconds * rate) + 1) / rate
    return _synthesis(animator, times, rate, False, f"{character}_session_{seed}")


def _synthesis(
    animator: Animator, times: NDArray[np.float64], framerate: float, in_place: bool, name: str
) -> Synthesis:
    poses = animator.poses(times, in_place)
    skeleton = animator.rig.skeleton
    motion = Motion.from_columns(skeleton, poses.rotations, poses.positions, [0], framerate, name)
    return Synthesis(motion, poses.contacts, tuple(leg.contact for leg in animator.rig.legs))


def _whole_cycles(frames_per_cycle: float) -> tuple[int, int]:
    """Return the frames and the cycles of a loop whose cadence is off by 2 % at most."""
    cycles = 1
    while True:
        frames = max(round(cycles * frames_per_cycle), 2)
        if abs(frames / (cycles * frames_per_cycle) - 1.0) <= 0.02:
            return frames, cycles
        cycles += 1


def _stages(
    character: str, segments: Sequence[Segment], style: Style, check_length: bool = True
) -> list[Stage]:
    """Check segments and turn them into stages.

    Raises:
        ValueError: As ``synthesize``.
    """
    stages: list[Stage] = []
    for k, segment in enumerate(segments):
        stage = _stage(character, segment, style)
        before = stages[-1] if stages else None
        after = _stage(character, segments[k + 1], style) if k + 1 < len(segments) else stage
        parts = _parts(character, stage, before, after, style)
        least = math.fsum(part.seconds for part in parts if part is not stage)
        spare = segment.seconds - least
        least += _least_seconds(character, stage, parts[0] if parts[0] is not stage else before)
        if check_length and segment.seconds < least:
            where = f" after {before.gait!r}" if before is not None else ""
            raise ValueError(
                f"a segment of {segment.gait!r}{where} must last at least {least:.2f} s, got {segment.seconds}"
            )
        stages += [replace(part, seconds=spare) if part is stage else part for part in parts]
    return stages


def _parts(character: str, stage: Stage, before: Stage | None, after: Stage, style: Style) -> list[Stage]:
    """Put the halt before sitting down, and the rise after it, around a stage that sits."""
    if not stage.sits:
        return [stage]
    idle = _stage(character, Segment("idle", 1.0), style)
    parts = [stage]
    if before is not None and not before.stands:
        parts.insert(0, replace(idle, seconds=blend_seconds(before.vector, idle.vector)))
    if not after.stands:
        parts.append(replace(idle, seconds=blend_seconds(stage.vector, idle.vector)))
    return parts


def _least_seconds(character: str, stage: Stage, before: Stage | None) -> float:
    """Return the time that the transition into a stage, and one jump, must have."""
    least = 0.0 if before is None else blend_seconds(before.vector, stage.vector)
    if stage.gait == "jump":
        least += jump_shape(character).period
        if before is not None and (before.sits or not before.stands):
            least += stand_wait(stage.vector)
    return least


def _stage(character: str, segment: Segment, style: Style) -> Stage:
    gait = _find(character, segment.gait)
    _check_seconds(segment.seconds)
    speed = gait.speed if segment.speed is None else segment.speed
    turn = gait.turn if segment.turn is None else segment.turn
    direction = gait.direction if segment.direction is None else segment.direction
    if not 0.0 <= speed <= gait.top_speed:
        raise ValueError(
            f"speed must lie in 0..{gait.top_speed:g} m/s for {segment.gait!r}, got {segment.speed}"
        )
    top = _top_turn(gait, speed)
    if not abs(turn) <= top:
        raise ValueError(
            f"turn must lie in {-top:.3g}..{top:.3g} rad/s for {segment.gait!r} at {speed:g} m/s, "
            f"got {segment.turn}"
        )
    if not math.isfinite(direction):
        raise ValueError(f"direction must be a finite angle in radians, got {direction}")
    vector: Vector = gait_vector(character, segment.gait, speed, turn, direction, style)
    way = speed * jump_shape(character).period if segment.gait == "jump" else 0.0
    travel = (way * math.sin(direction), way * math.cos(direction))
    return Stage(segment.gait, float(segment.seconds), vector, gait.stands, gait.sits, travel)


def _top_turn(gait: Gait, speed: float) -> float:
    return min(gait.top_turn, _CENTRIPETAL / speed) if speed > 0 else gait.top_turn


def _find(character: str, gait: str) -> Gait:
    known = gaits(character)
    if gait not in known:
        raise ValueError(
            f"gait of a {character} must be one of {', '.join(known)}, got {gait!r}{did_you_mean(gait, known)}"
        )
    return GAITS[character][gait]


def _check_seconds(seconds: float) -> None:
    if not (seconds > 0 and math.isfinite(seconds)):
        raise ValueError(f"seconds must be a positive number, got {seconds}")


_LIKELY = {
    "biped": {"walk": 8, "run": 4, "idle": 3, "turn": 2, "strafe": 2, "sidestep": 2, "crouch": 2, "jump": 1},
    "quadruped": {
        "walk": 5,
        "trot": 5,
        "canter": 3,
        "gallop": 2,
        "idle": 3,
        "turn": 2,
        "strafe": 1,
        "sit": 1,
        "jump": 1,
    },
}
_HOME = 15.0  # m from the origin, beyond which a session turns back


def _random_segments(character: str, seconds: float, rng: np.random.Generator, style: Style) -> list[Segment]:
    """Draw segments that fill the time; the place is followed roughly, to turn back when far away."""
    names = list(_LIKELY[character])
    weights = np.array([_LIKELY[character][name] for name in names], float)
    weights /= weights.sum()
    segments: list[Segment] = []
    before: Stage | None = None
    place, heading, time = np.zeros(2), 0.0, 0.0
    while time < seconds:
        name = names[rng.choice(len(names), p=weights)]
        gait = GAITS[character][name]
        speed = gait.speed if gait.stands else gait.top_speed * rng.uniform(0.25, 0.95)
        if name == "jump":
            speed = gait.top_speed * rng.uniform(0.0, 0.9)
        turn = rng.uniform(-1.0, 1.0) ** 3 * _top_turn(gait, speed)
        direction = gait.direction * rng.choice([-1.0, 1.0]) + rng.uniform(-0.1, 0.1)
        if name == "strafe":
            direction = rng.uniform(-math.pi, math.pi)
        length = rng.uniform(2.5, 7.0)
        if name == "turn":
            speed, turn = 0.0, rng.choice([-1.0, 1.0]) * gait.top_turn * rng.uniform(0.3, 0.9)
            length = rng.uniform(1.5, 3.0)
        distance = math.hypot(*place)
        if distance > _HOME and not gait.stands and name != "turn":
            home = math.atan2(-place[0], -place[1]) - (heading + direction)
            home = math.remainder(home, math.tau)
            turn = float(np.clip(home / length, -_top_turn(gait, speed), _top_turn(gait, speed)))
        segment = Segment(name, length, speed, turn, direction)
        stage = _stage(character, segment, style)
        least = _least_seconds(character, stage, before) + rng.uniform(0.3, 1.0)
        if stage.sits:
            least += 6.0  # to halt before and rise after
        segment = replace(segment, seconds=max(length, least))
        segments.append(segment)
        middle = heading + 0.5 * turn * segment.seconds + direction
        place = place + speed * segment.seconds * np.array([math.sin(middle), math.cos(middle)])
        heading += turn * segment.seconds
        time += segment.seconds
        before = _stage(character, Segment("idle", 1.0), style) if stage.sits else stage
    return segments
