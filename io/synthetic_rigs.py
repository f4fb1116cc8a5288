"""The two characters of the motion generator: skeletons and the geometry of their legs.

All joint frames are aligned with the world in the rest pose: identity rotations stand the character upright at the
origin, facing +Z, the biped with its arms out (T-pose). Proportions are round numbers near those of an adult and of a
large dog.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from .skeleton import Skeleton, did_you_mean

_Bone = tuple[str, str | None, tuple[float, float, float]]


@dataclass(frozen=True)
class Leg:
    """A two-bone limb that ends in a foot which stands on the ground.

    The limb hangs in a plane: its knee or elbow is a pure hinge about the local X axis. Angles are measured about +X
    from straight down [rad].
    """

    contact: str
    """Name of the joint that stands still while in contact: the ball of the foot or the paw."""
    joints: tuple[int, int, int, int]
    """Upper, lower, foot, contact joint."""
    socket: int
    """Parent of the upper joint."""
    lengths: tuple[float, float]
    """Of the upper and the lower bone [m]."""
    rest: tuple[float, float]
    """Angles of both bones in the rest pose [rad]."""
    bend: int
    """1: the middle joint points forward (knee), -1: backward (elbow)."""
    is_front: bool
    """Whether it hangs from the chest."""
    side: int
    """1 left, -1 right."""
    ankle: tuple[float, float]
    """Up and forward from the contact joint to the foot joint at rest [m]."""
    heel: tuple[float, float]
    """Up and forward from the contact joint to the point the foot lands on [m]."""
    place: tuple[float, float]
    """Left and forward from the root to the contact joint at rest [m]."""
    ball_height: float
    """Height of the contact joint above the ground at rest [m]."""


@dataclass(frozen=True)
class Rig:
    """A character: skeleton, legs and the joints that the generator drives by name.

    The joints of ``spine`` share the turn from pelvis to chest evenly.
    """

    skeleton: Skeleton
    legs: tuple[Leg, ...]
    spine: tuple[int, ...]
    neck: int
    head: int
    longest_stance: float
    """How far the body moves on over a standing foot at most [m]."""

    @property
    def stand_height(self) -> float:
        """Height of the root at rest [m]."""
        return float(self.skeleton.offsets[0, 1])


_BIPED_HEIGHT = 1.7
_BIPED: tuple[_Bone, ...] = (
    ("Hips", None, (0.0, 0.95, 0.0)),
    ("LeftUpLeg", "Hips", (0.09, -0.02, 0.0)),
    ("LeftLeg", "LeftUpLeg", (0.0, -0.425, 0.0)),
    ("LeftFoot", "LeftLeg", (0.0, -0.425, 0.0)),
    ("LeftToe", "LeftFoot", (0.0, -0.06, 0.13)),
    ("Spine", "Hips", (0.0, 0.09, 0.0)),
    ("Spine1", "Spine", (0.0, 0.12, 0.0)),
    ("Spine2", "Spine1", (0.0, 0.13, 0.0)),
    ("Neck", "Spine2", (0.0, 0.19, 0.0)),
    ("Head", "Neck", (0.0, 0.1, 0.015)),
    ("LeftShoulder", "Spine2", (0.04, 0.14, 0.0)),
    ("LeftArm", "LeftShoulder", (0.14, 0.0, 0.0)),
    ("LeftForeArm", "LeftArm", (0.27, 0.0, 0.0)),
    ("LeftHand", "LeftForeArm", (0.25, 0.0, 0.0)),
)

_QUADRUPED_HEIGHT = 0.6
_QUADRUPED: tuple[_Bone, ...] = (
    ("Hips", None, (0.0, 0.46, 0.0)),
    ("Spine", "Hips", (0.0, 0.0, 0.16)),
    ("Spine1", "Spine", (0.0, 0.0, 0.18)),
    ("Neck", "Spine1", (0.0, 0.04, 0.14)),
    ("Head", "Neck", (0.0, 0.12, 0.1)),
    ("LeftShoulder", "Spine1", (0.05, 0.03, 0.1)),
    ("LeftArm", "LeftShoulder", (0.02, -0.1, 0.07)),
    ("LeftForeArm", "LeftArm", (0.0, -0.115, -0.125)),
    ("LeftHand", "LeftForeArm", (0.0, -0.19, 0.05)),
    ("LeftFinger", "LeftHand", (0.0, -0.07, 0.025)),
    ("LeftUpLeg", "Hips", (0.06, -0.03, -0.02)),
    ("LeftLeg", "LeftUpLeg", (0.0, -0.15, 0.105)),
    ("LeftFoot", "LeftLeg", (0.0, -0.14, -0.14)),
    ("LeftToe", "LeftFoot", (0.0, -0.125, 0.025)),
    ("Tail", "Hips", (0.0, 0.03, -0.07)),
    ("Tail1", "Tail", (0.0, -0.01, -0.1)),
    ("Tail2", "Tail1", (0.0, -0.01, -0.1)),
    ("Tail3", "Tail2", (0.0, -0.01, -0.1)),
)


def biped_skeleton(height: float = _BIPED_HEIGHT) -> Skeleton:
    """Return the biped: 22 joints with the names and order of LAFAN1, in T-pose.

    Args:
        height: Standing height with the top of the head, which has no joint of its own [m].

    Raises:
        ValueError: The height is not a positive number.
    """
    return _build(_BIPED, height, _BIPED_HEIGHT)


def quadruped_skeleton(height: float = _QUADRUPED_HEIGHT) -> Skeleton:
    """Return the dog: 27 joints, standing.

    Args:
        height: Height of the head joint above the paws [m].

    Raises:
        ValueError: The height is not a positive number.
    """
    return _build(_QUADRUPED, height, _QUADRUPED_HEIGHT)


@cache
def rig(character: str) -> Rig:
    """Return the rig of a character by name.

    Raises:
        ValueError: There is no such character.
    """
    if character == "biped":
        skeleton = biped_skeleton()
        limbs = [("UpLeg", "Leg", "Foot", "Toe")]
        heel, longest_stance = (-0.02, -0.19), 0.95
    elif character == "quadruped":
        skeleton = quadruped_skeleton()
        limbs = [("UpLeg", "Leg", "Foot", "Toe"), ("Arm", "ForeArm", "Hand", "Finger")]
        heel, longest_stance = (0.0, 0.0), 0.46
    else:
        known = ("biped", "quadruped")
        raise ValueError(
            f"character must be one of {', '.join(known)}, got {character!r}{did_you_mean(character, known)}"
        )
    legs = tuple(_leg(skeleton, side, limb, heel) for limb in limbs for side in (1, -1))
    spine = [name for name in ("Spine", "Spine1", "Spine2") if name in skeleton.names]
    return Rig(
        skeleton,
        legs,
        tuple(int(j) for j in skeleton.indices(spine)),
        skeleton.index("Neck"),
        skeleton.index("Head"),
        longest_stance,
    )


def _build(bones: tuple[_Bone, ...], height: float, reference: float) -> Skeleton:
    if not (np.isfinite(height) and height > 0):
        raise ValueError(f"height must be a positive number of metres, got {height}")
    names: list[str] = []
    parents: list[int] = []
    offsets: list[tuple[float, float, float]] = []

    def add(bone: _Bone) -> None:
        name, parent, offset = bone
        names.append(name)
        parents.append(-1 if parent is None else names.index(parent))
        offsets.append(offset)

    limb: list[_Bone] = []
    for bone, following in zip(bones, (*bones[1:], None), strict=True):
        add(bone)
        if bone[0].startswith("Left"):
            limb.append(_mirrored(bone))
            # A limb ends where the next bone does not hang from it; its right twin follows at once.
            if following is None or following[1] != bone[0]:
                for twin in limb:
                    add(twin)
                limb = []
    return Skeleton(names, parents, np.array(offsets) * (height / reference))


def _mirrored(bone: _Bone) -> _Bone:
    name, parent, (x, y, z) = bone
    return (
        name.replace("Left", "Right"),
        parent.replace("Left", "Right") if parent else None,
        (-x, y, z),
    )


def _leg(skeleton: Skeleton, side: int, limb: tuple[str, str, str, str], heel: tuple[float, float]) -> Leg:
    prefix = "Left" if side > 0 else "Right"
    upper, lower, foot, contact = (int(skeleton.index(prefix + part)) for part in limb)
    offsets = skeleton.offsets.astype(np.float64)
    world = offsets.copy()
    for j in range(1, skeleton.joint_count):
        world[j] += world[skeleton.parents[j]]
    bones = offsets[[lower, foot]]
    angles = np.arctan2(-bones[:, 2], -bones[:, 1])
    lengths = np.hypot(bones[:, 1], bones[:, 2])
    is_front = limb[0] == "Arm"
    return Leg(
        contact=prefix + limb[3],
        joints=(upper, lower, foot, contact),
        socket=int(skeleton.parents[upper]),
        lengths=(float(lengths[0]), float(lengths[1])),
        rest=(float(angles[0]), float(angles[1])),
        bend=-1 if is_front else 1,
        is_front=is_front,
        side=side,
        ankle=(-float(offsets[contact, 1]), -float(offsets[contact, 2])),
        heel=heel,
        place=(float(world[contact, 0]), float(world[contact, 2])),
        ball_height=float(world[contact, 1]),
    )


def reach(leg: Leg, share: float) -> float:
    """Return the longest allowed distance from hip to ankle [m], a share of the straight limb."""
    return share * math.fsum(leg.lengths)
