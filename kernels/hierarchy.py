"""Scene hierarchy: local transforms with scale to world transforms, one row a node."""

from .jit import kernel
from .quat import quat_mul, quat_rotate


@kernel
def compose(
    order,
    parents,
    local_positions,
    local_rotations,
    local_scales,
    start,
    stop,
    world_positions_out,
    world_rotations_out,
    world_scales_out,
):
    """Compose node transforms from the roots to the leaves.

    order                (N,)    i4  1  rows in an order that has parents first
    parents              (N,)    i4  1  row of the parent, -1 for a root
    local_positions      (3, N)  f4  m  in the parent's space
    local_rotations      (4, N)  f4  1  unit quaternions x y z w
    local_scales         (3, N)  f4  1  per axis
    start                ()      i8  1  first place in order
    stop                 ()      i8  1  one past the last place
    world_positions_out  (3, N)  f4  m  world space
    world_rotations_out  (4, N)  f4  1  world space
    world_scales_out     (3, N)  f4  1  product of the scales down the tree, per axis

    Scale never enters the rotation, so no shear arises: a child's position is scaled by its parent's world scale
    before it is turned, and scales multiply axis by axis.
    """
    for k in range(start, stop):
        i = order[k]
        p = parents[i]
        x, y, z = local_positions[0, i], local_positions[1, i], local_positions[2, i]
        qx, qy, qz, qw = (
            local_rotations[0, i],
            local_rotations[1, i],
            local_rotations[2, i],
            local_rotations[3, i],
        )
        sx, sy, sz = local_scales[0, i], local_scales[1, i], local_scales[2, i]
        if p >= 0:
            ax, ay = world_rotations_out[0, p], world_rotations_out[1, p]
            az, aw = world_rotations_out[2, p], world_rotations_out[3, p]
            px, py, pz = world_scales_out[0, p], world_scales_out[1, p], world_scales_out[2, p]
            x, y, z = quat_rotate(ax, ay, az, aw, x * px, y * py, z * pz)
            x, y, z = (
                x + world_positions_out[0, p],
                y + world_positions_out[1, p],
                z + world_positions_out[2, p],
            )
            qx, qy, qz, qw = quat_mul(ax, ay, az, aw, qx, qy, qz, qw)
            sx, sy, sz = sx * px, sy * py, sz * pz
        world_positions_out[0, i], world_positions_out[1, i], world_positions_out[2, i] = x, y, z
        world_rotations_out[0, i], world_rotations_out[1, i] = qx, qy
        world_rotations_out[2, i], world_rotations_out[3, i] = qz, qw
        world_scales_out[0, i], world_scales_out[1, i], world_scales_out[2, i] = sx, sy, sz
