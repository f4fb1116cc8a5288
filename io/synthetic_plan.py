"""From segments to a continuous plan: blended gait vectors, the root's path, the phase and every footfall.

Nothing here depends on a frame rate: the path is integrated on a fixed grid and read between its points by cubic
Hermite interpolation, the rest is in closed form. Times are seconds from the first frame. The plan reaches beyond
both ends, so that the feet know where they come from and where they go.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .synthetic_gaits import NUMBERS, Vector, row
from .synthetic_jump import JumpShape, jump_shape
from .synthetic_math import Array, smoothstep, smoothstep_slope, turned
from .synthetic_rigs import Leg, Rig, rig

STEP = 1.0 / 120.0
MARGIN = 3.5
_ACCELERATION = 5.0  # m/s^2, peak of a change of speed
_TURN_ACCELERATION = 6.0  # rad/s^2
_MIN_BLEND = 0.75
_SIDE, _FORWARD, _TURN, _CADENCE, _DUTY, _LAND = (NUMBERS.index(n) for n in NUMBERS[:6])


@dataclass(frozen=True)
class Stage:
    """A stretch of one gait: what the timeline is made of."""

    gait: str
    seconds: float
    vector: Vector
    stands: bool
    sits: bool = False
    jump_travel: tuple[float, float] = (0.0, 0.0)
    """Way of one jump to the left and forward [m]."""


def blend_seconds(before: Vector, after: Vector) -> float:
    """Return how long a transition must take [s] to keep accelerations low and the legs' phases in order."""
    change = np.abs(after - before)
    speed = math.hypot(change[_SIDE], change[_FORWARD])
    cadence = 0.35 * min(before[_CADENCE], after[_CADENCE])
    phase = max(float(change[row(f"offset_{k}")].max()) for k in (1, 2, 3))
    height = abs(float(change[row("height")]))
    return max(
        _MIN_BLEND,
        1.875 * speed / _ACCELERATION,
        1.875 * float(change[_TURN]) / _TURN_ACCELERATION,
        1.875 * phase / cadence,
        1.875 * float(change[_DUTY]) / cadence,
        math.sqrt(5.8 * height),
    )


class Timeline:
    """The stages one after the other, each blended in from the one before.

    Args:
        character: Its name.
        stages: At least one; each but the first longer than its transition.
        seconds: Time of the last frame.
    """

    def __init__(self, character: str, stages: Sequence[Stage], seconds: float) -> None:
        self.rig: Rig = rig(character)
        self.jump: JumpShape = jump_shape(character)
        self._vectors = np.stack([stage.vector for stage in stages], axis=1)
        self._before = np.concatenate([self._vectors[:, :1], self._vectors[:, :-1]], axis=1)
        lengths = np.array([stage.seconds for stage in stages])
        self.starts = np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
        self.blends = np.array(
            [
                blend_seconds(self._before[:, k], self._vectors[:, k]) if k else _MIN_BLEND
                for k in range(len(stages))
            ]
        )
        self.first, self.last = -MARGIN, seconds + MARGIN
        count = math.ceil((self.last - self.first) / STEP) + 1
        self._grid = self.first + STEP * np.arange(count, dtype=np.float64)
        self._integrate()
        self._stand(stages)
        self._place_jumps(stages)

    def vector(self, time: Array, rows: int | slice | NDArray[np.intp] = slice(None)) -> Array:
        """Return the blended rows of the gait vectors, (..., n) at n times."""
        stage, s = self._stage(time)
        weight = smoothstep(s)
        before, after = self._before[rows][..., stage], self._vectors[rows][..., stage]
        return before + (after - before) * weight

    def acceleration(self, time: Array) -> tuple[Array, Array]:
        """Return the change of the speeds to the left and forward [m/s^2]."""
        stage, s = self._stage(time)
        slope = smoothstep_slope(s) / self.blends[stage]
        change = (self._vectors - self._before)[[_SIDE, _FORWARD]][:, stage] * slope
        return change[0], change[1]

    def _stage(self, time: Array) -> tuple[NDArray[np.intp], Array]:
        stage = np.maximum(np.searchsorted(self.starts, time, "right") - 1, 0)
        s = (time - self.starts[stage]) / self.blends[stage]
        return stage, np.where(stage == 0, 1.0, s)

    def _integrate(self) -> None:
        """Integrate heading, path and unhalted phase by Simpson's rule."""
        rows = np.array([_SIDE, _FORWARD, _TURN, _CADENCE])
        side, forward, turn, cadence = self.vector(self._grid, rows)
        side_m, forward_m, turn_m, cadence_m = self.vector(self._grid[:-1] + 0.5 * STEP, rows)
        heading = _integral(turn, turn_m)
        heading -= np.interp(0.0, self._grid, heading)
        heading_m = 0.5 * (heading[1:] + heading[:-1]) + STEP / 8 * (turn[:-1] - turn[1:])
        x_slope, z_slope = turned(side, forward, heading)
        x_mid, z_mid = turned(side_m, forward_m, heading_m)
        self._values = np.stack(
            [
                heading,
                _integral(x_slope, x_mid),
                _integral(z_slope, z_mid),
                _integral(cadence, cadence_m),
            ]
        )
        self._slopes = np.stack([turn, x_slope, z_slope, cadence])
        # The first frame is at the origin, at phase 0, and faces +Z (all but the last bits of it).
        self._values -= self._read(np.zeros(1), slice(None))

    def _read(self, time: Array, rows: slice | int) -> Array:
        place = (np.clip(time, self.first, self.last) - self.first) / STEP
        i = np.minimum(place.astype(np.intp), len(self._grid) - 2)
        x = place - i
        values, slopes = self._values[rows], self._slopes[rows]
        p, q = values[..., i], values[..., i + 1]
        u, v = STEP * slopes[..., i], STEP * slopes[..., i + 1]
        return p + x * (u + x * (3 * (q - p) - 2 * u - v + x * (2 * (p - q) + u + v)))

    def heading(self, time: Array) -> Array:
        """Return the direction the character faces [rad], unwrapped, positive to the left."""
        return self._read(time, 0)

    def path(self, time: Array) -> Array:
        """Return (2, n) x and z [m] of the point above which the root swings."""
        return self._read(time, slice(1, 3)) + self.jumped(time, None)

    def phase(self, time: Array) -> Array:
        """Return the gait's phase [cycles]; it halts while the character stands."""
        halted = np.interp(time, self._halt_times, self._halt_values)
        return self._read(time, 3) - halted

    def _stand(self, stages: Sequence[Stage]) -> None:
        """Halt the phase in the stages that stand, as soon as all feet are down."""
        times, values = [self.first], [0.0]
        self.stands: list[tuple[float, float] | None] = []
        ends = [*self.starts[1:].tolist(), self.last]
        halted, still = 0.0, False
        for k, (stage, end) in enumerate(zip(stages, ends, strict=True)):
            if not stage.stands:
                self.stands.append(None)
                still = False
                continue
            if k == 0:
                begin = self.first
                # Shift the phase so that the stand's own phase holds from the start.
                self._values[3] += _stand_phase(stage.vector, float(self._values[3, 0])) - self._values[3, 0]
            elif still and stage.sits == stages[k - 1].sits:
                begin = float(self.starts[k])
            else:
                blended = float(self.starts[k] + self.blends[k])
                phase = float(self._read(np.array([blended]), 3)[0]) - halted
                begin = blended + (_stand_phase(stage.vector, phase) - phase) / float(stage.vector[_CADENCE])
            if begin >= end:
                self.stands.append(None)
                still = False
                continue
            span = self._read(np.array([begin, end]), 3)
            # The cadence of two stands in a row is one and the same, so the phase runs evenly between them.
            times += [begin, end]
            values += [halted, halted + float(span[1] - span[0])]
            halted, still = values[-1], True
            self.stands.append((begin, end))
        self._halt_times, self._halt_values = np.array(times), np.array(values)

    def _place_jumps(self, stages: Sequence[Stage]) -> None:
        starts: list[float] = []
        ways: list[tuple[float, float]] = []
        for k, stage in enumerate(stages):
            span = self.stands[k]
            if stage.gait != "jump" or span is None:
                continue
            begin = max(span[0], float(self.starts[k]) + (float(self.blends[k]) if k else 0.0))
            end = float(self.starts[k]) + stage.seconds
            count = int((end - begin + 1e-9) / self.jump.period)
            angle = float(self.heading(np.array([begin]))[0])
            x, z = turned(*stage.jump_travel, angle)
            starts += [begin + i * self.jump.period for i in range(count)]
            ways += [(float(x), float(z))] * count
        self.jump_starts = np.array(starts)
        self._jump_ways = np.array(ways).reshape(-1, 2).T
        self._jump_sums = np.cumsum(self._jump_ways, axis=1) - self._jump_ways

    def jump_time(self, time: Array) -> tuple[NDArray[np.intp], Array]:
        """Return the jump that runs or ran last, and the time since its begin; time 0 before the first."""
        jump = np.maximum(np.searchsorted(self.jump_starts, time, "right") - 1, 0)
        return jump, np.maximum(time - self.jump_starts[jump], 0.0)

    def jumped(self, time: Array, pair: int | None) -> Array:
        """Return (2, n) the way made by jumps [m]: of the feet of a pair, or of the root where it is None."""
        if not len(self.jump_starts):
            return np.zeros((2, *np.shape(time)))
        jump, local = self.jump_time(time)
        share = self.jump.body_travel(local) if pair is None else self.jump.foot_travel(local, pair)
        return self._jump_sums[:, jump] + self._jump_ways[:, jump] * share


class Footfalls:
    """Where and when one leg stands, for every cycle.

    The foot stands from leg phase k to ``k + duties[k]`` and swings until k + 1. Its place is that below the root at
    the middle of the stance, as the root will be there.

    Args:
        timeline: The plan.
        number: Index of the leg.
        rng: Draws the jitter of the places.
        jitter: Standard deviation of the places [m].
    """

    def __init__(self, timeline: Timeline, number: int, rng: np.random.Generator, jitter: float) -> None:
        self.leg: Leg = timeline.rig.legs[number]
        self.pair = int(self.leg.is_front)
        self._timeline = timeline
        self._offset = row(f"offset_{number}") if number else None
        grid = np.arange(timeline.first, timeline.last, 1.0 / 60.0)
        phase = self.phase(grid)
        duty = timeline.vector(grid, _DUTY)
        self.cycle = math.floor(phase[0])
        cycles = np.arange(self.cycle, math.floor(phase[-1]) + 2)
        # The first time that the phase passes the duty: no foot that has lifted returns when the duty grows again.
        self.strikes = strikes = np.interp(cycles, np.maximum.accumulate(phase), grid)
        lifts = np.interp(cycles, np.maximum.accumulate(phase - duty), grid)
        # Between a slow and a fast gait a foot would stand for as long as in the one while the body moves as fast as
        # in the other: it lifts before the body has moved on too far.
        side, forward, turn = timeline.vector(grid, np.array([_SIDE, _FORWARD, _TURN]))
        speed = np.hypot(side + turn * self.leg.place[1], forward - turn * self.leg.place[0])
        travel = np.cumsum(speed) / 60.0
        longest = np.interp(strikes, grid, travel) + timeline.rig.longest_stance
        lifts = np.where(longest < travel[-1], np.minimum(lifts, np.interp(longest, travel, grid)), lifts)
        self.lifts = lifts
        shares = np.where(lifts < grid[-1], self.phase(lifts) - cycles, duty[-1])
        self.duties = np.clip(shares, 0.06, 0.96)
        halts = np.array([span[0] for span in timeline.stands if span is not None] + [math.inf])
        halt = halts[np.searchsorted(halts, strikes)]
        middles = np.where(halt <= lifts, halt, 0.5 * (strikes + lifts))
        self._place(middles, rng.standard_normal((3, len(cycles))) * jitter)
        # When speeding up, the middle of the way is not where the root is at half the time.
        begin, end = timeline.path(strikes), timeline.path(lifts)
        way = end - begin
        late = ((0.5 * (begin + end) - timeline.path(middles)) * way).sum(axis=0)
        late /= np.maximum((way * way).sum(axis=0), 1e-9)
        self.places += np.where(halt <= lifts, 0.0, late * way)

    def phase(self, time: Array) -> Array:
        """Return the leg's phase [cycles]."""
        phase = self._timeline.phase(time)
        return phase if self._offset is None else phase + self._timeline.vector(time, self._offset)

    def _place(self, times: Array, jitter: Array) -> None:
        timeline, leg = self._timeline, self.leg
        numbers = timeline.vector(times, slice(0, len(NUMBERS)))
        side = leg.place[0] + leg.side * numbers[row("width")] + jitter[0]
        ahead = leg.place[1] + numbers[row("fore")] + jitter[1]
        if not leg.is_front:
            ahead = ahead + numbers[row("hind_fore")]
        self.yaws = timeline.heading(times) + 3.0 * jitter[2]
        x, z = turned(side, ahead, timeline.heading(times))
        self.places = timeline.path(times) + np.stack([x, z]) - timeline.jumped(times, self.pair)


def stand_wait(vector: Vector) -> float:
    """Return how long a halt may have to wait for the last foot [s]."""
    return 1.0 / (_beats(vector) * float(vector[_CADENCE]))


def _beats(vector: Vector) -> int:
    """Return the number of different phases among the legs."""
    return len({0.0, *(float(vector[row(f"offset_{k}")]) for k in (1, 2, 3))})


def _stand_phase(vector: Vector, phase: float) -> float:
    """Return the first phase from the one given at which every foot is down and none has just landed."""
    duty, land = float(vector[_DUTY]), float(vector[_LAND])
    beats = _beats(vector)
    middle = 0.5 * (land + duty - (beats - 1) / beats)
    return math.ceil((phase - middle) * beats - 1e-9) / beats + middle


def _integral(values: Array, middles: Array) -> Array:
    steps = STEP / 6 * (values[:-1] + 4 * middles + values[1:])
    return np.concatenate([[0.0], np.cumsum(steps)])
