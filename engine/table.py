"""Tables: columns that share a capacity, rows that come and go, handles that stay valid.

A column is one array ``(..., capacity)``, float32 or int32, C-ordered and 64-byte aligned, its rows innermost.
Rows ``0 <= row < count`` are alive and contiguous: removing a row moves the last one into its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ..io.skeleton import did_you_mean

_ALIGN_BYTES = 64
_ALIGN_ROWS = 16
_PAGE_ROWS = 1024


class Column:
    """One array of a table. The object lives as long as the table; ``data`` is replaced when the table grows.

    Attributes:
        name: Unique in the table.
        unit: Unit of the values, "1" for none.
        fill: Value of a new row, one number or one a channel.
        data: (..., capacity), what kernels take. Hold it only within a frame.
    """

    def __init__(self, table: Table, name: str, data: NDArray[Any], fill: NDArray[Any], unit: str) -> None:
        self._table = table
        self.name = name
        self.data = data
        self.fill = fill
        self.unit = unit

    def view(self) -> NDArray[Any]:
        """Return the living rows with the row first, ``(N, J, C)``, ``(N, C)`` or ``(N,)``: no copy."""
        return np.moveaxis(self.data, -1, 0)[: self._table.count]

    def __repr__(self) -> str:
        shape = (*map(str, self.data.shape[:-1]), f"{self._table.count}/{self.data.shape[-1]} rows")
        return f"Column({self.name!r}, {' x '.join(shape)}, {self.data.dtype})"


class Table:
    """Columns with one capacity and one count.

    Attributes:
        count: Number of living rows.
        generation: Grows whenever the columns' arrays are replaced; whoever keeps pointers compares it.
    """

    def __init__(self, capacity: int = 0) -> None:
        self.count = 0
        self.generation = 0
        self._capacity = padded_capacity(capacity)
        self._columns: dict[str, Column] = {}
        # A handle is generation << 32 | slot. Slots never move; rows do.
        self._slot_row = np.zeros(0, np.int32)
        self._slot_generation = np.zeros(0, np.int64)
        self._row_slot = np.zeros(self._capacity, np.int32)
        self._free: NDArray[np.int32] = np.zeros(0, np.int32)

    @property
    def capacity(self) -> int:
        """Rows there is memory for; at least what was asked for (see ``padded_capacity``)."""
        return self._capacity

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, in the order they were added."""
        return tuple(self._columns.values())

    def __getitem__(self, name: str) -> Column:
        found = self._columns.get(name)
        if found is None:
            raise KeyError(f"no column named {name!r}{did_you_mean(name, self._columns)}")
        return found

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def add_column(
        self,
        name: str,
        shape: Sequence[int] = (),
        *,
        dtype: DTypeLike = np.float32,
        fill: ArrayLike = 0,
        unit: str = "1",
    ) -> Column:
        """Add a column; living rows get the fill value.

        Args:
            name: Unique in the table.
            shape: What a row holds: (J, C), (C,) or ().
            dtype: float32 or int32.
            fill: Value of a new row; broadcast to the shape.
            unit: Unit, for people.

        Raises:
            ValueError: The name is taken, the type is another, the fill does not fit the shape.
        """
        if name in self._columns:
            raise ValueError(f"column names must be unique in a table, got {name!r} twice")
        kind = np.dtype(dtype)
        if kind not in (np.float32, np.int32):
            raise ValueError(f"column {name!r} must be float32 or int32, got {kind}")
        value = np.array(np.broadcast_to(np.asarray(fill, kind), tuple(shape)))[..., None]
        column = Column(self, name, aligned_empty((*shape, self._capacity), kind), value, unit)
        column.data[..., : self.count] = value
        self._columns[name] = column
        return column

    def reserve(self, capacity: int) -> None:
        """Make room for at least ``capacity`` rows; replaces the arrays and bumps ``generation`` if it must."""
        if capacity <= self._capacity:
            return
        wanted = padded_capacity(capacity)
        # All memory first: without it nothing has changed.
        row_slot = np.zeros(wanted, np.int32)
        arrays = [
            aligned_empty((*column.data.shape[:-1], wanted), column.data.dtype)
            for column in self._columns.values()
        ]
        row_slot[: self.count] = self._row_slot[: self.count]
        for column, data in zip(self._columns.values(), arrays, strict=True):
            data[..., : self.count] = column.data[..., : self.count]
            column.data = data
        self._row_slot = row_slot
        self._capacity = wanted
        self.generation += 1

    def spawn(self, count: int) -> NDArray[np.int64]:
        """Add rows at the end, each column at its fill value; doubles the capacity when there is no room.

        Returns:
            (count,) handles, valid until the rows are despawned, wherever the rows move.

        Raises:
            ValueError: The count is negative.
        """
        if count < 0:
            raise ValueError(f"count must be >= 0, got {count}")
        start, stop = self.count, self.count + count
        if stop > self._capacity:
            self.reserve(max(stop, 2 * self._capacity))
        for column in self._columns.values():
            column.data[..., start:stop] = column.fill
        slots = self._take_slots(count)
        self._slot_row[slots] = np.arange(start, stop, dtype=np.int32)
        self._row_slot[start:stop] = slots
        self.count = stop
        return self._slot_generation[slots] << 32 | slots

    def despawn(self, handles: ArrayLike) -> NDArray[np.int32]:
        """Remove rows; the last rows move into the gaps.

        Returns:
            (old count,) where each row went, -1 for the removed ones.

        Raises:
            KeyError: A handle is not alive, or stands twice. Nothing is removed.
        """
        rows = self.rows(handles)
        moved_to = np.arange(self.count, dtype=np.int32)
        moved_to[rows] = -1
        kept = self.count - len(rows)
        if np.count_nonzero(moved_to < 0) != len(rows):
            raise KeyError("handles must differ from each other, got one twice")
        slots = self._row_slot[rows]
        gaps = np.flatnonzero(moved_to[:kept] < 0)
        movers = kept + np.flatnonzero(moved_to[kept:] >= 0)
        for column in self._columns.values():
            column.data[..., gaps] = column.data[..., movers]
        self._row_slot[gaps] = self._row_slot[movers]
        self._slot_row[self._row_slot[gaps]] = gaps
        moved_to[movers] = gaps
        self._slot_row[slots] = -1
        self._slot_generation[slots] += 1
        self._free = np.concatenate([self._free, slots])
        self.count = kept
        return moved_to

    def alive(self, handles: ArrayLike) -> NDArray[np.bool_]:
        """Tell which handles still name a row."""
        handles = _handle_array(handles)
        slots, generations = handles & 0xFFFFFFFF, handles >> 32
        known = slots < len(self._slot_row)
        slots = np.where(known, slots, 0)
        if not len(self._slot_row):
            return known
        return known & (self._slot_generation[slots] == generations) & (self._slot_row[slots] >= 0)

    def rows(self, handles: ArrayLike) -> NDArray[np.int32]:
        """Return the rows that handles name now.

        Raises:
            KeyError: A handle is not alive.
        """
        handles = _handle_array(handles)
        alive = self.alive(handles)
        if not alive.all():
            bad = handles[~alive]
            raise KeyError(
                f"handles must name living rows, got {len(bad)} dead or foreign, first {int(bad[0])}"
            )
        return self._slot_row[handles & 0xFFFFFFFF]

    def handles(self) -> NDArray[np.int64]:
        """Return the handle of each living row, in row order."""
        slots = self._row_slot[: self.count].astype(np.int64)
        return self._slot_generation[slots] << 32 | slots

    def _take_slots(self, count: int) -> NDArray[np.int64]:
        reused = self._free[:count]
        self._free = self._free[count:]
        old, new = len(self._slot_row), count - len(reused)
        if new:
            self._slot_row = np.concatenate([self._slot_row, np.full(new, -1, np.int32)])
            self._slot_generation = np.concatenate([self._slot_generation, np.zeros(new, np.int64)])
        return np.concatenate([reused.astype(np.int64), np.arange(old, old + new, dtype=np.int64)])

    def __repr__(self) -> str:
        return f"Table({self.count}/{self._capacity} rows, columns {', '.join(self._columns) or 'none'})"


def _handle_array(handles: ArrayLike) -> NDArray[np.int64]:
    array = np.atleast_1d(np.asarray(handles))
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"handles must be integers, got {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"handles must be one or a row of them, got shape {array.shape}")
    return array.astype(np.int64)


def padded_capacity(capacity: int) -> int:
    """Return the next multiple of 16 rows that is none of 1,024.

    Columns whose length is a multiple of a memory page put all their joints on the same cache sets: forward
    kinematics over 10,240 rows is 5 % slower than over 10,256.

    Raises:
        ValueError: The capacity is negative or too large to address by int32 row numbers.
    """
    if not 0 <= capacity < 2**31 - 2 * _ALIGN_ROWS:
        raise ValueError(f"capacity must lie in 0..{2**31 - 2 * _ALIGN_ROWS - 1}, got {capacity}")
    rows = -(-max(capacity, 1) // _ALIGN_ROWS) * _ALIGN_ROWS
    return rows + _ALIGN_ROWS if rows % _PAGE_ROWS == 0 else rows


def aligned_empty(shape: Sequence[int], dtype: DTypeLike) -> NDArray[Any]:
    """Return an uninitialised C-ordered array on a 64-byte boundary; untouched pages cost no memory."""
    kind = np.dtype(dtype)
    size = int(np.prod(shape)) * kind.itemsize
    raw = np.empty(size + _ALIGN_BYTES, np.uint8)
    offset = -raw.ctypes.data % _ALIGN_BYTES
    return raw[offset : offset + size].view(kind).reshape(shape)
