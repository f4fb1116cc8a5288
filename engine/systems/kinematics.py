"""Kinematics: local poses to world poses."""

import esper

from ...kernels import fk
from ...kernels.threads import run_rows
from ..components import LocalPose, Origin, Rig, WorldPose
from ..system import Phase, System


class KinematicsSystem(System):
    """Derive each row's world pose from its local pose and its origin."""

    phase = Phase.SOLVE
    reads = (Rig, Origin, LocalPose)
    writes = (WorldPose,)

    def run(self, dt: float) -> None:
        """Write the world pose of every batch."""
        for _, (rig, origin, local, world) in esper.get_components(Rig, Origin, LocalPose, WorldPose):
            run_rows(
                fk.forward,
                (
                    rig.parents,
                    rig.offsets,
                    rig.slots,
                    local.local_positions.data,
                    local.local_rotations.data,
                    origin.origin_positions.data,
                    origin.origin_rotations.data,
                ),
                world.count,
                (world.world_positions.data, world.world_rotations.data),
                columns=rig.skeleton.joint_count,
            )
