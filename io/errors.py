"""The one error of the readers and writers."""

import os


class FormatError(ValueError):
    """A file does not hold what its format promises.

    Args:
        path: The file.
        place: Where in it: a line number, a key, a byte offset; None when the whole file is meant.
        reason: The rule that was broken, the value that was found and, where there is one, the fix.
    """

    def __init__(self, path: str | os.PathLike[str], place: int | str | None, reason: str) -> None:
        self.path = os.fspath(path)
        self.place = place
        self.reason = reason
        where = self.path if place is None else f"{self.path}:{place}"
        super().__init__(f"{where}: {reason}")

    def __reduce__(self) -> tuple[type["FormatError"], tuple[str, int | str | None, str]]:
        # ValueError would be rebuilt from the message alone, which breaks crossing a process boundary.
        return FormatError, (self.path, self.place, self.reason)


class FormatWarning(UserWarning):
    """A file was read, but something in it contradicts itself or is not a number."""
