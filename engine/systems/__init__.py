"""Systems: each reads and writes named components and calls one kernel per batch."""

from .hierarchy import HierarchySystem
from .kinematics import KinematicsSystem
from .playback import PlaybackSystem

__all__ = ["HierarchySystem", "KinematicsSystem", "PlaybackSystem"]
