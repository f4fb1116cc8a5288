"""World: batches, a scene, systems in phases, one step."""

from __future__ import annotations

import itertools
import math
import threading
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import esper
import numpy as np

from ..io.motion import Motion
from ..io.skeleton import Skeleton
from .batch import Batch, check_count
from .components import Clips, Rig, rig_of
from .scene import Scene
from .system import Phase, Pipeline, RowStage, RowSystem, System
from .systems import HierarchySystem, KinematicsSystem, PlaybackSystem

_numbers = itertools.count()
# esper keeps the current world in module globals: worlds in several threads take turns.
_esper_lock = threading.RLock()


class World:
    """Everything that is simulated together. Several worlds can live side by side.

    Args:
        rate: Steps per second of simulated time [Hz]; ``step()`` without an argument takes ``1 / rate``.
        seed: Seed of ``rng``; the same seed and the same calls give the same bytes.
        systems: The systems to run; None takes playback, kinematics and the scene hierarchy.

    Attributes:
        rng: Random numbers for everything in this world.
        scene: Its scene nodes.
        time: Simulated time [s].
        step_count: Steps made.

    Raises:
        ValueError: The rate is not a positive number.
    """

    def __init__(self, rate: float = 60.0, seed: int = 0, systems: Iterable[System] | None = None) -> None:
        if not (math.isfinite(rate) and rate > 0):
            raise ValueError(f"rate must be a positive number of steps per second, got {rate}")
        self.rate = float(rate)
        self.rng = np.random.default_rng(seed)
        self.scene = Scene()
        self.time = 0.0
        self.step_count = 0
        self.batches: list[Batch] = []
        self._systems: list[System] = []
        self._pipeline = Pipeline()
        # esper keeps its worlds in module globals under a name; ours must never meet another one's.
        self._context = f"ai4animation-{next(_numbers)}"
        self._closer = weakref.finalize(self, _delete_context, self._context)
        self._enter()
        esper.add_processor(self._pipeline)
        for system in (
            (PlaybackSystem(), KinematicsSystem(), HierarchySystem()) if systems is None else systems
        ):
            self.add_system(system)

    def spawn(
        self,
        source: Motion | Sequence[Motion] | Skeleton,
        count: int = 1,
        *,
        capacity: int | None = None,
        **values: Any,
    ) -> Batch:
        """Make a batch of characters.

        Args:
            source: The clips they play (one or several of one skeleton), or a skeleton without clips.
            count: How many characters.
            capacity: Rows to reserve; more can be spawned up to it without moving memory. None takes count.
            **values: Where and how they start: see ``Batch.spawn``.

        Returns:
            The batch; its poses are computed by the next ``step``, or at once by ``evaluate``.

        Raises:
            TypeError: The source is something else, a path for example.
            ValueError: The clips do not share a skeleton, or a value does not fit.
        """
        count = check_count(count)
        if capacity is not None and check_count(capacity) < count:
            raise ValueError(f"capacity must be at least count ({count}), got {capacity}")
        if isinstance(source, Skeleton):
            rig, clips = Rig(source, np.array(source.roots, np.int32)), None
        else:
            motions = [source] if isinstance(source, Motion) else list(source)
            if not all(isinstance(motion, Motion) for motion in motions):
                raise TypeError(
                    f"source must be a Motion, several, or a Skeleton, got {source!r}; load files first"
                )
            rig = rig_of(motions)
            clips = Clips(rig, motions)
        with _esper_lock:
            self._enter()
            batch = Batch(
                self, esper.create_entity(), rig, clips, capacity if capacity is not None else count
            )
            try:
                batch.spawn(count, **values)
            except BaseException:
                esper.delete_entity(batch.entity, immediate=True)
                raise
            self.batches.append(batch)
        return batch

    def remove(self, batch: Batch) -> None:
        """Remove a batch with all its characters.

        Raises:
            ValueError: It is not in this world.
        """
        if batch not in self.batches:
            raise ValueError("the batch must live in this world")
        with _esper_lock:
            self._enter()
            esper.delete_entity(batch.entity, immediate=True)
            self.batches.remove(batch)

    @property
    def systems(self) -> tuple[System, ...]:
        """The systems in the order they run."""
        return tuple(self._systems)

    def add_system(self, system: System) -> System:
        """Add a system; it runs in its phase, after the systems of that phase that are there already.

        Raises:
            TypeError: It is no ``System`` or declares no phase.
            ValueError: A system of its class is there already.
        """
        if not isinstance(system, System):
            raise TypeError(f"a system must be a System, got {system!r}")
        if not isinstance(getattr(type(system), "phase", None), Phase):
            raise TypeError(
                f"{type(system).__name__} must declare phase, one of {', '.join(Phase.__members__)}"
            )
        if "world" in vars(system):
            raise ValueError(
                f"a system must be in one world, got a {type(system).__name__} that is in one already"
            )
        if any(type(other) is type(system) for other in self._systems):
            raise ValueError(f"a world must have one system of a class, got {type(system).__name__} twice")
        system.world = weakref.proxy(self)
        self._systems.append(system)
        self._systems.sort(key=lambda each: each.phase)
        self._register()
        return system

    def remove_system(self, kind: type[System]) -> None:
        """Remove the system of a class.

        Raises:
            KeyError: There is none.
        """
        found = [system for system in self._systems if type(system) is kind]
        if not found:
            raise KeyError(
                f"no system {kind.__name__}; the world has {', '.join(type(s).__name__ for s in self._systems)}"
            )
        self._systems.remove(found[0])
        del found[0].world
        self._register()

    def system(self, kind: type[System]) -> System:
        """Return the system of a class.

        Raises:
            KeyError: There is none.
        """
        for system in self._systems:
            if type(system) is kind:
                return system
        raise KeyError(
            f"no system {kind.__name__}; the world has {', '.join(type(s).__name__ for s in self._systems)}"
        )

    def step(self, dt: float | None = None) -> None:
        """Run all systems once and move time on.

        Args:
            dt: Simulated time of the step [s]; None takes ``1 / rate``.

        Raises:
            ValueError: dt is negative or not a number.
        """
        if dt is None:
            dt = 1.0 / self.rate
        elif not (math.isfinite(dt) and dt >= 0):
            raise ValueError(f"dt must be a number of seconds >= 0, got {dt}")
        # A plain float: Numba compiles a kernel anew for an int or a NumPy scalar.
        dt = float(dt)
        with _esper_lock:
            self._enter()
            esper.process(dt)
        self.time += dt
        self.step_count += 1

    def evaluate(self) -> None:
        """Compute all poses for the present time, without moving it on."""
        with _esper_lock:
            self._enter()
            esper.process(0.0)

    @property
    def character_count(self) -> int:
        """Number of characters in all batches."""
        return sum(batch.count for batch in self.batches)

    def describe(self) -> str:
        """Return a table of the systems in order, with the number of batches that have what a row system needs."""
        rows = [("phase", "system", "reads", "writes", "batches")]
        for system in self._systems:
            reads = ", ".join(kind.__name__ for kind in system.reads)
            writes = ", ".join(kind.__name__ for kind in system.writes)
            served = "-"
            if isinstance(system, RowSystem):
                served = str(sum(batch.components.keys() >= system.needs for batch in self.batches))
            rows.append((system.phase.name, type(system).__name__, reads, writes, served))
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        lines.insert(1, "  ".join("-" * width for width in widths))
        for number, batch in enumerate(self.batches):
            table = batch.table
            lines.append(
                f"batch {number}: {table.count} of {table.capacity} rows, {batch.skeleton.joint_count} joints, "
                f"columns {', '.join(column.name for column in table.columns)}"
            )
        return "\n".join(lines)

    def close(self) -> None:
        """Forget all batches and systems and free the world's esper context."""
        self.batches.clear()
        self._systems.clear()
        self._closer()

    def _enter(self) -> None:
        if not self._closer.alive:
            raise RuntimeError("the world was closed")
        esper.switch_world(self._context)

    def _register(self) -> None:
        """Put the systems in order into the pipeline, row systems that follow each other as one stage."""
        stages: list[esper.Processor] = []
        rows: list[RowSystem] = []
        for system in self._systems:
            if isinstance(system, RowSystem):
                if not rows:
                    stages.append(RowStage(weakref.proxy(self), rows))
                rows.append(system)
            else:
                stages.append(system)
                rows = []
        self._pipeline.stages = stages

    def _attach(self, entity: int, component: Any) -> None:
        with _esper_lock:
            self._enter()
            esper.add_component(entity, component)

    def __repr__(self) -> str:
        return (
            f"World({self.character_count} characters, {len(self.batches)} batches, time {self.time:.3f} s)"
        )


def _delete_context(name: str) -> None:
    if name not in esper.list_worlds():
        return
    if esper.current_world == name:
        esper.switch_world("default")
    esper.delete_world(name)
