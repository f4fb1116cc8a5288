"""What a system is: a phase, what it reads, what it writes, one method.

A ``System`` runs once a step and may do anything. A ``RowSystem`` computes rows that do not depend on each other;
the world runs consecutive ones block by block, all of them over one block before the next, so that what one writes
the other finds in the cache, and splits the blocks over threads. At a million characters of 24 joints that takes a
tenth off a step of two systems, and more with each system that joins them (bench_sample.py).
"""

from __future__ import annotations

import threading
import time
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import esper

from ..kernels.threads import run_rows

if TYPE_CHECKING:
    from .batch import Batch
    from .world import World

# Rows of a block: the poses of 24 joints fill about a core's second-level cache.
BLOCK = 4096


class Phase(IntEnum):
    """When in a step a system runs. Within a phase the order is that of ``World.add_system``."""

    INPUT = 0
    ANIMATE = 1
    SOLVE = 2
    RENDER = 3


class System(esper.Processor):
    """Base of all systems: subclass, declare the three class attributes, write ``run``.

    Attributes:
        phase: When in a step it runs.
        reads: Component types it reads.
        writes: Component types it writes.
        world: The world it was added to.
        nanoseconds: Time spent in it since the world began, summed over threads.
    """

    phase: ClassVar[Phase]
    reads: ClassVar[tuple[type, ...]] = ()
    writes: ClassVar[tuple[type, ...]] = ()
    world: World
    nanoseconds = 0

    def run(self, dt: float) -> None:
        """Do the system's work for one step of ``dt`` seconds."""
        raise NotImplementedError(f"{type(self).__name__} must define run(dt)")

    def process(self, dt: float) -> None:
        """Run and keep the time it took."""
        start = time.perf_counter_ns()
        self.run(dt)
        self.nanoseconds += time.perf_counter_ns() - start

    @property
    def seconds(self) -> float:
        """Time spent in the system since the world began, summed over threads [s]."""
        return self.nanoseconds * 1e-9


class RowSystem(System):
    """Base of the systems whose rows do not depend on each other: subclass and write ``run_rows``.

    It runs on every batch that has all components it reads and writes.
    """

    def run_rows(self, batch: Batch, dt: float, start: int, stop: int) -> None:
        """Do the system's work for the rows ``start <= row < stop`` of a batch.

        Called from several threads: change these rows of columns, not the world.
        """
        raise NotImplementedError(f"{type(self).__name__} must define run_rows(batch, dt, start, stop)")

    @cached_property
    def needs(self) -> frozenset[type]:
        """The components a batch must have."""
        return frozenset((*self.reads, *self.writes))

    def run(self, dt: float) -> None:
        """Run alone on all rows of the world."""
        RowStage(self.world, [self]).process(dt)


class Pipeline(esper.Processor):
    """The processors of a world in the order they run; the one processor that esper knows of."""

    def __init__(self) -> None:
        self.stages: list[esper.Processor] = []

    def process(self, dt: float) -> None:
        """Run all stages; esper calls this."""
        for stage in tuple(self.stages):
            stage.process(dt)


class RowStage(esper.Processor):
    """Row systems that follow each other, run block by block."""

    def __init__(self, world: World, systems: list[RowSystem]) -> None:
        self.world = world
        self.systems = systems
        self._lock = threading.Lock()

    def process(self, dt: float) -> None:
        """Run the systems on every batch that has their components."""
        # Copied: a system may add or remove batches while it runs.
        for batch in tuple(self.world.batches):
            systems = [system for system in self.systems if batch.components.keys() >= system.needs]
            if systems:
                run_rows(self._run, (batch, systems, dt), batch.count, (), columns=batch.skeleton.joint_count)

    def _run(self, batch: Batch, systems: list[RowSystem], dt: float, start: int, stop: int) -> None:
        spent = [0] * len(systems)
        for first in range(start, stop, BLOCK):
            last = min(first + BLOCK, stop)
            for place, system in enumerate(systems):
                begin = time.perf_counter_ns()
                system.run_rows(batch, dt, first, last)
                spent[place] += time.perf_counter_ns() - begin
        with self._lock:
            for system, nanoseconds in zip(systems, spent, strict=True):
                system.nanoseconds += nanoseconds
