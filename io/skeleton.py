"""Skeleton: names, parents and rest offsets of a joint tree, parents first."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Skeleton:
    """A forest of joints in which every parent stands before its children.

    Attributes:
        names: J unique joint names.
        parents: (J,) int32, parent index, -1 for a root; ``parents[j] < j``.
        offsets: (J, 3) float32 [m], rest position in the parent's space.

    Raises:
        ValueError: The arrays disagree in length, a name repeats, or a parent does not point backwards.
            ``Skeleton.sorted`` accepts any order.
    """

    def __init__(self, names: Sequence[str], parents: ArrayLike, offsets: ArrayLike | None = None) -> None:
        self.names = tuple(str(name) for name in names)
        count = len(self.names)
        if count == 0:
            raise ValueError("a skeleton must have at least one joint, got none")
        self.parents = _parent_array(parents, count)
        backwards = self.parents < np.arange(count)
        if not backwards.all():
            j = int(np.argmin(backwards))
            raise ValueError(
                f"parents must point backwards: parents[{j}] = {self.parents[j]}; "
                "Skeleton.sorted() takes joints in any order"
            )
        for name in self.names:
            if not name or "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
                raise ValueError(
                    f"joint names must be text of at least one character, without NUL, got {name!r}"
                )
        if (repeated := repeated_name(self.names)) is not None:
            raise ValueError(f"joint names must be unique, got {repeated!r} twice; see unique_names()")
        self.offsets = _offset_array(offsets, count)
        self.parents.flags.writeable = False
        self.offsets.flags.writeable = False

    @classmethod
    def sorted(
        cls, names: Sequence[str], parents: ArrayLike, offsets: ArrayLike | None = None
    ) -> tuple[Skeleton, NDArray[np.intp]]:
        """Build a skeleton from joints in any order.

        An order that already has parents first is kept. Otherwise the sort is stable: depth first, siblings
        in the order given.

        Returns:
            The skeleton and ``order (J,)``: joint ``j`` of the skeleton is joint ``order[j]`` of the input.

        Raises:
            ValueError: As the constructor, or the parents form a cycle.
        """
        count = len(names)
        links = _parent_array(parents, count)
        order = _parents_first(links, names)
        place = np.empty(count, np.int32)
        place[order] = np.arange(count, dtype=np.int32)
        sorted_parents = np.where(links[order] < 0, -1, place[links[order]])
        rest = _offset_array(offsets, count)[order]
        return cls([names[j] for j in order], sorted_parents, rest), order

    @property
    def joint_count(self) -> int:
        """Number of joints J."""
        return len(self.names)

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Joints without a parent."""
        return tuple(int(j) for j in np.flatnonzero(self.parents < 0))

    @cached_property
    def depths(self) -> NDArray[np.int32]:
        """(J,) number of ancestors of each joint."""
        depths = np.zeros(self.joint_count, np.int32)
        for j, parent in enumerate(self.parents):
            if parent >= 0:
                depths[j] = depths[parent] + 1
        return depths

    @cached_property
    def _index_of(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names)}

    def index(self, name: str) -> int:
        """Return the index of a joint.

        Raises:
            KeyError: No joint has that name; the message lists near names.
        """
        found = self._index_of.get(name)
        if found is None:
            raise KeyError(
                f"no joint named {name!r}{did_you_mean(name, self.names)} ({self.joint_count} joints)"
            )
        return found

    def indices(self, names: Iterable[str]) -> NDArray[np.int32]:
        """Return the indices of several joints, in the order given.

        Raises:
            TypeError: A single string was given, which would be read letter by letter.
            KeyError: As ``index``.
        """
        if isinstance(names, str):
            raise TypeError(f"names must be a sequence of joint names, got the string {names!r}; use index()")
        return np.array([self.index(name) for name in names], np.int32)

    def children(self, joint: int) -> tuple[int, ...]:
        """Return the direct children of a joint, in order."""
        return tuple(int(j) for j in np.flatnonzero(self.parents == joint))

    def same_tree(self, other: Skeleton) -> bool:
        """Tell whether both have the same names and parents in the same order; offsets may differ."""
        return self.names == other.names and bool(np.array_equal(self.parents, other.parents))

    def tree(self) -> str:
        """Return the joints as indented text, one a line."""
        return "\n".join("  " * int(d) + name for d, name in zip(self.depths, self.names, strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Skeleton):
            return NotImplemented
        return self.same_tree(other) and bool(np.array_equal(self.offsets, other.offsets))

    __hash__ = None  # type: ignore[assignment]  # equal by value, compared rarely, never a key

    def __repr__(self) -> str:
        return f"Skeleton({self.joint_count} joints, root {self.names[self.roots[0]]!r})"


def unique_names(names: Sequence[str]) -> list[str]:
    """Return the names with a suffix ``_2``, ``_3``, ... on repeats, so that each stands once."""
    taken, result = set(names), []
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    for name in names:
        candidate, number = name, numbers.get(name, 2)
        while candidate in seen or (candidate != name and candidate in taken):
            candidate = f"{name}_{number}"
            number += 1
        numbers[name] = number
        seen.add(candidate)
        result.append(candidate)
    return result


def repeated_name(names: Sequence[str]) -> str | None:
    """Return the first name that stands a second time, or None."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return '; did you mean ...?' with near names, ignoring case, or nothing."""
    lower = {k.lower(): k for k in known}
    near = [lower[k] for k in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.6)]
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


def _parent_array(parents: ArrayLike, count: int) -> NDArray[np.int32]:
    array = np.array(parents)
    if array.shape != (count,):
        raise ValueError(f"parents must have shape ({count},), one for each name, got {array.shape}")
    if count and not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"parents must be integers, got {array.dtype}")
    if count and (array.min() < -1 or array.max() >= count):
        j = int(np.argmax((array < -1) | (array >= count)))
        raise ValueError(f"parents must lie in -1..{count - 1}, got parents[{j}] = {array[j]}")
    return array.astype(np.int32)


def _offset_array(offsets: ArrayLike | None, count: int) -> NDArray[np.float32]:
    array = np.zeros((count, 3), np.float32) if offsets is None else np.array(offsets, np.float32)
    if array.shape != (count, 3):
        raise ValueError(f"offsets must have shape ({count}, 3), got {array.shape}")
    return array


def _parents_first(parents: NDArray[np.int32], names: Sequence[str]) -> NDArray[np.intp]:
    count = len(parents)
    if (parents < np.arange(count)).all():
        return np.arange(count)
    children: list[list[int]] = [[] for _ in range(count)]
    for j, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(j)
    order: list[int] = []
    stack = [j for j in range(count - 1, -1, -1) if parents[j] < 0]
    while stack:
        j = stack.pop()
        order.append(j)
        stack.extend(reversed(children[j]))
    if len(order) < count:
        lost = sorted(set(range(count)) - set(order))
        raise ValueError(f"parents must form a tree, got a cycle through {names[lost[0]]!r}")
    return np.array(order)
