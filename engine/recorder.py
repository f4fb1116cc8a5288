"""Recorder: keeps the world poses of some rows over time and saves them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..io.atomic import atomic_write
from ..io.bvh import write_bvh
from ..io.motion import Motion
from ..io.npz import write_npz
from .batch import Batch
from .components import WorldPose

_BYTES_PER_JOINT = 28


class Recorder:
    """Records frames of a batch: call it after each step (``run(..., on_step=recorder)``).

    Args:
        batch: The batch.
        frames: How many frames there is room for.
        handles: The characters to record; None takes all that live now.

    Attributes:
        frame_count: Frames recorded.
        positions: (frames, N, J, 3) float32 [m], world space.
        rotations: (frames, N, J, 4) float32, world space.

    Raises:
        MemoryError: The frames do not fit into the memory that is free; the message says how to record less.
    """

    def __init__(self, batch: Batch, frames: int, handles: ArrayLike | None = None) -> None:
        self.batch = batch
        self.handles = (
            batch.table.handles() if handles is None else np.atleast_1d(np.asarray(handles, np.int64))
        )
        self.frame_count = 0
        shape = (frames, len(self.handles), batch.skeleton.joint_count)
        need, free = int(np.prod(shape, dtype=object)) * _BYTES_PER_JOINT, _free_memory()
        if free is not None and need > free:
            raise MemoryError(
                f"recording {frames} frames of {len(self.handles)} characters needs {need / 2**30:.1f} GiB, "
                f"{free / 2**30:.1f} GiB are free; record fewer characters or a shorter time"
            )
        self.positions = np.empty((*shape, 3), np.float32)
        self.rotations = np.empty((*shape, 4), np.float32)

    def __call__(self, world: object = None) -> None:
        """Record the present pose.

        Raises:
            IndexError: There is no room for another frame.
            KeyError: A recorded character was despawned.
        """
        if self.frame_count == len(self.positions):
            raise IndexError(f"the recorder has room for {len(self.positions)} frames, all are taken")
        rows = self.batch.table.rows(self.handles)
        pose = self.batch[WorldPose]
        self.positions[self.frame_count] = pose.world_positions.view()[rows]
        self.rotations[self.frame_count] = pose.world_rotations.view()[rows]
        self.frame_count += 1

    def motion(self, character: int, name: str = "") -> Motion:
        """Return what one character did as a motion at the world's rate."""
        span = slice(0, self.frame_count)
        return Motion.from_world(
            self.batch.skeleton,
            self.positions[span, character],
            self.rotations[span, character],
            self.batch.world.rate,
            name,
        )

    def save(self, path: str | os.PathLike[str], on_file: Callable[[Path], None] | None = None) -> list[Path]:
        """Save what was recorded.

        ``.bvh``: one file a character (``name_00000.bvh``, ... when there are several). ``.npz``: one character
        gives a motion file; several give one file with the same fields and ``positions (F, N, J, 3)``,
        ``quaternions (F, N, J, 4)``, uncompressed: ``Motion.LoadFromNPZ(path, character=...)`` reads one of them.

        Args:
            path: The file.
            on_file: Called with each file after it is written.

        Returns:
            The files written.

        Raises:
            ValueError: The ending is another one, or nothing was recorded.
        """
        path = Path(path)
        writers = {".bvh": write_bvh, ".npz": write_npz}
        if path.suffix.lower() not in writers:
            raise ValueError(f"the output must end in .npz or .bvh, got {path.name!r}")
        if not self.frame_count or not len(self.handles):
            raise ValueError("a recording must have at least one frame of one character, got none")
        write = writers[path.suffix.lower()]
        count = len(self.handles)
        paths = self.paths(path)
        for i, each in enumerate(paths):
            if count > 1 and write is write_npz:
                self._write_crowd(each)
            else:
                write(each, self.motion(i, each.stem))
            if on_file is not None:
                on_file(each)
        return paths

    def paths(self, path: Path) -> list[Path]:
        """Return the files that ``save`` writes."""
        count = len(self.handles)
        if count == 1 or path.suffix.lower() == ".npz":
            return [path]
        return [path.with_name(f"{path.stem}_{i:05d}{path.suffix}") for i in range(count)]

    def _write_crowd(self, path: Path) -> None:
        names, parents = self.batch.skeleton.names, self.batch.skeleton.parents
        fields: dict[str, NDArray] = {
            "name": np.array(path.stem),
            "framerate": np.array(self.batch.world.rate, np.float64),
            "positions": self.positions[: self.frame_count],
            "quaternions": self.rotations[: self.frame_count],
            "bone_names": np.array(names),
            "parent_names": np.array(["" if p < 0 else names[p] for p in parents]),
            "parent_indices": parents.astype(np.int64),
        }
        with atomic_write(path) as file:
            np.savez(file, **fields)  # type: ignore[arg-type]


def _free_memory() -> int | None:
    """Return the memory a new array may take [bytes], or None where the system does not say."""
    try:
        text = Path("/proc/meminfo").read_text()
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None
