"""The three modes: who drives ``World.step``.

- **Headless**: this module does, as fast as it can or paced to real time, until a number of steps, a time, a
  condition or Ctrl-C.
- **Manual**: the caller does, one ``Run.step`` at a time.
- **Standalone**: the viewer's window does.

A program is any object with some of ``start(world)``, ``update(world, dt)``, ``draw(draw)``, ``gui(ui)``; the same
program runs in all modes.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .clock import Clock
from .world import World

# Longest sleep of a paced run [s]: how late it may notice a change of its condition.
_NAP = 0.05
_HOOKS = ("start", "update", "draw", "gui")


class Mode(StrEnum):
    """Who drives the world."""

    STANDALONE = "standalone"
    HEADLESS = "headless"
    MANUAL = "manual"


@dataclass(frozen=True)
class Summary:
    """What a run did.

    Attributes:
        steps: Steps made.
        simulated_seconds: Simulated time they covered [s].
        wall_seconds: Real time they took [s].
        character_frames: Sum over the steps of the characters alive.
        system_seconds: Time spent in each system [s], by class name, in running order.
        interrupted: Whether Ctrl-C ended the run.
    """

    steps: int
    simulated_seconds: float
    wall_seconds: float
    character_frames: int
    system_seconds: dict[str, float]
    interrupted: bool

    @property
    def character_frames_per_second(self) -> float:
        """Throughput [1/s]."""
        return self.character_frames / self.wall_seconds if self.wall_seconds else 0.0

    @property
    def real_time_factor(self) -> float:
        """Simulated time per real time."""
        return self.simulated_seconds / self.wall_seconds if self.wall_seconds else 0.0


class Run:
    """A world being driven, with its program.

    Args:
        world: The world.
        program: Object with some of ``start``, ``update``, ``draw``, ``gui``; ``start`` is called now.

    Raises:
        TypeError: The program has none of them, or one that is no method.
    """

    def __init__(self, world: World, program: object | None = None) -> None:
        if program is not None and not any(hasattr(program, name) for name in _HOOKS):
            raise TypeError(f"a program must have one of the methods {', '.join(_HOOKS)}, got {program!r}")
        self.world = world
        self._update = _hook(program, "update")
        self._interrupted = False
        self._steps = 0
        self._frames = 0
        self._wall = 0.0
        start = _hook(program, "start")
        if start is not None:
            start(world)
        self._begin_time = world.time
        self._begin_systems = {type(system).__name__: system.seconds for system in world.systems}

    def step(self, dt: float | None = None) -> None:
        """Call the program's ``update(world, dt)``, then step the world.

        Args:
            dt: Simulated time of the step [s]; None takes the world's own.
        """
        begin = time.perf_counter()
        world = self.world
        if self._update is not None:
            self._update(world, 1.0 / world.rate if dt is None else dt)
        world.step(dt)
        self._steps += 1
        self._frames += world.character_count
        self._wall += time.perf_counter() - begin

    @property
    def summary(self) -> Summary:
        """What the run has done so far."""
        return Summary(
            steps=self._steps,
            simulated_seconds=self.world.time - self._begin_time,
            wall_seconds=self._wall,
            character_frames=self._frames,
            system_seconds={
                type(system).__name__: system.seconds - self._begin_systems.get(type(system).__name__, 0.0)
                for system in self.world.systems
            },
            interrupted=self._interrupted,
        )


def run(
    world: World,
    program: object | None = None,
    *,
    mode: Mode | str = Mode.HEADLESS,
    steps: int | None = None,
    until: float | Callable[[World], bool] | None = None,
    paced: bool = False,
    on_step: Callable[[World], None] | None = None,
) -> Run:
    """Drive a world.

    Args:
        world: The world.
        program: Object with any of ``start``, ``update``, ``draw``, ``gui``.
        mode: Headless returns when the run has ended; Manual returns at once and the caller calls ``step``.
        steps: Headless: end after this many steps.
        until: Headless: end when the world's time reaches this [s], or when this function of the world is true.
        paced: Headless: no faster than real time; it sleeps between the steps.
        on_step: Headless: called with the world after each step, for progress and recording.

    Returns:
        The run; ``run.summary`` tells what it did.

    Raises:
        ValueError: An unknown mode, a negative number, or an end given for a mode that has none.
        RuntimeError: Standalone, which needs the viewer.
    """
    try:
        mode = Mode(mode)
    except ValueError:
        raise ValueError(f"mode must be one of {', '.join(Mode)}, got {mode!r}") from None
    if mode is Mode.STANDALONE:
        raise RuntimeError(
            "Standalone mode needs the viewer, which this version does not have yet; use mode='headless' or 'manual'"
        )
    if mode is Mode.MANUAL:
        if steps is not None or until is not None or paced or on_step is not None:
            raise ValueError(
                "steps, until, paced and on_step must be left out in manual mode: the caller steps"
            )
        return Run(world, program)
    if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int) or steps < 0):
        raise ValueError(f"steps must be an integer >= 0, got {steps!r}")
    if until is not None and not callable(until) and not math.isfinite(until):
        raise ValueError(f"until must be a time in seconds or a function of the world, got {until}")
    driven = Run(world, program)
    with _interruptible() as interrupted:
        _headless(driven, steps, until, paced, on_step, interrupted)
    return driven


def _headless(
    driven: Run,
    steps: int | None,
    until: float | Callable[[World], bool] | None,
    paced: bool,
    on_step: Callable[[World], None] | None,
    interrupted: threading.Event,
) -> None:
    world, done = driven.world, _condition(until, driven.world.rate)
    clock = Clock(1.0 / world.rate)
    due, last = 0, time.perf_counter()
    while (steps is None or driven._steps < steps) and not done(world):
        if paced and not due:
            # Waiting on the event instead of sleeping: Ctrl-C is noticed at once.
            interrupted.wait(min(clock.until_next, _NAP))
            now = time.perf_counter()
            due, last = clock.advance(now - last), now
        if interrupted.is_set():
            driven._interrupted = True
            return
        if paced and not due:
            continue
        if paced:
            due -= 1
        driven.step()
        if on_step is not None:
            on_step(world)


def _condition(until: float | Callable[[World], bool] | None, rate: float) -> Callable[[World], bool]:
    if until is None:
        return lambda world: False
    if callable(until):
        return until
    # Half a step of tolerance: 60 steps of 1/60 s add up to a hair less or more than a second.
    end = until - 0.5 / rate
    return lambda world: world.time >= end


@contextmanager
def _interruptible() -> Iterator[threading.Event]:
    """Let the first Ctrl-C set an event, so that the step under way ends; the second one raises."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return

    def stop(number: int, frame: Any) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    previous = signal.signal(signal.SIGINT, stop)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, previous)


def _hook(program: object | None, name: str) -> Callable[..., Any] | None:
    found: Any = getattr(program, name, None)
    if found is not None and not callable(found):
        raise TypeError(f"program.{name} must be a method, got {found!r}")
    return found
