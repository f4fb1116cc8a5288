"""Hierarchy: local node transforms to world node transforms."""

from ..scene import Scene
from ..system import Phase, System


class HierarchySystem(System):
    """Derive the world transforms of the world's scene nodes."""

    phase = Phase.SOLVE
    reads = (Scene,)
    writes = (Scene,)

    def run(self, dt: float) -> None:
        """Update the scene."""
        self.world.scene.update()
