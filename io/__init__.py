"""Files to motions and back. One format a module: ``read_x`` and ``write_x``."""

from .errors import FormatError

__all__ = ["FormatError"]
