"""Which reader takes which file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from .errors import FormatError
from .motion import Motion


def _read_bvh(path: Path, scale: float) -> Motion:
    from .bvh import read_bvh

    return read_bvh(path, scale=scale)


def _read_npz(path: Path, scale: float) -> Motion:
    from .npz import read_npz

    motion = read_npz(path)
    return motion if scale == 1.0 else motion.scaled(scale)


_READERS: dict[str, Callable[[Path, float], Motion]] = {".bvh": _read_bvh, ".npz": _read_npz}


def motion_suffixes() -> tuple[str, ...]:
    """Return the endings ``read_motion`` takes, in lower case."""
    return tuple(_READERS)


def read_motion(path: str | os.PathLike[str], *, scale: float = 1.0) -> Motion:
    """Read a motion file of any known format, told by its ending.

    Args:
        path: The file.
        scale: Factor on all lengths: 0.01 for a file in centimetres.

    Raises:
        FileNotFoundError: No such file.
        FormatError: The ending is unknown, or the file is broken.
    """
    path = Path(path)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        if not path.exists():
            raise FileNotFoundError(f"no such file: {os.fspath(path)!r}")
        raise FormatError(path, None, f"must end in one of {', '.join(_READERS)}, got {path.suffix!r}")
    return reader(path, scale)
