"""Kinematics: local poses to world poses."""

from ...kernels import fk
from ..batch import Batch
from ..components import LocalPose, Origin, Rig, WorldPose
from ..system import Phase, RowSystem


class KinematicsSystem(RowSystem):
    """Derive each row's world pose from its local pose and its origin."""

    phase = Phase.SOLVE
    reads = (Rig, Origin, LocalPose)
    writes = (WorldPose,)

    def run_rows(self, batch: Batch, dt: float, start: int, stop: int) -> None:
        """Write the world pose."""
        rig, origin, local, world = batch[Rig], batch[Origin], batch[LocalPose], batch[WorldPose]
        fk.forward(
            rig.parents,
            rig.offsets,
            rig.slots,
            local.local_positions.data,
            local.local_rotations.data,
            origin.origin_positions.data,
            origin.origin_rotations.data,
            start,
            stop,
            world.world_positions.data,
            world.world_rotations.data,
        )
