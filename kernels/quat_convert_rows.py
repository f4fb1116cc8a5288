"""Rotations to and from other forms over columns: the helpers of ``quat`` for M joints (or 1) and N rows.

Axis and angle, rotation vectors, 3 x 3 matrices, their first two columns (6D), pairs of directions. What a
helper defines for zero vectors, half turns and the like holds here too. Columns with one value a joint are
``(M, N)``.
"""

from .jit import kernel
from .quat import (
    quat_exp,
    quat_from_6d,
    quat_from_axis_angle,
    quat_from_matrix,
    quat_from_to,
    quat_log,
    quat_look,
    quat_to_6d,
    quat_to_axis_angle,
    quat_to_matrix,
)


@kernel
def quat_from_axis_angle_rows(axes, angles, start, stop, rotations_out):
    """Turn axes and angles into rotations.

    axes           (M, 3, N)  f4  1    of any length; about a zero axis the identity
    angles         (M, N)     f4  rad  magnitude up to 50,000
    start          ()         i8  1    first row
    stop           ()         i8  1    one past the last row
    rotations_out  (M, 4, N)  f4  1    unit quaternions x y z w
    """
    for m in range(axes.shape[0]):
        ux, uy, uz = axes[m, 0, start:stop], axes[m, 1, start:stop], axes[m, 2, start:stop]
        angle = angles[m, start:stop]
        ox, oy = rotations_out[m, 0, start:stop], rotations_out[m, 1, start:stop]
        oz, ow = rotations_out[m, 2, start:stop], rotations_out[m, 3, start:stop]
        for i in range(stop - start):
            ox[i], oy[i], oz[i], ow[i] = quat_from_axis_angle(ux[i], uy[i], uz[i], angle[i])


@kernel
def quat_to_axis_angle_rows(rotations, start, stop, axes_out, angles_out):
    """Turn rotations into axes and angles.

    rotations   (M, 4, N)  f4  1    unit quaternions x y z w
    start       ()         i8  1    first row
    stop        ()         i8  1    one past the last row
    axes_out    (M, 3, N)  f4  1    unit; +Y where the angle is below 1e-15
    angles_out  (M, N)     f4  rad  0 to pi
    """
    for m in range(rotations.shape[0]):
        qx, qy = rotations[m, 0, start:stop], rotations[m, 1, start:stop]
        qz, qw = rotations[m, 2, start:stop], rotations[m, 3, start:stop]
        ox, oy, oz = axes_out[m, 0, start:stop], axes_out[m, 1, start:stop], axes_out[m, 2, start:stop]
        angle = angles_out[m, start:stop]
        for i in range(stop - start):
            ox[i], oy[i], oz[i], angle[i] = quat_to_axis_angle(qx[i], qy[i], qz[i], qw[i])


@kernel
def quat_exp_rows(vectors, start, stop, rotations_out):
    """Turn rotation vectors into rotations.

    vectors        (M, 3, N)  f4  rad  axis times angle, length up to 50,000
    start          ()         i8  1    first row
    stop           ()         i8  1    one past the last row
    rotations_out  (M, 4, N)  f4  1    unit quaternions x y z w
    """
    for m in range(vectors.shape[0]):
        vx, vy, vz = vectors[m, 0, start:stop], vectors[m, 1, start:stop], vectors[m, 2, start:stop]
        ox, oy = rotations_out[m, 0, start:stop], rotations_out[m, 1, start:stop]
        oz, ow = rotations_out[m, 2, start:stop], rotations_out[m, 3, start:stop]
        for i in range(stop - start):
            ox[i], oy[i], oz[i], ow[i] = quat_exp(vx[i], vy[i], vz[i])


@kernel
def quat_log_rows(rotations, start, stop, vectors_out):
    """Turn rotations into rotation vectors the short way.

    rotations    (M, 4, N)  f4  1    unit quaternions x y z w
    start        ()         i8  1    first row
    stop         ()         i8  1    one past the last row
    vectors_out  (M, 3, N)  f4  rad  axis times angle, length 0 to pi
    """
    for m in range(rotations.shape[0]):
        qx, qy = rotations[m, 0, start:stop], rotations[m, 1, start:stop]
        qz, qw = rotations[m, 2, start:stop], rotations[m, 3, start:stop]
        ox, oy, oz = (
            vectors_out[m, 0, start:stop],
            vectors_out[m, 1, start:stop],
            vectors_out[m, 2, start:stop],
        )
        for i in range(stop - start):
            ox[i], oy[i], oz[i] = quat_log(qx[i], qy[i], qz[i], qw[i])


@kernel
def quat_from_matrix_rows(matrices, start, stop, rotations_out):
    """Turn rotation matrices into quaternions.

    matrices       (M, 9, N)  f4  1  rotation matrices, row by row
    start          ()         i8  1  first row
    stop           ()         i8  1  one past the last row
    rotations_out  (M, 4, N)  f4  1  unit, w >= 0
    """
    for m in range(matrices.shape[0]):
        m00, m01, m02 = matrices[m, 0, start:stop], matrices[m, 1, start:stop], matrices[m, 2, start:stop]
        m10, m11, m12 = matrices[m, 3, start:stop], matrices[m, 4, start:stop], matrices[m, 5, start:stop]
        m20, m21, m22 = matrices[m, 6, start:stop], matrices[m, 7, start:stop], matrices[m, 8, start:stop]
        ox, oy = rotations_out[m, 0, start:stop], rotations_out[m, 1, start:stop]
        oz, ow = rotations_out[m, 2, start:stop], rotations_out[m, 3, start:stop]
        for i in range(stop - start):
            ox[i], oy[i], oz[i], ow[i] = quat_from_matrix(
                m00[i], m01[i], m02[i], m10[i], m11[i], m12[i], m20[i], m21[i], m22[i]
            )


@kernel
def quat_to_matrix_rows(rotations, start, stop, matrices_out):
    """Turn quaternions into rotation matrices.

    rotations     (M, 4, N)  f4  1  unit quaternions x y z w
    start         ()         i8  1  first row
    stop          ()         i8  1  one past the last row
    matrices_out  (M, 9, N)  f4  1  row by row
    """
    for m in range(rotations.shape[0]):
        qx, qy = rotations[m, 0, start:stop], rotations[m, 1, start:stop]
        qz, qw = rotations[m, 2, start:stop], rotations[m, 3, start:stop]
        m00, m01, m02 = (
            matrices_out[m, 0, start:stop],
            matrices_out[m, 1, start:stop],
            matrices_out[m, 2, start:stop],
        )
        m10, m11, m12 = (
            matrices_out[m, 3, start:stop],
            matrices_out[m, 4, start:stop],
            matrices_out[m, 5, start:stop],
        )
        m20, m21, m22 = (
            matrices_out[m, 6, start:stop],
            matrices_out[m, 7, start:stop],
            matrices_out[m, 8, start:stop],
        )
        for i in range(stop - start):
            m00[i], m01[i], m02[i], m10[i], m11[i], m12[i], m20[i], m21[i], m22[i] = quat_to_matrix(
                qx[i], qy[i], qz[i], qw[i]
            )


@kernel
def quat_from_6d_rows(columns, start, stop, rotations_out):
    """Turn the first two columns of rotation matrices into quaternions by Gram and Schmidt's construction.

    columns        (M, 6, N)  f4  1  first column, then second; any length and angle
    start          ()         i8  1  first row
    stop           ()         i8  1  one past the last row
    rotations_out  (M, 4, N)  f4  1  unit, w >= 0; degenerate columns as in ``quat_from_6d``
    """
    for m in range(columns.shape[0]):
        ax, ay, az = columns[m, 0, start:stop], columns[m, 1, start:stop], columns[m, 2, start:stop]
        bx, by, bz = columns[m, 3, start:stop], columns[m, 4, start:stop], columns[m, 5, start:stop]
        ox, oy = rotations_out[m, 0, start:stop], rotations_out[m, 1, start:stop]
        oz, ow = rotations_out[m, 2, start:stop], rotations_out[m, 3, start:stop]
        for i in range(stop - start):
            ox[i], oy[i], oz[i], ow[i] = quat_from_6d(ax[i], ay[i], az[i], bx[i], by[i], bz[i])


@kernel
def quat_to_6d_rows(rotations, start, stop, columns_out):
    """Turn quaternions into the first two columns of their rotation matrices.

    rotations    (M, 4, N)  f4  1  unit quaternions x y z w
    start        ()         i8  1  first row
    stop         ()         i8  1  one past the last row
    columns_out  (M, 6, N)  f4  1  first column, then second
    """
    for m in range(rotations.shape[0]):
        qx, qy = rotations[m, 0, start:stop], rotations[m, 1, start:stop]
        qz, qw = rotations[m, 2, start:stop], rotations[m, 3, start:stop]
        ax, ay, az = (
            columns_out[m, 0, start:stop],
            columns_out[m, 1, start:stop],
            columns_out[m, 2, start:stop],
        )
        bx, by, bz = (
            columns_out[m, 3, start:stop],
            columns_out[m, 4, start:stop],
            columns_out[m, 5, start:stop],
        )
        for i in range(stop - start):
            ax[i], ay[i], az[i], bx[i], by[i], bz[i] = quat_to_6d(qx[i], qy[i], qz[i], qw[i])


@kernel
def quat_from_to_rows(a, b, start, stop, rotations_out):
    """Find the smallest rotations between directions.

    a              (M, 3, N)  f4  1  from, any length
    b              (M, 3, N)  f4  1  to, any length
    start          ()         i8  1  first row
    stop           ()         i8  1  one past the last row
    rotations_out  (M, 4, N)  f4  1  opposite and zero vectors as in ``quat_from_to``
    """
    for m in range(a.shape[0]):
        ax, ay, az = a[m, 0, start:stop], a[m, 1, start:stop], a[m, 2, start:stop]
        bx, by, bz = b[m, 0, start:stop], b[m, 1, start:stop], b[m, 2, start:stop]
        ox, oy = rotations_out[m, 0, start:stop], rotations_out[m, 1, start:stop]
        oz, ow = rotations_out[m, 2, start:stop], rotations_out[m, 3, start:stop]
        for i in range(stop - start):
            ox[i], oy[i], oz[i], ow[i] = quat_from_to(ax[i], ay[i], az[i], bx[i], by[i], bz[i])


@kernel
def quat_look_rows(forwards, ups, start, stop, rotations_out):
    """Turn forward and up vectors into rotations: +Z to forward, +Y near up.

    forwards       (M, 3, N)  f4  1  any length
    ups            (M, 3, N)  f4  1  any length
    start          ()         i8  1  first row
    stop           ()         i8  1  one past the last row
    rotations_out  (M, 4, N)  f4  1  unit, w >= 0; degenerate vectors as in ``quat_look``
    """
    for m in range(forwards.shape[0]):
        fx, fy, fz = forwards[m, 0, start:stop], forwards[m, 1, start:stop], forwards[m, 2, start:stop]
        ux, uy, uz = ups[m, 0, start:stop], ups[m, 1, start:stop], ups[m, 2, start:stop]
        ox, oy = rotations_out[m, 0, start:stop], rotations_out[m, 1, start:stop]
        oz, ow = rotations_out[m, 2, start:stop], rotations_out[m, 3, start:stop]
        for i in range(stop - start):
            ox[i], oy[i], oz[i], ow[i] = quat_look(fx[i], fy[i], fz[i], ux[i], uy[i], uz[i])
