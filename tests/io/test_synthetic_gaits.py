"""What each gait is, loops, and the curves they are made of."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ai4animation import Motion
from ai4animation.io import synthetic
from ai4animation.io.synthetic import Segment
from ai4animation.io.synthetic_math import Cover, Curve, arch, early_arch, glide, part_of, smoothstep
from tests.io.synthetic_world import ALL, World, landings, spans, varied


@pytest.mark.parametrize("gait", ["walk", "strafe", "sidestep", "crouch", "turn"])
def test_walking_biped_always_stands_on_a_foot(gait):
    for segment in varied("biped", gait):
        contacts = synthetic.synthesize("biped", segment, framerate=120).contacts
        assert contacts.any(axis=1).all()
        assert 0.48 < contacts.mean() < 0.72
        assert contacts.all(axis=1).any()


@pytest.mark.parametrize("speed", [2.0, 3.2, 6.5])
def test_runner_flies(speed):
    made = synthetic.synthesize("biped", Segment("run", 5, speed=speed), framerate=120)
    assert not made.contacts.all(axis=1).any()
    flight = (~made.contacts.any(axis=1)).mean()
    assert 0.15 < flight < 0.7
    rising = World(made.motion).joint("Hips")[:, 1]
    assert 0.02 < np.ptp(rising) < 0.12


def test_walking_body_moves_as_walkers_do():
    world = World(synthetic.synthesize("biped", "walk", 10).motion)
    facing_z = world.positions[:, :, 2] - world.positions[:, :1, 2]
    foot, hand = (facing_z[:, world.names.index(f"Left{part}")] for part in ("Foot", "Hand"))
    assert np.corrcoef(foot, hand)[0, 1] < -0.7
    assert np.corrcoef(hand, facing_z[:, world.names.index("RightHand")])[0, 1] < -0.9
    yaw = {name: world.turn(name).apply([0, 0, 1.0])[:, 0] for name in ("Hips", "Spine2", "Head")}
    assert np.corrcoef(yaw["Hips"], yaw["Spine2"])[0, 1] < -0.7
    assert np.ptp(world.turn("Head").apply([0, 1.0, 0])[:, 2]) < 0.12
    height = world.joint("Hips")[:, 1]
    assert 0.02 < np.ptp(height) < 0.08
    # Two rises a cycle: the body is highest over a standing foot.
    spectrum = np.abs(np.fft.rfft(height - height.mean()))
    strikes = np.abs(np.fft.rfft(foot - foot.mean()))
    assert abs(spectrum.argmax() - 2 * strikes.argmax()) <= 1
    # Over the standing foot: to the left while only the left foot stands.
    made = synthetic.synthesize("biped", "walk", 10)
    only_left = made.contacts[:, 0] & ~made.contacts[:, 1]
    sideways = world.joint("Hips")[:, 0]
    assert sideways[only_left].mean() > sideways[~only_left].mean() + 0.01


def test_dog_walks_in_four_even_beats():
    made = synthetic.synthesize("quadruped", "walk", 10, framerate=240)
    assert made.contact_joints == ("LeftToe", "RightToe", "LeftFinger", "RightFinger")
    beats = landings(made.contacts)
    order = [foot for _, foot in beats]
    # Lateral sequence: left hind, left fore, right hind, right fore.
    first = order.index(0)
    expected = list(itertools.islice(itertools.cycle([0, 2, 1, 3]), len(order) - first))
    assert order[first:] == expected
    gaps = np.diff([frame for frame, _ in beats])
    assert gaps.std() < 0.05 * gaps.mean()
    assert made.contacts.sum(axis=1).min() >= 2


def test_dog_trots_on_diagonal_pairs_with_flight():
    made = synthetic.synthesize("quadruped", "trot", 10, framerate=240)
    c = made.contacts
    assert (c[:, 0] == c[:, 3]).mean() > 0.99
    assert (c[:, 1] == c[:, 2]).mean() > 0.99
    assert not (c[:, 0] & c[:, 1]).any()
    assert 0.1 < (~c.any(axis=1)).mean() < 0.5


def test_dog_canters_in_three_beats_and_gallops_in_four():
    for gait, beats in (("canter", 3), ("gallop", 4)):
        made = synthetic.synthesize("quadruped", gait, 10, framerate=240)
        frames = np.array([frame for frame, _ in landings(made.contacts)])
        cycles = len(spans(made.contacts[:, 0]))
        separate = 1 + (np.diff(frames) > 4).sum()
        assert separate / cycles == pytest.approx(beats, rel=0.08)
        assert (~made.contacts.any(axis=1)).mean() > 0.15
        world = World(made.motion)
        assert np.ptp(world.turn("Hips").apply([0, 0, 1.0])[:, 1]) > 0.15


@pytest.mark.parametrize("character", ["biped", "quadruped"])
def test_standing_character_stands_on_all_feet_after_a_halt(character):
    made = synthetic.synthesize(character, [Segment("walk", 2), Segment("idle", 6)])
    standing = made.contacts.all(axis=1)
    assert standing[-150:].all()
    assert not standing[:100].all()
    world = World(made.motion)
    hips = world.joint("Hips")[-150:]
    assert np.ptp(hips, axis=0).max() < 0.05
    # It breathes and looks around all the same.
    assert world.turning()[-150:].max() > 0.01
    feet = [world.joint(name)[-1] for name in made.contact_joints[:2]]
    assert abs(feet[0][2] - feet[1][2]) < 0.05


@pytest.mark.parametrize("character", ["biped", "quadruped"])
def test_feet_stay_in_place_between_standing_and_jumping(character):
    made = synthetic.synthesize(character, [Segment("idle", 2), Segment("jump", 4), Segment("idle", 2)])
    assert [len(spans(~made.contacts[:, k])) for k in range(made.contacts.shape[1])] == [1] * len(
        made.contact_joints
    )
    world = World(made.motion)
    for name in made.contact_joints:
        assert np.abs(world.joint(name)[-1] - world.joint(name)[0]).max() < 0.002


def test_toes_stay_flat_while_the_heel_rises():
    made = synthetic.synthesize("biped", "walk", 5, framerate=120)
    world = World(made.motion)
    heel_up = -world.turn("LeftFoot").apply([0, 0, 1.0])[:, 1]
    rising = made.contacts[:, 0] & (heel_up > 0.2)
    assert rising.sum() > 20
    assert np.abs(world.turn("LeftToe").apply([0, 0, 1.0])[rising, 1]).max() < 0.01


@pytest.mark.parametrize("speed", [0.0, 0.6])
def test_jump_is_a_ballistic_flight(speed):
    made = synthetic.synthesize("biped", Segment("jump", 4.7, speed=speed), framerate=240)
    flights = spans(~made.contacts.any(axis=1))
    assert len(flights) == 2
    world = World(made.motion)
    hips = world.joint("Hips")
    for start, stop in flights:
        assert 0.35 < (stop - start) / 240 < 0.6
        fall = np.diff(hips[start + 20 : stop - 20, 1], n=2) * 240**2
        np.testing.assert_allclose(fall, -9.81, atol=0.6)
        assert world.joint("LeftToe")[start:stop, 1].max() > 0.2
        assert world.joint("Head")[start:stop, 1].max() > 1.75
    assert hips[-1, 2] - hips[0, 2] == pytest.approx(speed * 4.6, abs=0.03)


def test_dog_sits_down_and_gets_up():
    segments = [Segment("walk", 2), Segment("sit", 8), Segment("walk", 4)]
    made = synthetic.synthesize("quadruped", segments)
    world = World(made.motion)
    hips = world.joint("Hips")[:, 1]
    sitting = slice(5 * 60, 7 * 60)
    assert hips[sitting].max() < 0.25 < 0.38 < min(hips[0], hips[-1])
    assert world.joint("Head")[sitting, 1].min() > 0.6
    assert made.contacts[sitting].all()
    assert world.positions[:, :, 1].min() > -0.02


@pytest.mark.parametrize(("character", "gait"), ALL)
@pytest.mark.parametrize("rate", [30.0, 60.0])
def test_loops_close(character, gait, rate):
    motion = synthetic.loop(character, gait, framerate=rate)
    assert isinstance(motion, Motion)
    assert motion.name == f"{character}_{gait}"
    column = motion.local_rotation_column
    np.testing.assert_array_equal(column[..., -1], column[..., 0])
    np.testing.assert_array_equal(motion.positions[-1], motion.positions[0])
    world = World(motion).positions
    hips = world[:, 0] - world[:1, 0]
    assert np.abs(hips[:, [0, 2]]).max() < 0.1


@pytest.mark.parametrize(("character", "gait"), ALL)
def test_played_twice_a_loop_has_no_seam(character, gait):
    # A turning way does not go on by a shift.
    for in_place in (True,) if gait == "turn" else (True, False):
        world = World(synthetic.loop(character, gait, framerate=480, in_place=in_place)).positions
        way = world[-1] - world[0]
        twice = np.concatenate([world[:-1], world + way])
        change = np.linalg.norm(np.diff(twice, n=2, axis=0), axis=2) * 480**2
        # The second difference in the middle of which the seam lies, against those near it.
        seam = len(world) - 2
        near = np.concatenate([change[seam - 12 : seam - 1], change[seam + 2 : seam + 13]])
        assert (change[seam - 1 : seam + 2] < 1.3 * near.max(axis=0) + 10.0).all()


def test_loop_is_one_cycle_and_travels_on_request():
    stays = synthetic.loop("biped", "walk", speed=1.2)
    moves = synthetic.loop("biped", "walk", speed=1.2, in_place=False)
    assert 0.8 < stays.duration < 1.4
    way = moves.positions[-1] - moves.positions[0]
    np.testing.assert_allclose(way, np.broadcast_to([0, 0, 1.2 * moves.duration], way.shape), atol=5e-5)
    np.testing.assert_allclose(stays.positions[:-1, :, :2], moves.positions[:-1, :, :2], atol=3e-5)
    path = 1.2 * np.arange(stays.frame_count) / 60
    np.testing.assert_allclose(stays.positions[:, :, 2], moves.positions[:, :, 2] - path[:, None], atol=3e-5)
    turning = synthetic.loop("biped", "walk", turn=1.0, in_place=False)
    yaw = World(turning).facing()
    assert yaw[-1] - yaw[0] == pytest.approx(turning.duration, abs=1e-4)
    assert np.ptp(World(synthetic.loop("biped", "walk", turn=1.0)).facing()) < 0.4


def test_curves():
    x = np.linspace(-0.5, 1.5, 2001)
    for curve in (smoothstep, glide):
        y = curve(x)
        assert y[0] == 0
        assert y[-1] == 1
        assert (np.diff(y) >= 0).all()
        np.testing.assert_allclose(y + y[::-1], 1, atol=1e-12)
        assert np.abs(np.diff(y, n=3)).max() < 1e-6  # no jump of the second derivative
    assert np.diff(glide(x)).max() < np.diff(smoothstep(x)).max()
    for bump in (arch, early_arch):
        assert bump(x).max() == pytest.approx(1, abs=1e-5)
        assert bump(x)[x <= 0].max() == bump(x)[x >= 1].max() == 0
    flight = Curve([0, 1, 3], [0.0, 2.0, -1.0], [0, 3.0, 0], [0, -9.81, 0])
    h = 1e-4
    np.testing.assert_allclose(flight(np.array([-1.0, 0, 1, 3, 9])), [0, 0, 2, -1, -1], atol=1e-12)
    for side in (-2 * h, 2 * h):
        a, b, c = flight(np.array([1 + side - h, 1 + side, 1 + side + h]))
        assert (c - a) / (2 * h) == pytest.approx(3, abs=0.02)
        assert (a - 2 * b + c) / h**2 == pytest.approx(-9.81, abs=0.1)


def test_cover_lies_above_its_samples_and_is_smooth():
    samples = np.maximum(np.random.default_rng(0).standard_normal(400), 0) * 0.1
    cover = Cover(0.0, 1 / 60, samples)
    times = np.arange(3, 397) / 60
    assert (cover(times) >= samples[3:397] - 1e-12).all()
    fine = cover(np.arange(0.5, 6.0, 1e-4))
    # Twice differentiable: third differences of steps of 0.1 ms stay tiny.
    assert np.abs(np.diff(fine, n=3)).max() < 1e-8
    assert Cover(0.0, 1 / 60, np.zeros(50))(times[:20]).max() == 0


def test_part_of_a_rotation_taken_often_gives_the_rotation():
    q = Rotation.random(50, random_state=1).as_quat()
    q[q[:, 3] < 0] *= -1
    third = Rotation.from_quat(part_of(q.T, 1 / 3).T)
    assert ((third * third * third).inv() * Rotation.from_quat(q)).magnitude().max() < 1e-12
    np.testing.assert_allclose(part_of(np.array([[0.0], [0], [0], [1]]), 0.5)[:, 0], [0, 0, 0, 1])
