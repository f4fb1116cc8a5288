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

    Any exception, a full disk or Ctrl-C included, removes the temporary file and leaves ``path`` as it was. A
    symbolic link stays; the file it points to is replaced.

    Raises:
        FileNotFoundError: The folder does not exist.
        OSError: ``path`` is a folder, a device or a pipe, or cannot be written; the message names it.
    """
    path = Path(os.path.realpath(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"the folder of {os.fspath(path)!r} does not exist; create {str(path.parent)!r} first"
        )
    if path.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder; name a file in it")
    if path.exists() and not path.is_file():
        raise OSError(f"{os.fspath(path)!r} is no regular file; name another one")
    try:
        handle, temporary = tempfile.mkstemp(prefix=".ai4animation-", suffix=".part", dir=path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _match_permissions(temporary, path)
        os.replace(temporary, path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
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
