"""The HIERARCHY of a BVH file and the two lines after MOTION, read line by line.

Dialects differ in letter case, blanks, braces on the same line, names with blanks, channels a joint; this reader
takes them all, and says where a line is none of them. Layout of the format: Meredith and Maddock, Motion capture
file formats explained, 2001.
"""

from __future__ import annotations

import decimal
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, NoReturn

from .errors import FormatError
from .skeleton import did_you_mean

CHANNELS = ("Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation")

_CODES = {name.lower(): code for code, name in enumerate(CHANNELS)}
_KEYWORDS = ("ROOT", "JOINT", "End Site", "OFFSET", "CHANNELS", "MOTION", "{", "}")
# Written so that no digit can be matched in two ways: a long field is refused in linear time.
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_FRAMES = re.compile(r"frames\s*(?::|\s)\s*(.*)", re.IGNORECASE)
_FRAME_TIME = re.compile(r"frame\s*time\s*(?::|\s)\s*(.*)", re.IGNORECASE)
_MOST_LENGTH = 1e30
_LONGEST_LINE = 1 << 16
_DEEPEST = 1000


@dataclass
class BvhJoint:
    """A joint as the file states it: name, parent index, offset in file units, channel codes in file order."""

    name: str
    parent: int
    offset: tuple[float, float, float] | None = None
    channels: tuple[int, ...] | None = None


@dataclass
class BvhHeader:
    """All of a BVH file but its rows.

    Attributes:
        joints: Parents first, in the order of the file. Channels are indices into ``CHANNELS``.
        frame_count: What the file declares, or None.
        frame_count_line: The line of that.
        frame_time: Seconds as written; None where there is no such line.
        frame_time_line: The line of that, or of MOTION.
        rows_line: Line number of the first row.
        rows_offset: Byte offset of the first row.
    """

    joints: list[BvhJoint] = field(default_factory=list)
    frame_count: int | None = None
    frame_count_line: int = 0
    frame_time: str | None = None
    frame_time_line: int = 0
    rows_line: int = 0
    rows_offset: int = 0

    @property
    def channel_count(self) -> int:
        """Number of values a frame has."""
        return sum(len(joint.channels or ()) for joint in self.joints)

    def channel_name(self, channel: int) -> str:
        """Return joint and channel name of a column of the rows."""
        for joint in self.joints:
            count = len(joint.channels or ())
            if channel < count:
                return f"{joint.name} {CHANNELS[(joint.channels or ())[channel]]}"
            channel -= count
        raise IndexError("no such channel")


def read_header(path: str | os.PathLike[str], file: IO[bytes]) -> BvhHeader:
    """Read up to the first row of numbers.

    Args:
        path: Named in errors.
        file: Open for reading at its start.

    Raises:
        FormatError: Something is neither BVH nor one of its known dialects.
    """
    return _HeaderReader(path, file).read()


def framerate_of(path: str | os.PathLike[str], header: BvhHeader) -> float:
    """Return 1 / frame time [Hz], rounded once, so that a rate comes back as it was written.

    Raises:
        FormatError: There is no frame time, or it is not a positive number.
    """
    text, place = header.frame_time, header.frame_time_line
    fix = "pass framerate= to set the rate"
    if text is None:
        raise FormatError(path, place, f"'Frame Time' is missing; {fix}")
    number = text.replace(",", ".")
    if not NUMBER.fullmatch(number):
        raise FormatError(path, place, f"Frame Time must be a number of seconds, got {short(text)}; {fix}")
    seconds = float(number)
    if not 1e-9 <= seconds <= 1e9:
        raise FormatError(
            path, place, f"Frame Time must lie between 1e-9 and 1e9 s, got {short(text)}; {fix}"
        )
    return float(1 / decimal.Decimal(number))


class _HeaderReader:
    def __init__(self, path: str | os.PathLike[str], file: IO[bytes]) -> None:
        self.path = path
        self.file = file
        self.line = 0
        self.offset = 0
        self.header = BvhHeader()
        # Indices of the joints whose braces are open; None for an End Site.
        self.open: list[int | None] = []
        # A joint or End Site that was named and waits for its brace; () for none.
        self.named: tuple[int | None] | tuple[()] = ()

    def read(self) -> BvhHeader:
        pieces = self.pieces()
        first = next(pieces, None)
        if first is None:
            self.fail("must begin with HIERARCHY, got an empty file")
        if first.upper() != "HIERARCHY":
            self.fail(f"must begin with HIERARCHY, got {short(first)}")
        has_motion = False
        for piece in pieces:
            if piece.upper() == "MOTION":
                has_motion = True
                break
            self.take(piece)
        if self.open or self.named:
            where = "MOTION" if has_motion else "the end of the file"
            count = len(self.open) + len(self.named)
            self.fail(f"every joint must close its brace before {where}, {count} did not")
        if not self.header.joints:
            self.fail("HIERARCHY must hold at least one ROOT, got none")
        if has_motion:
            self.read_motion_lines()
        self.header.rows_line, self.header.rows_offset = self.line + 1, self.offset
        return self.header

    def fail(self, reason: str) -> NoReturn:
        raise FormatError(self.path, max(self.line, 1), reason)

    def next_line(self) -> str | None:
        """Return the next line that is not empty and not a comment, stripped; None at the end."""
        while raw := self.file.readline(_LONGEST_LINE):
            self.line += 1
            if self.line == 1 and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                self.fail("must be text in UTF-8 or Latin-1, got UTF-16")
            if len(raw) == _LONGEST_LINE:
                self.fail(f"lines of the header must be shorter than {_LONGEST_LINE} bytes")
            if b"\0" in raw:
                self.fail("must be text, got a zero byte")
            self.offset += len(raw)
            try:
                line = raw.decode("utf-8-sig" if self.line == 1 else "utf-8")
            except UnicodeDecodeError:
                line = raw.decode("latin-1")
            line = line.strip()
            if line and not line.startswith("#"):
                return line
        return None

    def pieces(self) -> Iterator[str]:
        """Yield the lines, with braces apart."""
        while (line := self.next_line()) is not None:
            for piece in re.split(r"([{}])", line):
                if piece.strip():
                    yield piece.strip()

    def take(self, piece: str) -> None:
        word, rest = (*piece.split(maxsplit=1), "")[:2]
        keyword = word.upper()
        if self.named and keyword != "{":
            self.fail(f"'{{' must follow the name of a joint, got {short(piece)}")
        if keyword == "{":
            self.open_brace()
        elif keyword == "}":
            self.close_brace()
        elif keyword in ("ROOT", "JOINT"):
            self.add_joint(keyword, rest)
        elif keyword == "END":
            if not self.open or self.open[-1] is None:
                self.fail("End Site must stand inside a joint")
            self.named = (None,)
        elif keyword == "OFFSET":
            self.set_offset(rest)
        elif keyword == "CHANNELS":
            self.set_channels(rest)
        else:
            near = did_you_mean(word, _KEYWORDS)
            self.fail(f"must be one of {', '.join(_KEYWORDS)}, got {short(word)}{near}")

    def open_brace(self) -> None:
        if not self.named:
            self.fail("'{' must follow the name of a joint")
        self.open.append(self.named[0])
        self.named = ()
        if len(self.open) > _DEEPEST:
            self.fail(f"joints must not be nested deeper than {_DEEPEST}")

    def close_brace(self) -> None:
        if not self.open:
            self.fail("'}' must close a joint, got one more than was opened")
        closed = self.open.pop()
        if closed is not None and self.header.joints[closed].offset is None:
            self.fail(f"joint {self.header.joints[closed].name!r} must have an OFFSET")

    def add_joint(self, keyword: str, name: str) -> None:
        if keyword == "ROOT" and self.open:
            self.fail("ROOT must not stand inside another joint")
        if keyword == "JOINT" and not self.open:
            self.fail("JOINT must stand inside the braces of its parent")
        parent = self.open[-1] if self.open else -1
        if parent is None:
            self.fail("End Site must not have joints")
        if not name:
            self.fail(f"{keyword} must have a name")
        self.header.joints.append(BvhJoint(name, parent))
        self.named = (len(self.header.joints) - 1,)

    def current(self, keyword: str) -> BvhJoint | None:
        """Return the joint whose braces are open, or None in an End Site."""
        if not self.open:
            self.fail(f"{keyword} must stand inside the braces of a joint")
        index = self.open[-1]
        return None if index is None else self.header.joints[index]

    def set_offset(self, rest: str) -> None:
        joint = self.current("OFFSET")
        words = rest.split()
        values = [float(w) if NUMBER.fullmatch(w) else math.nan for w in words]
        if len(values) != 3 or not all(abs(v) < _MOST_LENGTH for v in values):
            self.fail(f"OFFSET must be three numbers, got {short(rest)}")
        if joint is None:
            return
        if joint.offset is not None:
            self.fail(f"joint {joint.name!r} must have one OFFSET, got a second")
        joint.offset = (values[0], values[1], values[2])

    def set_channels(self, rest: str) -> None:
        joint = self.current("CHANNELS")
        if joint is None:
            self.fail("End Site must not have channels")
        if joint.channels is not None:
            self.fail(f"joint {joint.name!r} must have one CHANNELS line, got a second")
        count, *names = rest.split() or [""]
        if not (count.isascii() and count.isdecimal() and len(count) < 10):
            self.fail(f"CHANNELS must begin with their number, got {short(count)}")
        for name in names:
            if name.lower() not in _CODES:
                near = did_you_mean(name, CHANNELS)
                self.fail(f"channels must be among {', '.join(CHANNELS)}, got {short(name)}{near}")
        codes = tuple(_CODES[name.lower()] for name in names)
        if len(codes) != int(count):
            self.fail(f"CHANNELS must name {int(count)} channels, got {len(codes)}")
        if len(set(codes)) != len(codes):
            twice = next(CHANNELS[code] for code in codes if codes.count(code) > 1)
            self.fail(f"channels of a joint must differ, got {twice} twice")
        joint.channels = codes

    def read_motion_lines(self) -> None:
        """Read ``Frames`` and ``Frame Time``, either of which may be missing, and stop before the first row."""
        header = self.header
        header.frame_time_line = self.line
        while (text := self.next_line_of_motion()) is not None:
            if match := _FRAME_TIME.fullmatch(text):
                header.frame_time, header.frame_time_line = match[1], self.line
            elif match := _FRAMES.fullmatch(text):
                if not (match[1].isascii() and match[1].isdecimal() and len(match[1]) < 19):
                    self.fail(f"Frames must be a whole number, got {short(match[1])}")
                header.frame_count, header.frame_count_line = int(match[1]), self.line
            else:
                self.fail(f"must be 'Frames: N' or 'Frame Time: S', got {short(text)}")

    def next_line_of_motion(self) -> str | None:
        """Return the next line if it begins with 'frame', else None with the file where it was."""
        line, offset = self.line, self.offset
        while raw := self.file.readline(_LONGEST_LINE):
            self.line += 1
            self.offset += len(raw)
            text = raw[:256].strip()
            if text[:5].lower() == b"frame":
                return text.decode("latin-1")
            if text and not text.startswith(b"#"):
                break
        self.line, self.offset = line, offset
        return None


def short(text: str) -> str:
    """Return text for a message, quoted and cut to 40 characters."""
    return repr(text if len(text) <= 40 else text[:37] + "...")
