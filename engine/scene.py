"""Scene hierarchy: named nodes with a parent and a transform, kept as rows of one table.

An ``Entity`` is a handle; the transforms lie in columns. Local transforms are the truth, world transforms are
derived by one kernel, at each step and whenever a world value is read after a change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..io.skeleton import did_you_mean
from ..kernels import hierarchy
from .components import IDENTITY
from .table import Table

Vector = NDArray[np.float32]


class Scene:
    """The nodes of a world.

    Attributes:
        table: Columns ``parent`` (row of the parent, -1 for a root), ``local_position``, ``local_rotation``,
            ``local_scale``, ``world_position``, ``world_rotation``, ``world_scale``.
    """

    def __init__(self, capacity: int = 64) -> None:
        self.table = Table(capacity)
        self._parent = self.table.add_column("parent", dtype=np.int32, fill=-1)
        self._local = (
            self.table.add_column("local_position", (3,), unit="m"),
            self.table.add_column("local_rotation", (4,), fill=IDENTITY),
            self.table.add_column("local_scale", (3,), fill=1),
        )
        self._world = (
            self.table.add_column("world_position", (3,), unit="m"),
            self.table.add_column("world_rotation", (4,), fill=IDENTITY),
            self.table.add_column("world_scale", (3,), fill=1),
        )
        self._names: dict[int, str] = {}
        self._order = np.zeros(0, np.int32)
        self._order_is_stale = False
        self._world_is_stale = False

    def add(
        self,
        name: str = "",
        parent: Entity | None = None,
        *,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: ArrayLike = IDENTITY,
        scale: ArrayLike = 1.0,
    ) -> Entity:
        """Add a node; the transform is relative to the parent.

        Args:
            name: Any text; need not be unique.
            parent: The node it hangs from; None for a root.
            position: (3,) [m].
            rotation: (4,) quaternion x y z w; normalised here.
            scale: One factor or (3,).

        Raises:
            KeyError: The parent was removed.
            ValueError: The parent belongs to another scene; a value is not finite or has the wrong shape.
        """
        parent_row = -1 if parent is None else self._row(parent)
        checked = _vector("position", position, 3), _rotation(rotation), _vector("scale", scale, 3)
        handle = int(self.table.spawn(1)[0])
        row = self.table.count - 1
        self._parent.data[row] = parent_row
        for column, value in zip(self._local, checked, strict=True):
            column.data[:, row] = value
        if name:
            self._names[handle] = name
        self._order_is_stale = self._world_is_stale = True
        return Entity(self, handle)

    def find(self, name: str) -> Entity:
        """Return the first node of that name, in the order they were added.

        Raises:
            KeyError: No node has it; the message lists near names.
        """
        for handle, known in self._names.items():
            if known == name:
                return Entity(self, handle)
        raise KeyError(f"no entity named {name!r}{did_you_mean(name, self._names.values())}")

    def __len__(self) -> int:
        return self.table.count

    def __iter__(self) -> Iterator[Entity]:
        return iter([Entity(self, int(handle)) for handle in self.table.handles()])

    def update(self) -> None:
        """Derive all world transforms from the local ones."""
        count = self.table.count
        if count:
            if self._order_is_stale:
                self._order = _parents_first(self._parent.data[:count])
                self._order_is_stale = False
            position, rotation, scale = self._local
            world_position, world_rotation, world_scale = self._world
            hierarchy.compose(
                self._order,
                self._parent.data,
                position.data,
                rotation.data,
                scale.data,
                0,
                count,
                world_position.data,
                world_rotation.data,
                world_scale.data,
            )
        self._world_is_stale = False

    def _row(self, entity: Entity) -> int:
        if entity._scene is not self:
            raise ValueError("an entity must belong to the scene it is used with")
        return int(self.table.rows(entity._handle)[0])

    def _descendants(self, row: int) -> list[int]:
        """Rows of a subtree, its top first."""
        parents = self._parent.data[: self.table.count]
        found, level = [row], np.array([row])
        while len(level):
            level = np.flatnonzero(np.isin(parents, level))
            found.extend(level.tolist())
        return found

    def _remove(self, entity: Entity) -> None:
        rows = self._descendants(self._row(entity))
        handles = self.table.handles()[rows]
        moved_to = self.table.despawn(handles)
        parents = self._parent.data[: self.table.count]
        parents[:] = np.where(parents >= 0, moved_to[parents], -1)
        for handle in handles:
            self._names.pop(int(handle), None)
        self._order_is_stale = self._world_is_stale = True

    def _fresh_world(self, kind: int, row: int) -> Vector:
        if self._world_is_stale:
            self.update()
        return self._world[kind].data[:, row].copy()


class Entity:
    """A handle to one node of a scene. Transforms are copies; assign to change them."""

    __slots__ = ("_handle", "_scene")

    def __init__(self, scene: Scene, handle: int) -> None:
        self._scene = scene
        self._handle = handle

    @property
    def alive(self) -> bool:
        """Whether the node still exists."""
        return bool(self._scene.table.alive(self._handle)[0])

    @property
    def name(self) -> str:
        """Its name, "" if it has none."""
        return self._scene._names.get(self._handle, "")

    @property
    def position(self) -> Vector:
        """(3,) [m] relative to the parent."""
        return self._get(0)

    @position.setter
    def position(self, value: ArrayLike) -> None:
        self._set(0, _vector("position", value, 3))

    @property
    def rotation(self) -> Vector:
        """(4,) unit quaternion x y z w relative to the parent."""
        return self._get(1)

    @rotation.setter
    def rotation(self, value: ArrayLike) -> None:
        self._set(1, _rotation(value))

    @property
    def scale(self) -> Vector:
        """(3,) scale relative to the parent."""
        return self._get(2)

    @scale.setter
    def scale(self, value: ArrayLike) -> None:
        self._set(2, _vector("scale", value, 3))

    @property
    def world_position(self) -> Vector:
        """(3,) [m] in world space."""
        return self._scene._fresh_world(0, self._row())

    @property
    def world_rotation(self) -> Vector:
        """(4,) unit quaternion x y z w in world space."""
        return self._scene._fresh_world(1, self._row())

    @property
    def world_scale(self) -> Vector:
        """(3,) product of the scales from the root down."""
        return self._scene._fresh_world(2, self._row())

    @property
    def parent(self) -> Entity | None:
        """The node it hangs from."""
        scene = self._scene
        parent_row = int(scene._parent.data[self._row()])
        return None if parent_row < 0 else Entity(scene, int(scene.table.handles()[parent_row]))

    @property
    def children(self) -> tuple[Entity, ...]:
        """The nodes that hang from it."""
        scene = self._scene
        rows = np.flatnonzero(scene._parent.data[: scene.table.count] == self._row())
        return tuple(Entity(scene, int(handle)) for handle in scene.table.handles()[rows])

    def set_parent(self, parent: Entity | None, *, keep_world: bool = True) -> None:
        """Hang the node, with all below it, from another one.

        Args:
            parent: The new parent; None makes it a root.
            keep_world: Keep its place in the world (default) or its transform relative to the parent.

        Raises:
            ValueError: The parent lies below the node, belongs to another scene, or has a scale of zero while
                the world transform is to be kept.
            KeyError: One of the two was removed.
        """
        scene, row = self._scene, self._row()
        parent_row = -1 if parent is None else scene._row(parent)
        if parent_row in scene._descendants(row):
            raise ValueError(f"the parent of {self!r} must not lie below it, got {parent!r}")
        if keep_world:
            for column, value in zip(scene._local, self._relative_to(parent), strict=True):
                column.data[:, row] = value
        scene._parent.data[row] = parent_row
        scene._order_is_stale = scene._world_is_stale = True

    def remove(self) -> None:
        """Remove the node and all below it.

        Raises:
            KeyError: It was removed before.
        """
        self._scene._remove(self)

    def _relative_to(self, parent: Entity | None) -> tuple[Any, Any, Any]:
        position, rotation, scale = self.world_position, self.world_rotation, self.world_scale
        if parent is None:
            return position, rotation, scale
        parent_scale = parent.world_scale
        if (parent_scale == 0).any():
            raise ValueError(
                f"keep_world needs a parent whose scale is not zero, got {parent_scale.tolist()}"
            )
        inverse = parent.world_rotation.astype(np.float64) * (-1, -1, -1, 1)
        offset = _rotate(inverse, (position - parent.world_position).astype(np.float64)) / parent_scale
        return offset, _multiply(inverse, rotation.astype(np.float64)), scale / parent_scale

    def _row(self) -> int:
        return self._scene._row(self)

    def _get(self, kind: int) -> Vector:
        return self._scene._local[kind].data[:, self._row()].copy()

    def _set(self, kind: int, value: Vector) -> None:
        self._scene._local[kind].data[:, self._row()] = value
        self._scene._world_is_stale = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entity) and other._scene is self._scene and other._handle == self._handle

    def __hash__(self) -> int:
        return hash((id(self._scene), self._handle))

    def __repr__(self) -> str:
        return f"Entity({self.name!r})" if self.alive else "Entity(removed)"


def _parents_first(parents: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the rows level by level: roots, their children, and so on."""
    depth = np.where(parents < 0, 0, -1).astype(np.int32)
    level = 0
    while (waiting := np.flatnonzero(depth < 0)).size:
        if level > len(parents):
            raise ValueError(f"parents must form a tree, got a cycle through row {int(waiting[0])}")
        depth[waiting[depth[parents[waiting]] == level]] = level + 1
        level += 1
    return np.argsort(depth, kind="stable").astype(np.int32)


def _vector(name: str, value: ArrayLike, size: int) -> Vector:
    array = np.asarray(value, np.float32)
    if array.shape not in ((), (size,)) or not np.isfinite(array).all():
        raise ValueError(f"{name} must be {size} finite numbers, got {value!r}")
    return np.broadcast_to(array, (size,))


def _rotation(value: ArrayLike) -> Vector:
    array = np.asarray(value, np.float64)
    if array.shape != (4,) or not np.isfinite(array).all() or not np.linalg.norm(array) > 1e-6:
        raise ValueError(f"rotation must be a quaternion x y z w of non-zero length, got {value!r}")
    return (array / np.linalg.norm(array)).astype(np.float32)


def _multiply(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - a[:3] @ b[:3])


def _rotate(q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
    twice = 2 * np.cross(q[:3], v)
    return v + q[3] * twice + np.cross(q[:3], twice)
