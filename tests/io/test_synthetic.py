"""The motion generator: planted feet, smoothness, speeds, determinism, refusals."""

import itertools
import re

import numpy as np
import pytest

from ai4animation.io import synthetic
from ai4animation.io.synthetic import Segment, Style
from ai4animation.io.synthetic_gaits import GAITS
from tests.io.synthetic_world import (
    ALL,
    BOUNDS,
    DRIFT,
    MIX_CASES,
    MIXES,
    MOVING,
    World,
    check_feet,
    drift,
    spans,
    varied,
)


@pytest.mark.parametrize(("character", "joints", "height"), [("biped", 22, 1.7), ("quadruped", 27, 0.6)])
def test_skeletons_stand_on_the_ground_and_are_symmetric(character, joints, height):
    make = getattr(synthetic, f"{character}_skeleton")
    rest = make()
    world = rest.offsets.astype(np.float64).copy()
    for j in range(1, rest.joint_count):
        world[j] += world[rest.parents[j]]
    assert rest.joint_count == joints
    assert rest.names[0] == "Hips"
    assert 0.9 * height < world[:, 1].max() < 1.1 * height
    assert 0.01 < world[:, 1].min() < 0.03
    for j, name in enumerate(rest.names):
        if name.startswith("Left"):
            twin = rest.index(name.replace("Left", "Right"))
            np.testing.assert_allclose(world[twin], world[j] * [-1, 1, 1], atol=1e-6)
            assert world[j, 0] > 0
    assert world[rest.index("LeftToe"), 2] > world[rest.index("LeftFoot"), 2]
    np.testing.assert_allclose(make(2 * height).offsets, 2 * rest.offsets, rtol=1e-6)
    with pytest.raises(ValueError, match="height must be a positive number of metres, got -1"):
        make(-1)


def test_biped_has_the_names_of_the_common_capture_skeleton():
    names = set(synthetic.biped_skeleton().names)
    legs = {"UpLeg", "Leg", "Foot", "Toe", "Shoulder", "Arm", "ForeArm", "Hand"}
    spine = {"Hips", "Spine", "Spine1", "Spine2", "Neck", "Head"}
    assert names == spine | {side + part for side in ("Left", "Right") for part in legs}


@pytest.mark.parametrize(("character", "gait"), ALL)
def test_feet_stay_planted_at_every_speed_and_turn(character, gait):
    for segment in varied(character, gait):
        if GAITS[character][gait].stands and segment.speed:
            segment = Segment(gait, 6.0, segment.speed, 0.0)
        check_feet(synthetic.synthesize(character, segment, framerate=120))
        if not GAITS[character][gait].top_speed:
            break


@pytest.mark.parametrize(("character", "mix"), MIX_CASES)
def test_feet_stay_planted_through_starts_stops_and_transitions(character, mix):
    check_feet(synthetic.synthesize(character, MIXES[character][mix], framerate=120, seed=mix))


@pytest.mark.parametrize(
    "style",
    [
        Style(arm_swing=2, bounce=1.5, sway=2, lean=0.5, stride=1.15, energy=1.5),
        Style(arm_swing=0, bounce=0, sway=0, lean=-0.3, stride=0.8, crouch=1, energy=0.5),
        Style(bounce=1.5, stride=0.8, crouch=0.5, energy=1.5),
    ],
)
@pytest.mark.parametrize("character", ["biped", "quadruped"])
def test_feet_stay_planted_in_every_style(character, style):
    made = synthetic.random_session(character, 60, seed=4, style=style)
    check_feet(made)
    plain = synthetic.random_session(character, 60, seed=4)
    assert np.abs(made.motion.local_rotations[:300] - plain.motion.local_rotations[:300]).max() > 0.02


@pytest.mark.parametrize("gait", ["walk", "crouch", "turn", "sidestep", "run"])
def test_flat_foot_keeps_its_ankle_still(gait):
    made = synthetic.synthesize("biped", gait, 4, framerate=240)
    world = World(made.motion)
    flat_frames = 0
    for k, side in enumerate(("Left", "Right")):
        up = world.turn(f"{side}Foot").apply([0.0, 1.0, 0.0])
        flat = made.contacts[:, k] & (up[:, 1] > 1 - 1e-7)
        flat_frames += flat.sum()
        assert drift(world.joint(f"{side}Foot"), flat) < DRIFT
        ankle = world.joint(f"{side}Foot")[:, 1]
        np.testing.assert_allclose(ankle[flat], 0.08, atol=DRIFT)
    assert flat_frames > (0.15 if gait == "run" else 0.3) * made.contacts.sum()


def test_heel_lands_first_and_does_not_slide():
    made = synthetic.synthesize("biped", "walk", 5, framerate=240)
    world = World(made.motion)
    heel = world.joint("LeftFoot") + world.turn("LeftFoot").apply([0.0, -0.08, -0.06])
    toes_up = -world.turn("LeftFoot").apply([0.0, 0.0, 1.0])[:, 1] < -0.05
    down = toes_up & (np.abs(heel[:, 1]) < 2e-5)
    stays = [span for span in spans(down) if span[1] - span[0] > 4]
    assert len(stays) >= 4
    for start, stop in stays:
        assert np.linalg.norm(heel[start:stop] - heel[start], axis=1).max() < DRIFT
        assert not made.contacts[start : stop - 1, 0].any()
        assert made.contacts[stop : stop + 12, 0].any()


@pytest.mark.parametrize(("character", "gait"), MOVING)
def test_root_acceleration_and_joint_turning_are_bounded(character, gait):
    root, joint, turning = BOUNDS[character]
    for segment in varied(character, gait):
        world = World(synthetic.synthesize(character, segment, framerate=120).motion)
        acceleration = world.acceleration()
        assert acceleration[:, 0].max() < root
        assert acceleration.max() < joint
        assert world.turning().max() < turning


@pytest.mark.parametrize(("character", "mix"), MIX_CASES)
def test_transitions_have_no_jump(character, mix):
    """A jump in position, angle or speed would show as an acceleration that grows with the sampling rate."""
    root, joint, turning = BOUNDS[character]
    segments = MIXES[character][mix]
    slow, fast = (
        World(synthetic.synthesize(character, segments, framerate=rate, seed=1).motion)
        for rate in (960, 1920)
    )
    played = World(synthetic.synthesize(character, segments, framerate=120, seed=1).motion)
    jumps = any(segment.gait == "jump" for segment in segments)
    assert played.acceleration()[:, 0].max() < (35 if jumps else root)
    assert played.acceleration().max() < joint
    assert played.turning().max() < turning
    # float32 positions of some 10 m add noise of 10 m/s^2 at 1920 Hz.
    worst_slow, worst_fast = slow.acceleration().max(axis=0), fast.acceleration().max(axis=0)
    assert (worst_fast < 1.3 * worst_slow + 25.0).all()
    assert (fast.turning().max(axis=0) < 1.1 * slow.turning().max(axis=0) + 1.0).all()


@pytest.mark.parametrize(("character", "gait"), MOVING)
def test_commanded_speed_and_turning_are_met(character, gait):
    for segment in varied(character, gait):
        form = GAITS[character][gait]
        speed = form.speed if segment.speed is None else segment.speed
        made = synthetic.synthesize(character, Segment(gait, 12.0, speed, segment.turn), framerate=60)
        world = World(made.motion)
        hips, yaw = world.joint("Hips"), world.facing()
        velocity = np.diff(hips, axis=0) * 60
        middle = 0.5 * (yaw[1:] + yaw[:-1])
        forward = (velocity[:, 0] * np.sin(middle) + velocity[:, 2] * np.cos(middle)).mean()
        left = (velocity[:, 0] * np.cos(middle) - velocity[:, 2] * np.sin(middle)).mean()
        assert np.hypot(forward, left) == pytest.approx(speed, rel=0.03, abs=0.01)
        if speed > 0.3:
            assert np.arctan2(left, forward) == pytest.approx(form.direction, abs=0.1)
        # The pelvis turns to and fro by some degrees about the heading.
        assert (yaw[-1] - yaw[0]) / 12 == pytest.approx(segment.turn, rel=0.03, abs=0.035)


def test_speed_is_met_after_a_transition():
    made = synthetic.synthesize("biped", [Segment("idle", 1), Segment("walk", 9, speed=1.0)])
    hips = World(made.motion).joint("Hips")
    assert np.linalg.norm(hips[600] - hips[240]) / 6 == pytest.approx(1.0, rel=0.03)
    assert np.linalg.norm(hips[50] - hips[0]) < 0.02


@pytest.mark.parametrize("character", ["biped", "quadruped"])
def test_same_arguments_give_the_same_bytes(character):
    first, again, other = (
        synthetic.synthesize(character, "walk", 3, seed=seed).motion.local_rotation_column
        for seed in (5, 5, 6)
    )
    assert first.tobytes() == again.tobytes()
    assert np.abs(first - other).max() > 0.01
    sessions = [synthetic.random_session(character, 20, seed=seed).motion for seed in (5, 5, 6)]
    assert sessions[0].local_rotation_column.tobytes() == sessions[1].local_rotation_column.tobytes()
    assert np.abs(sessions[0].positions[-1] - sessions[2].positions[-1]).max() > 0.1


@pytest.mark.parametrize("character", ["biped", "quadruped"])
def test_frame_rates_sample_one_motion(character):
    motions = [
        synthetic.random_session(character, 20, seed=2, framerate=rate).motion for rate in (30, 60, 120)
    ]
    assert [motion.frame_count for motion in motions] == [601, 1201, 2401]
    for coarse, fine in itertools.pairwise(motions):
        np.testing.assert_allclose(coarse.positions, fine.positions[::2], atol=1e-4)


@pytest.mark.parametrize("character", ["biped", "quadruped"])
def test_random_session_is_long_varied_and_planted(character):
    made = synthetic.random_session(character, 240, seed=11, framerate=30)
    assert made.motion.frame_count == 7201
    world = check_feet(made)
    hips = world.joint("Hips")
    assert np.abs(hips[:, [0, 2]]).max() < 150
    speed = np.linalg.norm(np.diff(hips[:, [0, 2]], axis=0), axis=1) * 30
    assert (speed < 0.2).mean() > 0.03
    assert (speed > 2.0).mean() > 0.05
    assert np.ptp(world.facing()) > 3


def test_refusals():
    walk = Segment("walk", 2)
    cases = [
        (
            lambda: synthetic.gaits("bipd"),
            "character must be one of biped, quadruped, got 'bipd'; did you mean 'biped'?",
        ),
        (lambda: synthetic.synthesize("biped", "walc"), "got 'walc'; did you mean 'walk'?"),
        (lambda: synthetic.loop("quadruped", "trott"), "did you mean 'trot'?"),
        (lambda: synthetic.random_session("dog", 10), "got 'dog'"),
        (lambda: synthetic.synthesize("biped", "walk", 0), "seconds must be a positive number, got 0"),
        (lambda: synthetic.synthesize("biped", "walk", np.inf), "seconds must be a positive number, got inf"),
        (lambda: synthetic.random_session("biped", np.nan), "seconds must be a positive number, got nan"),
        (lambda: synthetic.synthesize("biped", "walk", framerate=0), "framerate must be a positive number"),
        (lambda: synthetic.loop("biped", "walk", framerate=np.nan), "framerate must be a positive number"),
        (lambda: synthetic.loop("biped", "walk", speed=9), "speed must lie in 0..2 m/s for 'walk', got 9"),
        (
            lambda: synthetic.loop("biped", "walk", speed=np.nan),
            "speed must lie in 0..2 m/s for 'walk', got nan",
        ),
        (lambda: synthetic.loop("biped", "idle", speed=1), "speed must lie in 0..0 m/s for 'idle', got 1"),
        (
            lambda: synthetic.loop("biped", "walk", turn=-2),
            "turn must lie in -1.5..1.5 rad/s for 'walk' at 1.35 m/s",
        ),
        (
            lambda: synthetic.loop("biped", "run", turn=1.4, speed=5),
            "turn must lie in -1..1 rad/s for 'run' at 5 m/s",
        ),
        (lambda: synthetic.loop("biped", "walk", direction=np.inf), "direction must be a finite angle"),
        (lambda: synthetic.synthesize("biped", []), "at least one segment"),
        (
            lambda: synthetic.synthesize("biped", [walk, Segment("run", 0.3)]),
            "a segment of 'run' after 'walk' must last at least",
        ),
        (
            lambda: synthetic.synthesize("biped", "jump", 1),
            "a segment of 'jump' must last at least 2.30 s, got 1",
        ),
        (lambda: Style(crouch=2), "crouch must lie in 0..1, got 2"),
        (lambda: Style(energy=np.nan), "energy must lie in 0.5..1.5, got nan"),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=re.escape(message)):
            call()
    with pytest.raises(TypeError, match="segments bring their own seconds"):
        synthetic.synthesize("biped", [walk], 3)


def test_shortest_segments_that_are_allowed_work():
    with pytest.raises(ValueError, match="at least") as caught:
        synthetic.synthesize("quadruped", [Segment("trot", 2), Segment("sit", 0.1), Segment("walk", 3)])
    least = float(str(caught.value).split("at least ")[1].split(" s")[0]) + 0.01
    check_feet(
        synthetic.synthesize("quadruped", [Segment("trot", 2), Segment("sit", least), Segment("walk", 3)])
    )
