"""Motion: one clip of one skeleton, held as columns with frames as rows."""

from __future__ import annotations

import os
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels import columns, fk
from ..kernels.threads import run_rows
from .skeleton import Skeleton

Array = NDArray[np.float32]
_EPSILON = float(np.finfo(np.float32).eps)


class Motion:
    """A clip: local rotations, positions of the joints that move, a frame rate.

    A motion does not change after it is made: the ``(F, J, C)`` arrays are read-only views. The local pose is the
    truth, the world pose is derived on first use by the kernel that also runs characters. The ``_column`` arrays
    are the memory itself, as kernels take it; do not write to them.

    Attributes:
        skeleton: Names, parents, offsets.
        framerate: Frames per second [Hz], as found in the file, not rounded.
        name: Name of the clip, usually the file's stem.
        translated: (T,) int32, ascending: the joints with a local position per frame. The roots always are.
        local_rotation_column: (J, 4, F) float32, unit quaternions x y z w in the parent's space.
        local_position_column: (T, 3, F) float32 [m], positions of the translated joints in the parent's space.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        local_rotation_column: Array,
        local_position_column: Array,
        translated: NDArray[np.int32],
        framerate: float,
        name: str,
    ) -> None:
        self.skeleton = skeleton
        self.framerate = float(framerate)
        self.name = name
        self.translated = translated
        self.local_rotation_column = local_rotation_column
        self.local_position_column = local_position_column

    @classmethod
    def from_columns(
        cls,
        skeleton: Skeleton,
        local_rotations: Array,
        local_positions: Array,
        translated: ArrayLike,
        framerate: float,
        name: str = "",
    ) -> Motion:
        """Build a motion from columns, which it takes over without a copy where they already fit.

        Values below 1e-12 become zero, in place (see ``kernels.columns``).

        Args:
            skeleton: J joints.
            local_rotations: (J, 4, F) unit quaternions x y z w.
            local_positions: (T, 3, F) [m].
            translated: (T,) ascending joint indices of ``local_positions``; must hold every root.
            framerate: Frames per second [Hz].
            name: Name of the clip.

        Raises:
            ValueError: A shape does not fit, a root is missing, the rate is not a positive number.
        """
        joints = np.array(translated, np.int32)
        rotations = np.require(local_rotations, np.float32, "CW")
        positions = np.require(local_positions, np.float32, "CW")
        count = skeleton.joint_count
        if rotations.ndim != 3 or rotations.shape[:2] != (count, 4):
            raise ValueError(f"local_rotations must have shape ({count}, 4, F), got {rotations.shape}")
        expected = (len(joints), 3, rotations.shape[2])
        if positions.shape != expected:
            raise ValueError(f"local_positions must have shape {expected}, got {positions.shape}")
        if joints.ndim != 1 or (np.diff(joints) <= 0).any() or (joints < 0).any() or (joints >= count).any():
            raise ValueError(
                f"translated must be ascending joint indices below {count}, got {joints.tolist()}"
            )
        if not set(skeleton.roots) <= set(joints.tolist()):
            raise ValueError(f"translated must hold the roots {skeleton.roots}, got {joints.tolist()}")
        frames = rotations.shape[2]
        for column in (rotations, positions):
            run_rows(columns.flush_tiny, (), frames, (column,), columns=len(column))
        return cls(skeleton, rotations, positions, joints, check_framerate(framerate), name)

    @classmethod
    def from_local(
        cls, skeleton: Skeleton, positions: ArrayLike, rotations: ArrayLike, framerate: float, name: str = ""
    ) -> Motion:
        """Build a motion from local arrays; joints that never leave their offset are not stored per frame.

        Args:
            skeleton: J joints.
            positions: (F, J, 3) [m] in the parent's space.
            rotations: (F, J, 4) quaternions x y z w in the parent's space; normalised here.
            framerate: Frames per second [Hz].
            name: Name of the clip.

        Raises:
            ValueError: A shape does not fit, a quaternion has no length, the rate is not a positive number.
        """
        local_rotations, local_positions = _pose_columns(skeleton, positions, rotations)
        rest, translated = split_translated(skeleton, local_positions)
        return cls.from_columns(
            rest, local_rotations, local_positions[translated], translated, framerate, name
        )

    @classmethod
    def from_world(
        cls, skeleton: Skeleton, positions: ArrayLike, rotations: ArrayLike, framerate: float, name: str = ""
    ) -> Motion:
        """Build a motion from world arrays, as the ``.npz`` files hold them.

        Args:
            skeleton: J joints; the offsets below the roots give way to those of the frames (the first one for
                joints that move).
            positions: (F, J, 3) [m] in world space.
            rotations: (F, J, 4) quaternions x y z w in world space; normalised here.
            framerate: Frames per second [Hz].
            name: Name of the clip.

        Raises:
            ValueError: As ``from_local``.
        """
        world_rotations, world_positions = _pose_columns(skeleton, positions, rotations)
        frames = world_rotations.shape[2]
        local_positions, local_rotations = np.empty_like(world_positions), np.empty_like(world_rotations)
        run_rows(
            fk.to_local,
            (skeleton.parents.copy(), world_positions, world_rotations, *_origins(frames)),
            frames,
            (local_positions, local_rotations),
            columns=skeleton.joint_count,
        )
        # Far from the origin, rounding alone makes a bone's length tremble by some units in the last place.
        extent = float(np.abs(world_positions).max(initial=0.0))
        if frames:
            first = np.where(
                skeleton.parents[:, None] < 0, skeleton.offsets, np.nan_to_num(local_positions[:, :, 0])
            )
            skeleton = Skeleton(skeleton.names, skeleton.parents, first)
        rest, translated = split_translated(skeleton, local_positions, tolerance=4 * _EPSILON * extent)
        return cls.from_columns(
            rest, local_rotations, local_positions[translated], translated, framerate, name
        )

    @property
    def frame_count(self) -> int:
        """Number of frames F."""
        return self.local_rotation_column.shape[2]

    @property
    def joint_count(self) -> int:
        """Number of joints J."""
        return self.skeleton.joint_count

    @property
    def duration(self) -> float:
        """Time from the first to the last frame [s]: (F - 1) / framerate."""
        return max(self.frame_count - 1, 0) / self.framerate

    @cached_property
    def slots(self) -> NDArray[np.int32]:
        """(J,) index of each joint into ``local_position_column``, -1 for a joint at its offset."""
        return slots_of(self.translated, self.joint_count)

    @cached_property
    def _world_columns(self) -> tuple[Array, Array]:
        joints, frames = self.joint_count, self.frame_count
        positions = np.empty((joints, 3, frames), np.float32)
        rotations = np.empty((joints, 4, frames), np.float32)
        run_rows(
            fk.forward,
            (
                self.skeleton.parents.copy(),  # kernels are compiled once, for writeable arrays
                self.skeleton.offsets.copy(),
                self.slots,
                self.local_position_column,
                self.local_rotation_column,
                *_origins(frames),
            ),
            frames,
            (positions, rotations),
            columns=joints,
        )
        return positions, rotations

    @property
    def world_position_column(self) -> Array:
        """(J, 3, F) [m] joint positions in world space."""
        return self._world_columns[0]

    @property
    def world_rotation_column(self) -> Array:
        """(J, 4, F) joint rotations in world space, x y z w."""
        return self._world_columns[1]

    @property
    def positions(self) -> Array:
        """(F, J, 3) [m] joint positions in world space, a view."""
        return _frames_first(self.world_position_column)

    @property
    def rotations(self) -> Array:
        """(F, J, 4) joint rotations in world space, x y z w, a view."""
        return _frames_first(self.world_rotation_column)

    @property
    def local_rotations(self) -> Array:
        """(F, J, 4) joint rotations in the parent's space, x y z w, a view."""
        return _frames_first(self.local_rotation_column)

    @cached_property
    def local_positions(self) -> Array:
        """(F, J, 3) [m] joint positions in the parent's space."""
        full = np.repeat(self.skeleton.offsets[:, :, None], self.frame_count, axis=2)
        full[self.translated] = self.local_position_column
        return _frames_first(full)

    @property
    def height(self) -> float:
        """Vertical extent of the joints in the first frame [m]; 0 without frames."""
        if not self.frame_count:
            return 0.0
        heights = self.world_position_column[:, 1, 0]
        return float(heights.max() - heights.min())

    def linear_velocities(self) -> Array:
        """Return (F, J, 3) [m/s], central differences of the world positions."""
        return self._velocities(fk.clip_linear_velocity, self.world_position_column)

    def angular_velocities(self) -> Array:
        """Return (F, J, 3) [rad/s], rotation vectors per second in world space, central differences."""
        return self._velocities(fk.clip_angular_velocity, self.world_rotation_column)

    def _velocities(self, kernel: object, column: Array) -> Array:
        velocities = np.empty((self.joint_count, 3, self.frame_count), np.float32)
        run_rows(kernel, (column, self.framerate), self.frame_count, (velocities,), columns=self.joint_count)
        return velocities.transpose(2, 0, 1)

    def scaled(self, factor: float) -> Motion:
        """Return the motion with all lengths multiplied, for example by 0.01 from centimetres.

        Raises:
            ValueError: The factor is not a positive number.
        """
        check_scale(factor)
        rig = Skeleton(self.skeleton.names, self.skeleton.parents, self.skeleton.offsets * np.float32(factor))
        positions = self.local_position_column * np.float32(factor)
        return Motion.from_columns(
            rig, self.local_rotation_column, positions, self.translated, self.framerate, self.name
        )

    def at_framerate(self, framerate: float) -> Motion:
        """Return the same frames at another rate [Hz]: faster or slower, not resampled.

        Raises:
            ValueError: The rate is not a positive number.
        """
        return Motion.from_columns(
            self.skeleton,
            self.local_rotation_column,
            self.local_position_column,
            self.translated,
            framerate,
            self.name,
        )

    @classmethod
    def LoadFromBVH(
        cls,
        path: str | os.PathLike[str],
        scale: float = 1.0,
        *,
        framerate: float | None = None,
        positions: str = "absolute",
    ) -> Motion:
        """Load a BVH file; see ``io.bvh.read_bvh``."""
        from .bvh import read_bvh

        return read_bvh(path, scale=scale, framerate=framerate, positions=positions)

    @classmethod
    def LoadFromNPZ(cls, path: str | os.PathLike[str], *, character: int | None = None) -> Motion:
        """Load a motion file of this project or of the original framework; see ``io.npz.read_npz``."""
        from .npz import read_npz

        return read_npz(path, character=character)

    def SaveToBVH(self, path: str | os.PathLike[str], *, order: str = "ZXY") -> None:
        """Save as BVH; see ``io.bvh.write_bvh``."""
        from .bvh import write_bvh

        write_bvh(path, self, order=order)

    def SaveToNPZ(self, path: str | os.PathLike[str]) -> None:
        """Save as a motion file; see ``io.npz.write_npz``."""
        from .npz import write_npz

        write_npz(path, self)

    def __repr__(self) -> str:
        return (
            f"Motion({self.name!r}, {self.frame_count} frames, {self.joint_count} joints, "
            f"{self.framerate:g} Hz, {self.duration:.2f} s)"
        )


def check_scale(scale: float) -> float:
    """Return the scale as a float.

    Raises:
        ValueError: It is no positive number, or beyond 1e-9..1e9, where float32 loses lengths.
    """
    if not scale > 0:
        raise ValueError(f"scale must be a positive number, got {scale}")
    if not 1e-9 <= scale <= 1e9:
        raise ValueError(f"scale must lie in 1e-9..1e9, got {scale}")
    return float(scale)


def check_framerate(framerate: float) -> float:
    """Return the rate as a float.

    Raises:
        ValueError: It is not a positive finite number.
    """
    rate = float(framerate)
    if not (np.isfinite(rate) and rate > 0):
        raise ValueError(f"framerate must be a positive number of frames per second, got {framerate}")
    return rate


def slots_of(translated: NDArray[np.int32], joint_count: int) -> NDArray[np.int32]:
    """Return (J,) the index of each joint in ``translated``, or -1."""
    slots = np.full(joint_count, -1, np.int32)
    slots[translated] = np.arange(len(translated), dtype=np.int32)
    return slots


def split_translated(
    skeleton: Skeleton, local_positions: Array, tolerance: float = 0.0
) -> tuple[Skeleton, NDArray[np.int32]]:
    """Find the joints that move relative to their parent.

    A joint is still when the range of its frames is within the tolerance or within 1e-6 of the skeleton's size;
    the middle of the range then becomes its offset.

    Args:
        skeleton: J joints.
        local_positions: (J, 3, F) [m].
        tolerance: Range below which a joint counts as still [m].

    Returns:
        The skeleton with the offsets of the still joints, and (T,) the joints that move, roots included.
    """
    if local_positions.shape[2] == 0:
        return skeleton, np.array(skeleton.roots, np.int32)
    low, high = local_positions.min(axis=2), local_positions.max(axis=2)
    middle = (low + high) * np.float32(0.5)
    size = float(np.abs(middle[skeleton.parents >= 0]).max(initial=0.0)) * 4
    # Not "high - low <= ...": a NaN must count as moving.
    moves = ~((high - low).max(axis=1) <= max(tolerance, 1e-6 * size))
    roots = skeleton.parents < 0
    moves |= roots
    offsets = np.where(moves[:, None], skeleton.offsets, middle)
    return Skeleton(skeleton.names, skeleton.parents, offsets), np.flatnonzero(moves).astype(np.int32)


def _pose_columns(skeleton: Skeleton, positions: ArrayLike, rotations: ArrayLike) -> tuple[Array, Array]:
    """Return rotations (J, 4, F), normalised, and positions (J, 3, F)."""
    p, q = np.asarray(positions), np.asarray(rotations)
    count = skeleton.joint_count
    if q.ndim != 3 or q.shape[1:] != (count, 4):
        raise ValueError(f"rotations must have shape (F, {count}, 4), got {q.shape}")
    if p.shape != (*q.shape[:2], 3):
        raise ValueError(f"positions must have shape {(*q.shape[:2], 3)}, got {p.shape}")
    # Divided by the largest component first: the square of 1e200 would be infinite.
    q = q / np.maximum(np.abs(q).max(axis=2, keepdims=True, initial=0.0), np.finfo(np.float64).tiny)
    length = np.linalg.norm(q, axis=2, keepdims=True)
    if (length < 1e-6).any():
        frame, joint = (int(i) for i in np.argwhere(length[..., 0] < 1e-6)[0])
        raise ValueError(
            f"rotations must be quaternions of non-zero length, got zero at frame {frame}, "
            f"joint {skeleton.names[joint]!r}"
        )
    unit = (q / length).astype(np.float32)
    return (
        np.ascontiguousarray(unit.transpose(1, 2, 0)),
        np.ascontiguousarray(p.transpose(1, 2, 0), dtype=np.float32),
    )


def _frames_first(column: Array) -> Array:
    """Return a read-only view with the frame axis first."""
    view = column.transpose(2, 0, 1)
    view.flags.writeable = False
    return view


def _origins(frames: int) -> tuple[Array, Array]:
    """Return the identity transform for every frame: a clip's roots hang from the world itself."""
    rotations = np.zeros((4, frames), np.float32)
    rotations[3] = 1
    return np.zeros((3, frames), np.float32), rotations
