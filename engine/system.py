"""What a system is: a phase, what it reads, what it writes, one method."""

from __future__ import annotations

import time
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

import esper

if TYPE_CHECKING:
    from .world import World


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
        seconds: Time spent in ``run`` since the world began [s].
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
        """Run and keep the time it took; esper calls this."""
        start = time.perf_counter_ns()
        self.run(dt)
        self.nanoseconds += time.perf_counter_ns() - start

    @property
    def seconds(self) -> float:
        """Time spent in ``run`` since the world began [s]."""
        return self.nanoseconds * 1e-9
