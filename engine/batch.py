"""Batch: the rows that share a skeleton, one esper entity in a world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..io.skeleton import Skeleton
from .components import Clips, Component, LocalPose, Origin, Playback, Rig, WorldPose
from .table import Column, Table

if TYPE_CHECKING:
    from .world import World

_Component = TypeVar("_Component")
_UP = np.array([0.0, 1.0, 0.0], np.float32)


class Batch:
    """Characters of one skeleton: rows of one table.

    ``batch[LocalPose]`` is a component, ``batch.column("world_positions")`` a column by name.

    Attributes:
        world: The world it lives in.
        entity: Its esper entity.
        table: Its rows.
        components: What it has, by type; shared ones (``Rig``, ``Clips``) included.
    """

    def __init__(self, world: World, entity: int, rig: Rig, clips: Clips | None, capacity: int) -> None:
        self.world = world
        self.entity = entity
        self.table = Table(capacity)
        self._sizes = {"J": rig.skeleton.joint_count, "T": len(rig.translated)}
        self.components: dict[type, Any] = {}
        self._attach(rig)
        for kind in (Origin, LocalPose, WorldPose):
            self.add(kind)
        if clips is not None:
            self._attach(clips)
            self.add(Playback)

    def add(self, kind: type[_Component]) -> _Component:
        """Add a component of your own: its columns join the table.

        Raises:
            TypeError: It is no subclass of ``Component``.
            ValueError: The batch has it already, or one of its column names is taken.
        """
        if not (isinstance(kind, type) and issubclass(kind, Component)):
            raise TypeError(f"a component must be a subclass of Component, got {kind!r}")
        if kind in self.components:
            raise ValueError(f"a batch must have each component once, got {kind.__name__} twice")
        taken = [name for name in kind.fields if name in self.table]
        if taken:
            raise ValueError(
                f"{kind.__name__} must use free column names, got {taken[0]!r} which the batch has"
            )
        return self._attach(kind(self.table, self._sizes))

    def _attach(self, component: _Component) -> _Component:
        self.components[type(component)] = component
        self.world._attach(self.entity, component)
        return component

    def __getitem__(self, kind: type[_Component]) -> _Component:
        if kind not in self.components:
            known = ", ".join(each.__name__ for each in self.components)
            raise KeyError(f"the batch has no {getattr(kind, '__name__', kind)}; it has {known}")
        return self.components[kind]

    def __contains__(self, kind: type) -> bool:
        return kind in self.components

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton all rows share."""
        return self[Rig].skeleton

    @property
    def count(self) -> int:
        """Number of living rows N."""
        return self.table.count

    def column(self, name: str) -> Column:
        """Return a column of the batch by name; ``.view()`` has the row first, ``.data`` is what kernels take."""
        return self.table[name]

    def spawn(
        self,
        count: int = 1,
        *,
        clip: ArrayLike | str | None = None,
        time: ArrayLike = 0.0,
        speed: ArrayLike = 1.0,
        loop: ArrayLike = True,
        position: ArrayLike = (0.0, 0.0, 0.0),
        yaw: ArrayLike = 0.0,
    ) -> NDArray[np.int64]:
        """Add characters.

        Args:
            count: How many.
            clip: Index of the clip, one or one a row; a clip's name; None deals them out in turn.
            time: Playback time [s], one or (count,).
            speed: Playback speed, one or (count,).
            loop: Whether the clip wraps, one or (count,).
            position: (3,) or (count, 3) [m], where the characters stand.
            yaw: Heading [rad] about +Y from +Z towards +X, one or (count,).

        Returns:
            (count,) handles, for ``despawn`` and ``table.rows``.

        Raises:
            ValueError: A value does not fit, or a clip does not exist. Nothing is spawned.
            KeyError: No clip has that name; the message lists those there are.
        """
        count = check_count(count)
        places = _values("position", position, (count, 3))
        headings = _values("yaw", yaw, (count,))
        playing = None
        if Playback in self:
            playing = {
                "clip": self._clip_indices(clip, count),
                "time": _values("time", time, (count,)),
                "speed": _values("speed", speed, (count,)),
                "loop": np.broadcast_to(np.asarray(loop, bool), (count,)),
            }
        elif clip is not None or np.any(np.not_equal(time, 0)) or np.any(np.not_equal(speed, 1)):
            raise ValueError("clip, time and speed must be left out for a batch without clips")
        handles = self.table.spawn(count)
        rows = slice(self.count - count, self.count)
        origin = self[Origin]
        origin.origin_positions.data[:, rows] = places.T
        origin.origin_rotations.data[:3, rows] = _UP[:, None] * np.sin(headings / 2)
        origin.origin_rotations.data[3, rows] = np.cos(headings / 2)
        rig = self[Rig]
        local_positions = self[LocalPose].local_positions.data
        local_positions[:, :, rows] = rig.skeleton.offsets[rig.translated][:, :, None]
        if playing is not None:
            for name, values in playing.items():
                self.table[name].data[rows] = values
        return handles

    def despawn(self, handles: ArrayLike) -> None:
        """Remove characters; the last rows move into the gaps.

        Raises:
            KeyError: A handle is not alive or stands twice. Nothing is removed.
        """
        self.table.despawn(handles)

    def _clip_indices(self, clip: ArrayLike | str | None, count: int) -> NDArray[np.int32]:
        names = self[Clips].names
        if clip is None:
            return (np.arange(self.count, self.count + count) % len(names)).astype(np.int32)
        if isinstance(clip, str):
            if clip not in names:
                raise KeyError(f"no clip named {clip!r}; the batch has {', '.join(map(repr, names))}")
            return np.full(count, names.index(clip), np.int32)
        indices = np.asarray(clip)
        if not np.issubdtype(indices.dtype, np.integer) or indices.shape not in ((), (count,)):
            raise ValueError(
                f"clip must be one index or {count}, got {indices.dtype} of shape {indices.shape}"
            )
        if indices.size and (indices.min() < 0 or indices.max() >= len(names)):
            raise ValueError(f"clip must lie in 0..{len(names) - 1}, got {indices.min()}..{indices.max()}")
        return np.broadcast_to(indices.astype(np.int32), (count,))

    def __repr__(self) -> str:
        return f"Batch({self.count} rows, {self.skeleton!r})"


def check_count(count: int) -> int:
    """Return the count as an int.

    Raises:
        ValueError: It is no integer, or negative.
    """
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
        raise ValueError(f"count must be an integer >= 0, got {count!r}")
    return int(count)


def _values(name: str, value: ArrayLike, shape: Sequence[int]) -> NDArray[np.float32]:
    array = np.asarray(value, np.float32)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    try:
        return np.broadcast_to(array, tuple(shape))
    except ValueError:
        raise ValueError(f"{name} must fit shape {tuple(shape)}, got {array.shape}") from None
