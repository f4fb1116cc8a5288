"""Poses from a plan: trunk, head, arms and tail from waves, legs from their footfalls; vectorised over frames."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .synthetic_gaits import GRAVITY, NUMBERS, WAVES, row
from .synthetic_limbs import Foot, foot_path, highest_root, solve_limb
from .synthetic_math import (
    Array,
    Cover,
    about_x,
    about_y,
    about_z,
    euler,
    inverse_multiply,
    multiply,
    part_of,
    rotate,
    turned,
)
from .synthetic_plan import Footfalls, Timeline
from .synthetic_rigs import Rig

# Frames computed together: the temporaries stay in the cache.
_CHUNK = 2048
_SINK_STEP = 1.0 / 60.0
_MOMENT = 1e-4
_LEG_WAVES = ("hind_pitch", "fore_pitch", "shoulder")
_ROCK = {
    "rock_hip": "hip_pitch",
    "rock_chest": "chest_pitch",
    "rock_bob": "bob",
    "rock_neck": "neck_pitch",
    "rock_tail": "tail_pitch",
}
_BODY = WAVES[: WAVES.index("neck_pitch")]
_OWN = {
    "biped": (*_BODY, "arm", "elbow", "spread"),
    "quadruped": (*_BODY, "neck_pitch", "tail_pitch", "tail_yaw", *_ROCK, *_LEG_WAVES),
}


class Fidget:
    """Slow variation that never repeats, or repeats after ``period`` [s]: sums of sines with random phases."""

    NAMES: tuple[str, ...] = ("sway", "surge", "chest_yaw", "head_yaw", "head_pitch", "size", "wag")

    def __init__(self, rng: np.random.Generator, period: float | None) -> None:
        frequencies = rng.uniform(0.06, 0.35, (len(self.NAMES), 3))
        breath, wag = 0.27, 1.9
        if period is not None:
            frequencies = np.maximum(np.round(frequencies * period), 1.0) / period
            breath, wag = (max(round(f * period), 1) / period for f in (breath, wag))
        self._turns = 2 * np.pi * frequencies
        self._phases = rng.uniform(0.0, 2 * np.pi, frequencies.shape)
        self._breath, self._wag = 2 * np.pi * breath, 2 * np.pi * wag

    def __call__(self, time: Array) -> dict[str, Array]:
        """Return the variations, each within -1..1, at n times."""
        angle = self._turns[..., None] * time + self._phases[..., None]
        found: dict[str, Array] = dict(zip(self.NAMES, np.sin(angle).mean(axis=1), strict=True))
        found["breath"] = np.sin(self._breath * time)
        found["wag"] = np.sin(self._wag * time) * (0.5 + 0.5 * found["wag"])
        return found


@dataclass(frozen=True)
class Poses:
    """The finished columns: local rotations (J, 4, F), root positions (1, 3, F), contacts (F, feet)."""

    rotations: NDArray[np.float32]
    positions: NDArray[np.float32]
    contacts: NDArray[np.bool_]


@dataclass(frozen=True)
class _Body:
    """What is known of n frames before the legs are solved."""

    values: dict[str, Array]
    heading: Array
    path: Array
    local: dict[int, Array]
    world: dict[int, Array]
    root: Array
    height: Array
    feet: list[Foot]
    sockets: list[Array]


class Animator:
    """Turns a plan into poses.

    Args:
        character: Its name.
        timeline: The plan.
        rng: Draws the fidgeting and the jitter of the footfalls.
        jitter: Standard deviation of the footfalls [m].
        period: Time after which the fidgeting repeats [s], None for never.
    """

    def __init__(
        self,
        character: str,
        timeline: Timeline,
        rng: np.random.Generator,
        jitter: float,
        period: float | None,
    ) -> None:
        self._timeline = timeline
        self.rig: Rig = timeline.rig
        self._is_biped = character == "biped"
        self._fidget = Fidget(rng, period)
        self._variation = 0.0 if period is not None else 0.12
        self._falls = [Footfalls(timeline, k, rng, jitter) for k in range(len(self.rig.legs))]
        self._names = _OWN[character]
        rows = [np.arange(len(NUMBERS))]
        for name in self._names:
            where = row(name)
            assert isinstance(where, slice)
            rows.append(np.arange(where.start, where.stop))
        self._rows = np.concatenate(rows)
        self._offsets = self.rig.skeleton.offsets.astype(np.float64)
        self._sink = self._plan_sinking(period)

    def poses(self, times: Array, in_place: bool) -> Poses:
        """Return the poses at the times of the frames [s]; ``in_place`` as seen from the moving path."""
        frames, joints = len(times), self.rig.skeleton.joint_count
        rotations = np.empty((joints, 4, frames), np.float32)
        positions = np.empty((1, 3, frames), np.float32)
        contacts = np.empty((frames, len(self.rig.legs)), bool)
        for start in range(0, frames, _CHUNK):
            part = slice(start, min(start + _CHUNK, frames))
            local, root, contact = self._chunk(times[part], in_place)
            for joint, rotation in local.items():
                rotations[joint, :, part] = rotation
            positions[0, :, part] = root
            contacts[part] = contact
        return Poses(rotations, positions, contacts)

    def _chunk(self, time: Array, in_place: bool) -> tuple[dict[int, Array], Array, NDArray[np.bool_]]:
        body = self._pose_body(time)
        local, root, values = body.local, body.root, body.values
        root[1] = body.height - self._sink(time)
        for falls, foot, socket in zip(self._falls, body.feet, body.sockets, strict=True):
            leg = falls.leg
            socket[1] += root[1]
            if self._is_biped:
                facing = 0.5 * (foot.yaw + body.heading + values["hip_yaw"])
            else:
                facing = body.heading + values["chest_yaw" if leg.is_front else "hip_yaw"]
            turns = solve_limb(leg, foot, socket, body.world[leg.socket], facing)
            local.update(zip(leg.joints, turns, strict=True))
        if in_place:
            x, z = root[0] - body.path[0], root[2] - body.path[1]
            root[0], root[2] = turned(x, z, -body.heading)
            local[0] = multiply(about_y(-body.heading), local[0])
        return local, root, np.stack([foot.contact for foot in body.feet], axis=1)

    def _plan_sinking(self, period: float | None) -> Cover:
        """Let the root sink in time before a standing foot would be out of reach, and rise after."""
        begin, end = self._timeline.first + 1.0, self._timeline.last - 1.0
        step = _SINK_STEP
        if period is not None:
            step = period / max(round(period / _SINK_STEP), 1)
        grid = begin + step * np.arange(int((end - begin) / step) + 1, dtype=np.float64)
        # The worst is just after landing and just before the lift, between the points of the grid.
        events = np.sort(
            np.concatenate([[*(falls.strikes + _MOMENT), *(falls.lifts - _MOMENT)] for falls in self._falls])
        )
        events = events[(events >= begin) & (events < grid[-1])]
        excess = self._excess_height(grid)
        extra = self._excess_height(events)
        place = ((events - begin) / step).astype(np.intp)
        np.maximum.at(excess, place, extra)
        np.maximum.at(excess, place + 1, extra)
        return Cover(begin, step, excess)

    def _pose_body(self, time: Array) -> _Body:
        """Pose all but the legs, and place the feet; the root's height is still to come."""
        timeline = self._timeline
        blended = timeline.vector(time, self._rows)
        numbers = blended[: len(NUMBERS)]
        waves = blended[len(NUMBERS) :].reshape(len(self._names), 5, len(time))
        values = self._body_values(time, numbers, waves, self._fidget(time))
        heading, path = timeline.heading(time), timeline.path(time)
        local: dict[int, Array] = {}
        world: dict[int, Array] = {}
        place: dict[int, Array] = {}
        self._trunk(heading, values, local, world, place)
        x, z = turned(values["sway"], values["surge"], heading)
        root = np.stack([path[0] + x, np.zeros(len(time)), path[1] + z])
        feet: list[Foot] = []
        for falls in self._falls:
            own = self._paw(falls, time, waves, local, world, place)
            feet.append(foot_path(timeline, falls, time, numbers, own))
        sockets = [
            self._socket(falls.leg.joints[0], falls.leg.socket, world, place) + root for falls in self._falls
        ]
        height = self.rig.stand_height + values["height"] + values["bob"]
        return _Body(values, heading, path, local, world, root, height, feet, sockets)

    def _excess_height(self, times: Array) -> Array:
        """Return how far the root's wanted height lies above what the standing feet allow [m], 0 or more."""
        excess = np.empty(len(times))
        for start in range(0, len(times), _CHUNK):
            part = slice(start, start + _CHUNK)
            body = self._pose_body(times[part])
            limits = [
                highest_root(falls.leg, foot, socket)
                for falls, foot, socket in zip(self._falls, body.feet, body.sockets, strict=True)
            ]
            excess[part] = np.maximum(body.height - np.minimum.reduce(limits), 0.0)
        return excess

    def _body_values(
        self, time: Array, numbers: Array, waves: Array, fidget: dict[str, Array]
    ) -> dict[str, Array]:
        """Return all waves of the body, with what the rocking trunk, fidgeting, speeding up and jumps add."""
        circle = _circle(self._timeline.phase(time))
        size = 1.0 + self._variation * fidget["size"]
        values = dict(zip(self._names, _waves_at(waves, circle, size), strict=True))
        values["height"], values["liveliness"] = numbers[row("height")], numbers[row("liveliness")]
        if self._is_biped:
            arms = waves[[self._names.index("arm"), self._names.index("elbow")]]
            # Half a cycle later.
            values["right_arm"], values["right_elbow"] = _waves_at(arms, -circle, 1.0)
        else:
            # Fore legs in turn cancel out; the more they work together, the more the trunk rocks.
            fore = [_circle(falls.phase(time)) for falls in self._falls if falls.leg.is_front]
            rocks = waves[[self._names.index(name) for name in _ROCK]]
            for target, rock in zip(
                _ROCK.values(), _waves_at(rocks, np.mean(fore, axis=0), size), strict=True
            ):
                values[target] += rock
        self._add_fidgeting(values, fidget)
        side, forward = self._timeline.acceleration(time)
        lean = 0.4 if self._is_biped else 0.1
        values["hip_pitch"] += 0.6 * lean * forward / GRAVITY
        values["chest_pitch"] += lean * forward / GRAVITY
        values["chest_roll"] -= lean * side / GRAVITY
        if len(self._timeline.jump_starts):
            _, local = self._timeline.jump_time(time)
            values["bob"] += self._timeline.jump.body(local)
            for name, curve in self._timeline.jump.waves.items():
                for target in {name, f"right_{name}"} & set(values):
                    values[target] += curve(local)
        return values

    def _add_fidgeting(self, values: dict[str, Array], fidget: dict[str, Array]) -> None:
        live = values["liveliness"]
        size = 1.0 if self._is_biped else 0.5
        values["sway"] += 0.028 * size * live * fidget["sway"]
        values["surge"] += 0.014 * size * live * fidget["surge"]
        values["hip_roll"] += 0.03 * live * fidget["sway"]
        values["chest_yaw"] += 0.09 * live * fidget["chest_yaw"]
        values["chest_pitch"] += 0.012 * live * fidget["breath"]
        values["head_yaw"] += 0.55 * live * fidget["head_yaw"]
        values["head_pitch"] += 0.16 * live * fidget["head_pitch"]
        values["breath"] = live * fidget["breath"]
        values["wag"] = live * fidget["wag"]

    def _trunk(
        self,
        heading: Array,
        values: dict[str, Array],
        local: dict[int, Array],
        world: dict[int, Array],
        place: dict[int, Array],
    ) -> None:
        """Pose pelvis, spine, neck, head and what hangs from them; places are relative to the root."""
        rig = self.rig
        root = euler(heading + values["hip_yaw"], values["hip_pitch"], values["hip_roll"])
        chest = euler(heading + values["chest_yaw"], values["chest_pitch"], values["chest_roll"])
        local[0] = world[0] = root
        place[0] = np.zeros((3, len(heading)))
        step = part_of(inverse_multiply(root, chest), 1.0 / len(rig.spine))
        for joint in rig.spine:
            self._hang(joint, step, local, world, place)
        gaze = euler(heading + values["head_yaw"], values["head_pitch"], np.zeros_like(heading))
        if self._is_biped:
            neck = part_of(inverse_multiply(world[rig.spine[-1]], gaze), 0.45)
        else:
            neck = euler(
                0.4 * (values["head_yaw"] - values["chest_yaw"]), values["neck_pitch"], np.zeros_like(heading)
            )
        self._hang(rig.neck, neck, local, world, place)
        local[rig.head] = inverse_multiply(world[rig.neck], gaze)
        if self._is_biped:
            for prefix, side in (("Left", 1), ("Right", -1)):
                self._arm(prefix, side, values, local)
        else:
            self._tail(values, local)

    def _hang(
        self,
        joint: int,
        turn: Array,
        local: dict[int, Array],
        world: dict[int, Array],
        place: dict[int, Array],
    ) -> None:
        parent = int(self.rig.skeleton.parents[joint])
        place[joint] = self._socket(joint, parent, world, place)
        local[joint] = turn
        world[joint] = multiply(world[parent], turn)

    def _socket(self, joint: int, parent: int, world: dict[int, Array], place: dict[int, Array]) -> Array:
        """Return (3, n) where a joint hangs from its parent, relative to the root [m]."""
        return place[parent] + rotate(world[parent], self._offsets[joint])

    def _arm(self, prefix: str, side: int, values: dict[str, Array], local: dict[int, Array]) -> None:
        swing = values["arm" if side > 0 else "right_arm"]
        bend = values["elbow" if side > 0 else "right_elbow"]
        index = self.rig.skeleton.index
        shrug = about_z(side * 0.02 * values["breath"])
        local[index(f"{prefix}Shoulder")] = multiply(about_y(-side * 0.14 * swing), shrug)
        hang = multiply(about_x(-swing), about_z(side * (values["spread"] - 0.5 * np.pi)))
        # The forearms point a little inwards.
        local[index(f"{prefix}Arm")] = multiply(hang, about_x(0.3 * bend + 0.1))
        local[index(f"{prefix}ForeArm")] = about_y(-side * bend)
        local[index(f"{prefix}Hand")] = about_z(-side * (0.08 + 0.1 * bend))

    def _tail(self, values: dict[str, Array], local: dict[int, Array]) -> None:
        for k, name in enumerate(("Tail", "Tail1", "Tail2", "Tail3")):
            pitch = values["tail_pitch"] * (0.7, 0.35, 0.1, -0.15)[k]
            yaw = (0.35 + 0.15 * k) * values["tail_yaw"] + (0.12 + 0.06 * k) * values["wag"]
            local[self.rig.skeleton.index(name)] = multiply(about_y(yaw), about_x(-pitch))

    def _paw(
        self,
        falls: Footfalls,
        time: Array,
        waves: Array,
        local: dict[int, Array],
        world: dict[int, Array],
        place: dict[int, Array],
    ) -> Array | None:
        """Swing the shoulder blade of a dog's leg and return the pitch of its foot; None for the biped."""
        if self._is_biped:
            return None
        phase = falls.phase(time)
        pitch_name = "fore_pitch" if falls.leg.is_front else "hind_pitch"
        chosen = waves[[self._names.index(pitch_name), self._names.index("shoulder")]]
        pitch, swing = _waves_at(chosen, _circle(phase), 1.0)
        if falls.leg.is_front:
            self._hang(falls.leg.socket, about_x(-swing), local, world, place)
        return pitch


def _circle(phase: Array) -> Array:
    """Return (2, n) cosine and sine of phases [cycles]."""
    angle = 2 * np.pi * phase
    return np.stack([np.cos(angle), np.sin(angle)])


def _waves_at(waves: Array, circle: Array, size: Array | float) -> Array:
    """Return (W, n) waves of coefficients (W, 5, n) at points of the circle; ``size`` scales all but the mean."""
    c, s = circle
    out = waves[:, 1] * c
    out += waves[:, 2] * s
    out += waves[:, 3] * (c * c - s * s)
    out += waves[:, 4] * (2 * c * s)
    out *= size
    out += waves[:, 0]
    return out
