"""Motions as BVH files."""

from __future__ import annotations

import decimal
import os
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..kernels.channels import degrees_unwrapped
from ..kernels.euler import quat_to_euler_rows
from ..kernels.text import format_rows
from .atomic import atomic_write
from .bvh_header import CHANNELS
from .motion import Motion
from .skeleton import Skeleton

Array = NDArray[np.float32]

# Numbers in one block of text: the memory of writing is about 40 bytes for each.
_BLOCK = 1 << 17
_ANGLE_DECIMALS = 6
_MOST_LENGTH = 1e9


def write_bvh(path: str | os.PathLike[str], motion: Motion, *, order: str = "ZXY") -> None:
    """Write a motion as BVH.

    Lengths are written as they are, in metres; ``motion.scaled(100)`` gives a file in centimetres. Roots and joints
    that move relative to their parent get six channels, absolute positions first, all others three. Joints
    come depth first. Every leaf gets an End Site of zero length. Angles follow on without jumps of whole turns.

    Args:
        path: The file, replaced whole or not at all.
        motion: What to write.
        order: Rotation order of every joint, outermost first: a permutation of "XYZ".

    Raises:
        FileNotFoundError: The folder does not exist.
        ValueError: The order is no permutation, a name cannot stand in a BVH file, a value is not finite or a
            length beyond 1e9.
    """
    if sorted(order) != ["X", "Y", "Z"]:
        raise ValueError(f"order must be a permutation of 'XYZ', got {order!r}")
    joints = _depth_first(motion.skeleton)
    with atomic_write(path) as file:
        for line in _hierarchy(motion, order):
            file.write(line.encode() + b"\n")
        # The exact reciprocal to 28 digits: reading it gives the same rate again.
        frame_time = f"{1 / decimal.Decimal(motion.framerate):f}"
        file.write(f"MOTION\nFrames: {motion.frame_count}\nFrame Time: {frame_time}\n".encode())
        for text in _rows(motion, joints, order):
            file.write(text)


def _depth_first(skeleton: Skeleton) -> list[int]:
    order: list[int] = []
    waiting = list(reversed(skeleton.roots))
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting.extend(reversed(skeleton.children(joint)))
    return order


def _hierarchy(motion: Motion, order: str) -> Iterator[str]:
    skeleton = motion.skeleton
    moving = set(motion.translated.tolist())
    turns = " ".join(f"{axis}rotation" for axis in order)
    yield "HIERARCHY"
    depths = skeleton.depths.tolist()
    depth = 0
    for joint in _depth_first(skeleton):
        for level in range(depth - 1, depths[joint] - 1, -1):
            yield "\t" * level + "}"
        depth = depths[joint]
        name, offset = skeleton.names[joint], skeleton.offsets[joint]
        if not name or name != name.strip() or any(c in name for c in "{}\r\n\0"):
            raise ValueError(
                f"joint names must be one line without braces or blanks at the ends, got {name!r}"
            )
        if not (np.abs(offset) <= _MOST_LENGTH).all():
            raise ValueError(f"offset of joint {name!r} must be finite and below 1e9, got {offset.tolist()}")
        indent = "\t" * depth
        yield f"{indent}{'JOINT' if depth else 'ROOT'} {name}"
        yield indent + "{"
        yield f"{indent}\tOFFSET " + " ".join(np.format_float_positional(v, trim="0") for v in offset)
        channels = f"6 {' '.join(CHANNELS[:3])} {turns}" if joint in moving else f"3 {turns}"
        yield f"{indent}\tCHANNELS {channels}"
        if not skeleton.children(joint):
            yield from (
                f"{indent}\tEnd Site",
                f"{indent}\t{{",
                f"{indent}\t\tOFFSET 0.0 0.0 0.0",
                f"{indent}\t}}",
            )
        depth += 1
    for level in range(depth - 1, -1, -1):
        yield "\t" * level + "}"


def _rows(motion: Motion, joints: list[int], order: str) -> Iterator[memoryview]:
    """Yield the text of the frames, some at a time."""
    slots = motion.slots[joints]
    counts = np.where(slots >= 0, 6, 3)
    ends = np.cumsum(counts)
    angle_channels = (ends - 3)[:, None] + np.arange(3)
    moving = np.flatnonzero(slots >= 0)
    position_channels = (ends - 6)[moving, None] + np.arange(3)
    channels = int(ends[-1])
    decimals = np.full(channels, _ANGLE_DECIMALS, np.int32)
    decimals[position_channels] = _position_decimals(motion)
    axes = np.array(["XYZ".index(axis) for axis in order], np.int32)
    block = max(1, _BLOCK // channels)
    previous = np.zeros((len(joints), 3), np.float32)
    text = np.empty(block * channels * 22, np.uint8)
    length = np.zeros(1, np.int64)
    for start in range(0, motion.frame_count, block):
        stop = min(start + block, motion.frame_count)
        rows = stop - start
        rotations = np.ascontiguousarray(motion.local_rotation_column[joints, :, start:stop])
        positions = motion.local_position_column[slots[moving], :, start:stop]
        _check_finite(motion, joints, rotations, start)
        _check_finite(motion, [joints[k] for k in moving], positions, start)
        angles, degrees = np.empty((2, len(joints), 3, rows), np.float32)
        quat_to_euler_rows(rotations, axes, 1, 0, rows, angles)
        degrees_unwrapped(angles, previous, 0, rows, degrees)
        previous = degrees[:, :, -1].copy()
        values = np.empty((channels, rows), np.float32)
        values[angle_channels] = degrees
        values[position_channels] = positions
        format_rows(values, decimals, 0, rows, text, length)
        yield memoryview(text)[: int(length[0])]


def _position_decimals(motion: Motion) -> int:
    """Return how many decimals keep positions to 1e-6 of the skeleton's size; 6 at least, 9 at most."""
    size = float(np.abs(motion.skeleton.offsets[motion.skeleton.parents >= 0]).max(initial=0.0))
    return int(np.clip(6 - np.floor(np.log10(size)), 6, 9)) if size > 0 else 9


def _check_finite(motion: Motion, joints: list[int], values: Array, start: int) -> None:
    fine = np.abs(values) <= _MOST_LENGTH
    if fine.all():
        return
    joint, channel, row = (int(i) for i in np.argwhere(~fine)[0])
    raise ValueError(
        f"values written to BVH must be finite and below 1e9, got {values[joint, channel, row]} for joint "
        f"{motion.skeleton.names[joints[joint]]!r} in frame {start + row}"
    )
