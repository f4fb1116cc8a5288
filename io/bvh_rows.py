"""The rows of a BVH file: read in blocks, cut at frame ends, parsed by kernels on several threads.

A frame may run over several lines, but no line may hold the end of one frame and the start of the next: that is
how a missing or surplus number is noticed where it is, not thousands of frames later.
"""

from __future__ import annotations

import os
import re
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Protocol

import numpy as np
from numpy.typing import NDArray

from ..kernels.text import count_fields, parse_rows
from ..kernels.threads import thread_count
from .bvh_header import NUMBER, BvhHeader, short
from .errors import FormatError

# Small enough for the text and its values to stay in a second-level cache, large enough to hide a hand-over.
_BLOCK = 1 << 20
_ODD_FIELDS = 256
_LARGEST_FRAME = 1 << 28
# How C libraries print what is not a finite number: nan, -nan(ind), inf, -1.#IND00, 1.#QNAN, 1.#INF.
_NOT_FINITE = re.compile(rb"[+-]?(nan(\(\w*\))?|inf(inity)?|\d\.?#[a-z]+\d*)", re.IGNORECASE)


class RowSink(Protocol):
    """Where the values go.

    Attributes:
        capacity: Number of rows there is room for.
    """

    capacity: int

    def reserve(self, rows: int) -> None:
        """Make room for rows and keep those put so far. Never called while ``put`` runs."""
        ...

    def put(self, values: NDArray[np.float32], first: int, rows: int) -> None:
        """Take rows ``first`` to ``first + rows``. Called by several threads, for different rows.

        Args:
            values: (C + 1, R) with R >= rows, valid during the call. The last channel is zero.
            first: Number of the first row in the file.
            rows: Number of rows.
        """
        ...


@dataclass
class Rows:
    """What was read: the number of rows, and where values are not finite numbers (NaN was put there).

    Attributes:
        count: Number of rows.
        bad: (B, 2) row and channel, in the order of the file.
    """

    count: int
    bad: NDArray[np.int64]


class _RowError(Exception):
    """An error at a byte of a block."""

    def __init__(self, byte: int, reason: str) -> None:
        self.byte = byte
        self.reason = reason


class _Block:
    """A piece of the file, and room for its values."""

    def __init__(self, size: int) -> None:
        # One byte more for the line end that the last line of a file may lack.
        self.raw = bytearray(size + 1)
        self.text = np.frombuffer(self.raw, np.uint8)
        self.values = np.empty(0, np.float32)
        self.offset = self.stop = self.first = self.rows = 0

    def fill(self, carry: bytes, file: IO[bytes]) -> bool:
        """Read the file into the block, behind the end of the block before; return whether the file ends here."""
        room = memoryview(self.raw)[len(carry) : -1]
        self.raw[: len(carry)] = carry
        self.stop = len(carry) + file.readinto(room)  # pyright: ignore[reportAttributeAccessIssue]
        return self.stop < len(self.raw) - 1

    def table(self, channels: int) -> NDArray[np.float32]:
        """Return an uninitialised (channels, R) array, R >= rows; valid until the next call."""
        # An odd number of cache lines apart: powers of two would send all channels to the same few cache sets.
        stride = (-(-self.rows // 32) * 2 + 1) * 16
        if self.values.size < channels * stride:
            self.values = np.empty(channels * stride, np.float32)
        return self.values[: channels * stride].reshape(channels, stride)


def read_rows(path: str | os.PathLike[str], file: IO[bytes], header: BvhHeader, sink: RowSink) -> Rows:
    """Read all rows into a sink; values are rounded as ``float32(float(field))``.

    Memory: the sink's, and some blocks of 1 MiB, whatever the size of the file or the declared frame count.

    Raises:
        FormatError: A field is no number, or a frame has too few or too many.
    """
    reader = _RowReader(file, header, sink)
    try:
        return reader.read()
    except _RowError as fault:
        line = _line_of(file, header, fault.byte)
        raise FormatError(path, line, fault.reason) from None


class _RowReader:
    def __init__(self, file: IO[bytes], header: BvhHeader, sink: RowSink) -> None:
        self.file = file
        self.channels = header.channel_count
        self.declared = header.frame_count or 0
        self.sink = sink
        self.begin = header.rows_offset
        self.size = os.fstat(file.fileno()).st_size
        self.threads = min(thread_count(), max(1, (self.size - self.begin) // _BLOCK))
        self.pending: deque[Future[_Block]] = deque()
        self.bad: list[NDArray[np.int64]] = []

    def read(self) -> Rows:
        self.file.seek(self.begin)
        with ThreadPoolExecutor(self.threads, thread_name_prefix="bvh") as pool:
            try:
                count = self.read_blocks(pool)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        bad = np.concatenate(self.bad) if self.bad else np.empty((0, 2), np.int64)
        return Rows(count, bad[np.argsort(bad[:, 0], kind="stable")])

    def read_blocks(self, pool: ThreadPoolExecutor) -> int:
        """Cut the file into blocks of whole frames and hand them on; return the number of rows."""
        rows, offset, carry, at_end = 0, self.begin, b"", False
        size = _BLOCK
        spare: list[_Block] = []
        while not at_end:
            if len(self.pending) > self.threads:
                spare.append(self.pending.popleft().result())
            block = next((b for b in spare if len(b.raw) > size), None) or _Block(size)
            spare.clear()
            at_end = block.fill(carry, self.file)
            block.offset, block.first = offset, rows
            try:
                end = self.cut(block, at_end)
            except _RowError:
                self.finish()  # A fault further up in the file comes first.
                raise
            carry = bytes(block.raw[end : block.stop]) if not at_end else b""
            if not block.rows:
                # Not one whole frame: take a larger bite.
                size = max(size, 2 * len(carry))
                if size > _LARGEST_FRAME:
                    raise _RowError(offset + end, "a frame must take less than 128 MiB of text")
                offset += end
                spare.append(block)
                continue
            block.stop = end
            rows += block.rows
            offset += end
            self.make_room(rows, (offset - self.begin) / max(self.size - self.begin, 1))
            if self.threads > 1:
                self.pending.append(pool.submit(self.parse, block))
            else:
                spare.append(self.parse(block))
        self.finish()
        return rows

    def finish(self) -> None:
        while self.pending:
            self.pending.popleft().result()

    def make_room(self, rows: int, share: float) -> None:
        """Reserve rows: as many as declared if the file can hold them, else what the part read so far suggests."""
        if rows <= self.sink.capacity:
            return
        self.finish()
        # A number takes at least two bytes with its blank.
        is_plausible = self.declared * self.channels * 2 <= self.size - self.begin + 1
        expected = self.declared if is_plausible else 0
        self.sink.reserve(expected if expected >= rows else int(rows / max(share, 0.01) * 1.01) + 1)

    def cut(self, block: _Block, at_end: bool) -> int:
        """Find the end of the last whole frame of a block and the number of its rows."""
        if at_end:
            block.raw[block.stop] = 10
            stop = block.stop + 1
        else:
            stop = block.raw.rfind(b"\n", 0, block.stop) + 1
        block.rows = 0
        if stop and self.channels and block.raw.find(b"#", 0, stop) < 0:
            count = np.zeros(1, np.int64)
            count_fields(block.text, 0, stop, count)
            if count[0] % self.channels == 0:
                # As it is when no frame runs over a block's end; parse_rows checks the lines.
                block.rows = int(count[0]) // self.channels
                return stop
        block.rows, end = self.cut_by_lines(block, stop, at_end)
        return end

    def cut_by_lines(self, block: _Block, stop: int, at_end: bool) -> tuple[int, int]:
        """Go through a block line by line; return the number of whole frames and where the last one ends."""
        rows = filled = end = position = frame_begin = 0
        for line in bytes(block.raw[:stop]).split(b"\n"):
            fields = line.split()
            count = next((i for i, field in enumerate(fields) if field.startswith(b"#")), len(fields))
            frame_begin = position if not filled else frame_begin
            if filled + count > self.channels:
                reason = f"expected {self.channels} channel values, got {filled or count}"
                if filled:
                    reason += f", and the next line, with {count}, would belong to two frames"
                raise _RowError(block.offset + frame_begin, reason)
            filled += count
            position += len(line) + 1
            if filled == self.channels and count:
                rows, filled, end = rows + 1, 0, position
            elif not filled:
                end = min(position, stop)
        if filled and at_end:
            reason = f"expected {self.channels} channel values, got {filled} before the end of the file"
            raise _RowError(block.offset + frame_begin, reason)
        return rows, end

    def parse(self, block: _Block) -> _Block:
        values = block.table(self.channels + 1)
        values[self.channels, : block.rows] = 0
        odd = np.empty((_ODD_FIELDS, 3), np.int64)
        state = np.array([0, 1, 0, 0], np.int64)
        bad: list[tuple[int, int]] = []
        while state[3] < block.stop:
            parse_rows(block.text, int(state[3]), block.stop, values[: self.channels], odd, state)
            for begin, end, field in odd[: state[2]].tolist():
                row, channel = divmod(field, self.channels)
                value = _odd_value(bytes(block.raw[begin:end]), block.offset + begin)
                values[channel, row] = value
                if value != value:
                    bad.append((block.first + row, channel))
            if state[3] < block.stop and state[2] < _ODD_FIELDS:
                # A line goes on after the end of a frame: find out which line is at fault.
                self.cut_by_lines(block, block.stop, at_end=False)
                raise _RowError(block.offset + int(state[3]), "a line must not hold parts of two frames")
        if bad:
            self.bad.append(np.array(bad, np.int64))
        self.sink.put(values, block.first, block.rows)
        return block


def _odd_value(field: bytes, byte: int) -> float:
    """Return the value of a field that the kernel leaves alone, NaN where it is not finite in float32."""
    if NUMBER.fullmatch(text := field.decode("latin-1")):
        value = float(text)
        return value if abs(value) < float(np.finfo(np.float32).max) else float("nan")
    if _NOT_FINITE.fullmatch(field):
        return float("nan")
    raise _RowError(byte, f"must be a number, got {short(text)}")


def _line_of(file: IO[bytes], header: BvhHeader, byte: int) -> int:
    """Return the line number of a byte of the file."""
    file.seek(header.rows_offset)
    line, left = header.rows_line, byte - header.rows_offset
    while left > 0 and (part := file.read(min(left, _BLOCK))):
        line += part.count(b"\n")
        left -= len(part)
    return line
