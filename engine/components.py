"""Components: named groups of columns, and what a batch shares.

A component's columns live in its batch's table. Shapes: J joints, T joints that move relative to their parent,
N rows. A component of your own is a subclass with ``column(...)`` fields::

    class Health(Component):
        health = column(unit="1", fill=100.0)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ..io.motion import Motion, slots_of
from ..io.skeleton import Skeleton
from .table import Column, Table


@dataclass(frozen=True)
class Field:
    """Declaration of one column: shape symbols or sizes, type, value of a new row, unit."""

    shape: tuple[str | int, ...]
    dtype: DTypeLike
    fill: ArrayLike
    unit: str


def column(*shape: str | int, dtype: DTypeLike = np.float32, fill: ArrayLike = 0, unit: str = "1") -> Column:
    """Declare a column of a component; on an instance the name gives the ``Column``.

    Args:
        shape: What a row holds: numbers, or "J" and "T" for the batch's joint counts.
        dtype: float32 or int32.
        fill: Value of a new row.
        unit: Unit, for people.
    """
    return cast(Column, Field(shape, dtype, fill, unit))


class Component:
    """A group of columns in a batch's table; the columns are attributes of the instance."""

    fields: ClassVar[dict[str, Field]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.fields = {**cls.fields, **{k: v for k, v in vars(cls).items() if isinstance(v, Field)}}
        for name, field in cls.fields.items():
            if name in ("table", "count", "fields"):
                raise ValueError(
                    f"a column of {cls.__name__} must not be called {name!r}, which every component has"
                )
            unknown = [size for size in field.shape if isinstance(size, str) and size not in ("J", "T")]
            if unknown:
                raise ValueError(
                    f"shape of {cls.__name__}.{name} must be numbers, 'J' or 'T', got {unknown[0]!r}"
                )
            if np.dtype(field.dtype) not in (np.float32, np.int32):
                raise ValueError(
                    f"{cls.__name__}.{name} must be float32 or int32, got {np.dtype(field.dtype)}"
                )

    def __init__(self, table: Table, sizes: Mapping[str, int]) -> None:
        self.table = table
        shapes = {
            name: [sizes[size] if isinstance(size, str) else size for size in field.shape]
            for name, field in self.fields.items()
        }
        for name, field in self.fields.items():
            made = table.add_column(name, shapes[name], dtype=field.dtype, fill=field.fill, unit=field.unit)
            setattr(self, name, made)

    @property
    def count(self) -> int:
        """Number of living rows N."""
        return self.table.count


IDENTITY = (0.0, 0.0, 0.0, 1.0)


class Origin(Component):
    """Where each row stands in the world; its roots hang from here.

    origin_positions  (3, N)  f4  m  world space
    origin_rotations  (4, N)  f4  1  unit quaternion x y z w
    """

    origin_positions = column(3, unit="m")
    origin_rotations = column(4, fill=IDENTITY)


class LocalPose(Component):
    """The pose, relative to the parents: the source of truth.

    local_positions  (T, 3, N)  f4  m  joints that move relative to their parent
    local_rotations  (J, 4, N)  f4  1  unit quaternions x y z w
    """

    local_positions = column("T", 3, unit="m")
    local_rotations = column("J", 4, fill=IDENTITY)


class WorldPose(Component):
    """The pose in world space, derived from ``LocalPose`` and ``Origin`` each step.

    world_positions  (J, 3, N)  f4  m  world space
    world_rotations  (J, 4, N)  f4  1  world space, x y z w
    """

    world_positions = column("J", 3, unit="m")
    world_rotations = column("J", 4, fill=IDENTITY)


class Playback(Component):
    """Which clip each row plays, and where in it.

    clip         (N,)  i4  1  clip of the batch
    time         (N,)  f4  s  playback time
    time_low     (N,)  f4  s  what float32 could not hold of it; leave it alone or set it to 0
    speed        (N,)  f4  1  1 is the recorded speed, negative plays backwards
    loop         (N,)  i4  1  1 wraps at the clip's duration, 0 holds the last frame
    frame        (N,)  i4  1  frame before the time, on the common frame axis of the batch's clips
    next_frame   (N,)  i4  1  frame after it
    weight       (N,)  f4  1  weight of the frame after
    """

    clip = column(dtype=np.int32)
    time = column(unit="s")
    time_low = column(unit="s")
    speed = column(fill=1.0)
    loop = column(dtype=np.int32, fill=1)
    frame = column(dtype=np.int32)
    next_frame = column(dtype=np.int32)
    weight = column()


class Rig:
    """What all rows of a batch share: the skeleton and which joints move relative to their parent.

    Attributes:
        skeleton: J joints.
        translated: (T,) int32, joints with a position per row.
        slots: (J,) int32, index into ``local_positions``, -1 for a joint at its offset.
        parents: (J,) int32, the skeleton's, as kernels take it.
        offsets: (J, 3) float32 [m], the skeleton's.
    """

    def __init__(self, skeleton: Skeleton, translated: NDArray[np.int32]) -> None:
        self.skeleton = skeleton
        self.translated = translated
        self.slots = slots_of(translated, skeleton.joint_count)
        # Copies: Numba compiles a second version of a kernel for read-only arrays.
        self.parents = skeleton.parents.copy()
        self.offsets = skeleton.offsets.copy()


class Clips:
    """The clips of a batch, one after the other on the frame axis of one set of columns.

    Attributes:
        names: K clip names.
        firsts: (K,) int32, first frame of each clip.
        counts: (K,) int32, frames of each clip.
        rates: (K,) float32 [Hz].
        positions: (T, 3, F) float32 [m], local positions of the rig's translated joints.
        rotations: (J, 4, F) float32, local rotations.
    """

    def __init__(self, rig: Rig, motions: Sequence[Motion]) -> None:
        self.names = tuple(motion.name for motion in motions)
        self.counts = np.array([motion.frame_count for motion in motions], np.int32)
        self.firsts = np.cumsum([0, *self.counts[:-1]], dtype=np.int32)
        self.rates = np.array([motion.framerate for motion in motions], np.float32)
        if len(motions) == 1 and np.array_equal(motions[0].translated, rig.translated):
            self.rotations, self.positions = (
                motions[0].local_rotation_column,
                motions[0].local_position_column,
            )
            return
        frames = int(self.counts.sum())
        self.rotations = np.empty((rig.skeleton.joint_count, 4, frames), np.float32)
        self.positions = np.empty((len(rig.translated), 3, frames), np.float32)
        for motion, first in zip(motions, self.firsts, strict=True):
            span = slice(first, first + motion.frame_count)
            self.rotations[:, :, span] = motion.local_rotation_column
            self.positions[:, :, span] = motion.local_positions[:, rig.translated].transpose(1, 2, 0)

    @property
    def durations(self) -> NDArray[np.float64]:
        """(K,) time from the first to the last frame of each clip [s]."""
        return np.maximum(self.counts - 1, 0) / self.rates.astype(np.float64)


def rig_of(motions: Sequence[Motion]) -> Rig:
    """Return the rig that can play all motions: their skeleton, and every joint that moves in one of them.

    A joint whose offset differs between the motions counts as moving.

    Raises:
        ValueError: There are no motions, one has no frames, or they differ in joint names or parents.
    """
    if not motions:
        raise ValueError("clips must hold at least one motion, got none")
    first = motions[0]
    moving = np.zeros(first.joint_count, bool)
    for motion in motions:
        if motion.frame_count == 0:
            raise ValueError(f"clips must have at least one frame, got {motion.name!r} with none")
        if not motion.skeleton.same_tree(first.skeleton):
            raise ValueError(
                f"clips of one batch must share joint names and parents, got {_difference(motion, first)}; "
                "spawn one batch per skeleton"
            )
        moving[motion.translated] = True
        moving |= (motion.skeleton.offsets != first.skeleton.offsets).any(axis=1)
    return Rig(first.skeleton, np.flatnonzero(moving).astype(np.int32))


def _difference(motion: Motion, first: Motion) -> str:
    a, b = motion.skeleton.names, first.skeleton.names
    if len(a) != len(b):
        return f"{motion.name!r} with {len(a)} joints and {first.name!r} with {len(b)}"
    for j, (mine, other) in enumerate(zip(a, b, strict=True)):
        if mine != other:
            return f"joint {j} named {mine!r} in {motion.name!r} and {other!r} in {first.name!r}"
    return f"other parents in {motion.name!r} than in {first.name!r}"
