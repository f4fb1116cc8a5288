"""BVH files to motions and back.

Reading: ``bvh_header`` takes the hierarchy, ``bvh_rows`` the numbers, a kernel turns channels into poses block by
block. Angles are in degrees; the first rotation channel of a joint is the outermost. End Sites are not joints.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..kernels.channels import pose_from_channels
from .bvh_header import BvhHeader, framerate_of, read_header
from .bvh_rows import Rows, read_rows
from .bvh_write import write_bvh
from .errors import FormatError, FormatWarning
from .motion import Motion, check_framerate, check_scale
from .skeleton import Skeleton, unique_names

__all__ = ["read_bvh", "write_bvh"]

Array = NDArray[np.float32]

# The rate of a clip that has neither frames nor a usable frame time.
_DEFAULT_FRAMERATE = 30.0
# Position channels within this share of the OFFSET's length look as if they told the difference to it.
_NEAR = 0.1


def read_bvh(
    path: str | os.PathLike[str],
    *,
    scale: float = 1.0,
    framerate: float | None = None,
    positions: str = "absolute",
) -> Motion:
    """Read a BVH file.

    The rows decide how many frames there are, not the declared number. Joints whose position channels stay where
    they are become joints with that offset. Repeated names get a suffix. Fields such as ``nan`` and ``-1.#IND00``
    are NaN in that frame and joint only.

    Args:
        path: The file.
        scale: Metres of a unit of the file: 0.01 for centimetres.
        framerate: Frames per second [Hz] in place of 1 / Frame Time. A clip without frames needs none: where the
            file has no usable Frame Time its rate is 30.
        positions: What position channels mean: "absolute" replaces OFFSET, axis by axis (most files);
            "relative" is added to OFFSET (iClone).

    Returns:
        The motion, named after the file's stem. Missing rotation channels are zero angles, axes without a
        position channel keep OFFSET.

    Warns:
        FormatWarning: The declared number of frames is wrong, fields are not finite numbers, or the position
            channels look like the other convention.

    Raises:
        FileNotFoundError: No such file.
        FormatError: The file is broken, at the line it names.
        ValueError: ``scale``, ``framerate`` or ``positions`` is none of what is allowed.
    """
    if positions not in ("absolute", "relative"):
        raise ValueError(f"positions must be 'absolute' or 'relative', got {positions!r}")
    check_scale(scale)
    rate = None if framerate is None else check_framerate(framerate)
    with open(path, "rb") as file:
        header = read_header(path, file)
        sink = _PoseSink(header, scale, is_relative=positions == "relative")
        try:
            rows = read_rows(path, file, header, sink)
        except MemoryError:
            joints = len(header.joints)
            raise FormatError(
                path, None, f"its frames of {joints} joints need more memory than there is"
            ) from None
    if rate is None:
        rate = _framerate(path, header, rows)
    sink.reserve(rows.count)
    _warn_of_frames(path, header, rows)
    _warn_of_convention(path, header, sink)
    skeleton, moving = sink.split()
    translated = sink.joints[moving]
    local_positions = sink.positions if len(moving) == len(sink.joints) else sink.positions[moving]
    return Motion.from_columns(skeleton, sink.rotations, local_positions, translated, rate, Path(path).stem)


class _PoseSink:
    """Takes rows of channels and keeps local poses.

    Attributes:
        joints: (P,) the joints with position channels, and the roots, ascending.
        rotations: (J, 4, capacity).
        positions: (P, 3, capacity).
    """

    def __init__(self, header: BvhHeader, scale: float, is_relative: bool) -> None:
        self.header = header
        self.scale = scale
        self.is_relative = is_relative
        self.capacity = 0
        self.parents = np.array([joint.parent for joint in header.joints], np.int32)
        # The offsets are bounded by 1e30; a scale may still carry them beyond float32, to infinity.
        with np.errstate(over="ignore"):
            self.offsets = (scale * np.array([joint.offset for joint in header.joints])).astype(np.float32)
        self.plan()
        self.rotations = np.empty((len(self.parents), 4, 0), np.float32)
        self.positions = np.empty((len(self.joints), 3, 0), np.float32)

    def plan(self) -> None:
        """Find for each joint the channel of each angle and coordinate; the one behind the last is zero."""
        none = self.header.channel_count
        axes, angles, coordinates, joints = [], [], [], []
        column = 0
        for j, joint in enumerate(self.header.joints):
            codes = joint.channels or ()
            place = {code: column + i for i, code in enumerate(codes)}
            column += len(codes)
            turns = [code - 3 for code in codes if code >= 3]
            turns += [axis for axis in range(3) if axis not in turns]
            axes.append(turns)
            angles.append([place.get(axis + 3, none) for axis in turns])
            if joint.parent < 0 or any(code < 3 for code in codes):
                joints.append(j)
                coordinates.append([place.get(axis, none) for axis in range(3)])
        self.axes, self.angle_channels = np.array(axes, np.int32), np.array(angles, np.int32)
        self.joints, self.position_channels = np.array(joints, np.int32), np.array(coordinates, np.int32)
        keeps_offset = (self.position_channels == none) | self.is_relative
        self.bases = np.where(keeps_offset, self.offsets[self.joints], np.float32(0))

    def reserve(self, rows: int) -> None:
        """Make room for exactly so many rows."""
        self.rotations = _resized(self.rotations, rows)
        self.positions = _resized(self.positions, rows)
        self.capacity = rows

    def put(self, values: Array, first: int, rows: int) -> None:
        """Turn channels into the poses of rows ``first`` to ``first + rows``."""
        pose_from_channels(
            values,
            first,
            self.axes,
            self.angle_channels,
            self.position_channels,
            self.bases,
            float(self.scale),
            first,
            first + rows,
            self.rotations,
            self.positions,
        )

    def split(self) -> tuple[Skeleton, NDArray[np.intp]]:
        """Return the skeleton and which of ``joints`` move; the others have their place as offset.

        A joint is still where its positions stay within 1e-6 of the skeleton's size, as in ``Motion``.
        """
        names = unique_names([joint.name for joint in self.header.joints])
        is_root = self.parents[self.joints] < 0
        if not self.capacity:
            return Skeleton(names, self.parents, self.offsets), np.flatnonzero(is_root)
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = self.positions.min(axis=2), self.positions.max(axis=2)
            middle = low + (high - low) * np.float32(0.5)
            rest = self.offsets.copy()
            rest[self.joints] = middle
            size = 4 * float(np.nan_to_num(np.abs(rest[self.parents >= 0])).max(initial=0.0))
            # Not "high - low > ...": a NaN must count as moving.
            moves = is_root | ~((high - low).max(axis=1) <= 1e-6 * size)
        rest[self.joints[moves]] = self.offsets[self.joints[moves]]
        return Skeleton(names, self.parents, rest), np.flatnonzero(moves)


def _resized(column: Array, rows: int) -> Array:
    """Return a column with more or fewer rows; fewer stay in the memory there is, moved together."""
    count, width, capacity = column.shape
    if rows == capacity:
        return column
    if rows > capacity:
        larger = np.empty((count, width, rows), np.float32)
        larger[:, :, :capacity] = column
        return larger
    flat = column.reshape(-1)
    for line in range(count * width):
        flat[line * rows : (line + 1) * rows] = flat[line * capacity : line * capacity + rows]
    return flat[: count * width * rows].reshape(count, width, rows)


def _framerate(path: str | os.PathLike[str], header: BvhHeader, rows: Rows) -> float:
    try:
        return framerate_of(path, header)
    except FormatError:
        if rows.count:
            raise
        return _DEFAULT_FRAMERATE


def _warn_of_frames(path: str | os.PathLike[str], header: BvhHeader, rows: Rows) -> None:
    if header.frame_count not in (None, rows.count):
        warnings.warn(
            f"{os.fspath(path)}:{header.frame_count_line}: Frames declares {header.frame_count}, "
            f"the file holds {rows.count}; all of these are loaded",
            FormatWarning,
            stacklevel=4,
        )
    if len(rows.bad):
        frames, channels = np.unique(rows.bad[:, 0]), np.unique(rows.bad[:, 1])
        names = [header.channel_name(int(channel)) for channel in channels[:6]]
        warnings.warn(
            f"{os.fspath(path)}: {len(frames)} frames hold values that are not finite numbers, NaN in their "
            f"place: frames {_some(frames.tolist())}, channels {_some(names, len(channels))}",
            FormatWarning,
            stacklevel=4,
        )


def _some(items: Sequence[object], count: int | None = None) -> str:
    """Return the first five items as text, and how many more there are."""
    more = (len(items) if count is None else count) - 5
    return ", ".join(map(str, items[:5])) + (f" and {more} more" if more > 0 else "")


def _warn_of_convention(path: str | os.PathLike[str], header: BvhHeader, sink: _PoseSink) -> None:
    """Warn where position channels look like the other convention; which one holds is the caller's to say.

    A root is where the character goes, so only its height can tell, and only when it never leaves the ground.
    """
    if not sink.capacity:
        return
    offsets = sink.offsets[sink.joints]
    is_root = sink.parents[sink.joints] < 0
    has_all = (sink.position_channels < header.channel_count).all(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        # Absolute channels near zero, or relative ones near OFFSET, hint at the other convention.
        origin = 2 * offsets if sink.is_relative else np.zeros_like(offsets)
        farthest = np.maximum(
            np.abs(sink.positions.min(axis=2) - origin), np.abs(sink.positions.max(axis=2) - origin)
        )
        length = np.sqrt((offsets**2).sum(axis=1))
        counts = has_all & ~is_root & (length > 0.01 * length.max(initial=0))
        near = np.sqrt((farthest**2).sum(axis=1)) < _NEAR * length
        is_odd = bool(counts.any()) and int((near & counts).sum()) * 2 > int(counts.sum())
        if not sink.is_relative:
            grounded = is_root & has_all & (farthest[:, 1] < _NEAR * np.abs(offsets[:, 1]))
            is_odd = is_odd or bool(grounded.any())
    if is_odd:
        found, other, place = (
            ("relative", "absolute", "OFFSET") if sink.is_relative else ("absolute", "relative", "zero")
        )
        warnings.warn(
            f"{os.fspath(path)}: position channels are read as {found} but stay near {place}; "
            f"if the pose looks wrong, pass positions={other!r}",
            FormatWarning,
            stacklevel=4,
        )
