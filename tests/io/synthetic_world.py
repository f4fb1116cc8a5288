"""What the tests of the motion generator share: kinematics in float64, checks of feet, sample segments."""

import numpy as np
from scipy.spatial.transform import Rotation

from ai4animation.io.synthetic import Segment
from ai4animation.io.synthetic_gaits import GAITS

MOVING = [(c, g) for c in GAITS for g, gait in GAITS[c].items() if not gait.stands]
ALL = [(c, g) for c in GAITS for g in GAITS[c]]
DRIFT = 0.002

# At 120 frames a second, with room to spare: the root [m/s^2] outside jumps, any joint [m/s^2], any turn [rad/s].
BOUNDS = {"biped": (22.0, 800.0, 40.0), "quadruped": (16.0, 700.0, 65.0)}


class World:
    """Joint positions (F, J, 3) and rotations [J] of a synthesis, from its local arrays."""

    def __init__(self, motion):
        skeleton = motion.skeleton
        self.names, self.rate = skeleton.names, motion.framerate
        local = motion.local_rotations.astype(np.float64)
        offsets = motion.local_positions.astype(np.float64)
        self.turns, places = [], []
        for j, parent in enumerate(skeleton.parents):
            turn = Rotation.from_quat(local[:, j])
            if parent < 0:
                self.turns.append(turn)
                places.append(offsets[:, j])
            else:
                self.turns.append(self.turns[parent] * turn)
                places.append(places[parent] + self.turns[parent].apply(offsets[:, j]))
        self.positions = np.stack(places, axis=1)
        self.local = local

    def joint(self, name):
        return self.positions[:, self.names.index(name)]

    def turn(self, name):
        return self.turns[self.names.index(name)]

    def facing(self):
        ahead = self.turns[0].apply([0.0, 0.0, 1.0])
        return np.unwrap(np.arctan2(ahead[:, 0], ahead[:, 2]))

    def acceleration(self):
        return np.linalg.norm(np.diff(self.positions, n=2, axis=0), axis=2) * self.rate**2

    def turning(self):
        cosine = np.abs((self.local[1:] * self.local[:-1]).sum(axis=2))
        return 2 * np.arccos(np.clip(cosine, 0, 1)) * self.rate


def spans(flags):
    """Return (start, stop) of every run of true flags."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return list(zip(edges[::2], edges[1::2], strict=True))


def drift(positions, flags):
    """Return the greatest distance of a point from where it was at the begin of each run of contact."""
    worst = 0.0
    for start, stop in spans(flags):
        moved = np.linalg.norm(positions[start:stop] - positions[start], axis=1)
        worst = max(worst, float(moved.max()))
    return worst


def check_feet(made):
    """Contact joints stand still, at their height above the ground; no foot goes below; legs are never straight."""
    world, rest = World(made.motion), made.motion.skeleton
    for k, name in enumerate(made.contact_joints):
        chain, j = [], rest.index(name)
        while j >= 0:
            chain.append(j)
            j = int(rest.parents[j])
        height = float(rest.offsets[chain, 1].sum())
        assert 0 < height < 0.05
        ball = world.joint(name)
        assert drift(ball, made.contacts[:, k]) < DRIFT
        np.testing.assert_allclose(ball[made.contacts[:, k], 1], height, atol=DRIFT)
        assert ball[:, 1].min() > height - DRIFT
        foot, lower, upper = (rest.names[j] for j in chain[1:4])
        assert world.joint(foot)[:, 1].min() > 0.0
        hip, knee, ankle = world.joint(upper), world.joint(lower), world.joint(foot)
        reach = np.linalg.norm(knee - hip, axis=1) + np.linalg.norm(ankle - knee, axis=1)
        assert (np.linalg.norm(ankle - hip, axis=1) / reach).max() < 0.996
        # The middle joint is a hinge about +X that never passes straight: knees bend one way, elbows the other.
        hinge = Rotation.from_quat(world.local[:, rest.index(lower)]).as_rotvec()
        np.testing.assert_allclose(hinge[:, 1:], 0, atol=1e-5)
        bend = bend_angles(world, upper, lower, foot)
        assert (bend > 0.1).all() if "Arm" not in upper else (bend < -0.1).all()
    return world


def bend_angles(world, upper, lower, foot):
    """Signed angle [rad] from the upper to the lower bone about the upper joint's own X axis."""
    a = world.joint(lower) - world.joint(upper)
    b = world.joint(foot) - world.joint(lower)
    axis = world.turn(upper).apply([1.0, 0.0, 0.0])
    return np.arctan2((np.cross(a, b) * axis).sum(axis=1), (a * b).sum(axis=1))


def speeds_of(character, gait):
    top = GAITS[character][gait].top_speed
    return (None, 0.1 * top, 0.6 * top, top)


def varied(character, gait):
    """Segments of one gait over its range of speeds and turns."""
    form = GAITS[character][gait]
    for number, speed in enumerate(speeds_of(character, gait)):
        pace = form.speed if speed is None else speed
        limit = min(form.top_turn, 5.0 / pace) if pace else form.top_turn
        yield Segment(gait, 4.0, speed, (form.turn, 0.9 * limit, -0.5 * limit, 0.3 * limit)[number])


MIXES = {
    "biped": [
        [Segment("idle", 1.0), Segment("walk", 3.0), Segment("idle", 2.5)],
        [Segment("idle", 1.0), Segment("run", 4.0, speed=6.0), Segment("idle", 5.0)],
        [
            Segment("walk", 2.0),
            Segment("run", 3.0),
            Segment("crouch", 3.0),
            Segment("walk", 2.0, direction=3.0),
        ],
        [
            Segment("run", 2.0, turn=1.0),
            Segment("strafe", 3.0),
            Segment("turn", 2.0),
            Segment("turn", 2.0, turn=-2.0),
        ],
        [Segment("walk", 2.0), Segment("jump", 8.0, speed=0.5), Segment("run", 3.0)],
        [
            Segment("sidestep", 2.0),
            Segment("sidestep", 2.0, direction=-1.57),
            Segment("walk", 2.0, speed=2.0),
        ],
    ],
    "quadruped": [
        [Segment("idle", 1.0), Segment("walk", 3.0), Segment("idle", 2.5)],
        [Segment("idle", 1.0), Segment("gallop", 6.0), Segment("idle", 6.0)],
        [
            Segment("walk", 2.0),
            Segment("trot", 4.0),
            Segment("canter", 4.0),
            Segment("gallop", 4.0),
            Segment("trot", 4.0),
        ],
        [Segment("walk", 2.0), Segment("sit", 7.0), Segment("trot", 4.0)],
        [
            Segment("turn", 2.0),
            Segment("strafe", 2.0),
            Segment("turn", 2.0, turn=-1.5),
            Segment("walk", 3.0, turn=0.9),
        ],
        [Segment("trot", 2.0), Segment("jump", 9.0, speed=0.5), Segment("canter", 5.0)],
    ],
}
MIX_CASES = [(c, k) for c in MIXES for k in range(len(MIXES[c]))]


def landings(contacts):
    """Return sorted (frame, foot) of every landing."""
    rises = np.argwhere(contacts[1:] & ~contacts[:-1])
    return sorted((int(frame) + 1, int(foot)) for frame, foot in rises)
