"""Writers that leave either the old file or the whole new one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path``; on success it is synced to disk and takes its place.

    Any exception, a full disk or Ctrl-C included, removes the temporary file and leaves ``path`` as it was.

    Raises:
        FileNotFoundError: The folder does not exist.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"the folder of {os.fspath(path)!r} does not exist; create {str(path.parent)!r} first"
        )
    if path.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder; name a file in it")
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _match_permissions(temporary, path)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _match_permissions(temporary: str, path: Path) -> None:
    """Give the temporary file (mode 0600) the mode of the file it replaces, or the user's default."""
    if path.exists():
        mode = path.stat().st_mode & 0o7777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    os.chmod(temporary, mode)
