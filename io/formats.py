"""Which reader takes which file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from .errors import FormatError
from .motion import Motion


def _read_bvh(path: Path, scale: float, framerate: float | None, positions: str) -> Motion:
    from .bvh import read_bvh

    return read_bvh(path, scale=scale, framerate=framerate, positions=positions)


def _read_npz(path: Path, scale: float, framerate: float | None, positions: str) -> Motion:
    from .npz import read_npz

    motion = read_npz(path)
    if scale != 1.0:
        motion = motion.scaled(scale)
    return motion if framerate is None else motion.at_framerate(framerate)


_READERS: dict[str, Callable[[Path, float, float | None, str], Motion]] = {
    ".bvh": _read_bvh,
    ".npz": _read_npz,
}


def motion_suffixes() -> tuple[str, ...]:
    """Return the endings ``read_motion`` takes, in lower case."""
    return tuple(_READERS)


def read_motion(
    path: str | os.PathLike[str],
    *,
    scale: float = 1.0,
    framerate: float | None = None,
    positions: str = "absolute",
) -> Motion:
    """Read a motion file of any known format, told by its ending.

    Args:
        path: The file.
        scale: Factor on all lengths: 0.01 for a file in centimetres.
        framerate: Frames per second [Hz] in place of the file's own.
        positions: What a BVH file's position channels mean, see ``read_bvh``.

    Raises:
        FileNotFoundError: No such file.
        FormatError: The ending is unknown, or the file is broken.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no such file: {os.fspath(path)!r}")
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise FormatError(path, None, f"must end in one of {', '.join(_READERS)}, got {path.suffix!r}")
    return reader(path, scale, framerate, positions)
