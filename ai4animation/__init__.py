"""AI-driven character animation on structure-of-arrays buffers.

The public names below load on first use, so ``import ai4animation`` costs next to nothing and brings in
neither numba, torch nor a graphics library.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

# The four layers are root folders of the repository (kernels/, io/, engine/, learning/). An installed
# package holds them inside ai4animation/; a checkout finds them here.
_root = Path(__file__).resolve().parent.parent
if (_root / "pyproject.toml").is_file() and (_root / "engine").is_dir():
    __path__.insert(0, str(_root))

if TYPE_CHECKING:
    from .engine.modes import Mode, run
    from .engine.world import World
    from .io.motion import Motion
    from .io.skeleton import Skeleton

__version__ = "0.1.0"

_HOME = {
    "Mode": ".engine.modes",
    "Motion": ".io.motion",
    "Skeleton": ".io.skeleton",
    "World": ".engine.world",
    "run": ".engine.modes",
}

__all__ = ["Mode", "Motion", "Skeleton", "World", "__version__", "run"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ai4animation' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
