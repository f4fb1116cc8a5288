import gc
import sys
import tracemalloc

import esper
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ai4animation import World
from ai4animation.engine.components import (
    Clips,
    Component,
    LocalPose,
    Origin,
    Playback,
    Rig,
    WorldPose,
    column,
)
from ai4animation.engine.system import Phase, RowSystem, System
from ai4animation.engine.systems import HierarchySystem, KinematicsSystem, PlaybackSystem
from ai4animation.kernels.threads import set_thread_count, thread_count


def pose(batch):
    return batch.column("world_positions").view().copy(), batch.column("world_rotations").view().copy()


def test_characters_play_their_clip(motion):
    world = World(rate=motion.framerate)
    batch = world.spawn(motion, 3, time=[0.0, 0.5, 1.0])
    world.evaluate()
    for step in range(9):
        positions, rotations = pose(batch)
        for row, start in enumerate((0, 15, 30)):
            np.testing.assert_allclose(positions[row], motion.positions[start + step], atol=3e-6)
            dots = np.abs((rotations[row] * motion.rotations[start + step]).sum(-1))
            np.testing.assert_allclose(dots, 1, atol=1e-5)
        world.step()


def test_between_frames_poses_are_interpolated(motion):
    world = World()
    batch = world.spawn(motion, 1, time=10.5 / motion.framerate)
    world.evaluate()
    local = batch.column("local_rotations").view()[0].astype(float)
    for j in range(7):
        a, b = (Rotation.from_quat(motion.local_rotations[f, j]) for f in (10, 11))
        middle = a * Rotation.from_rotvec((a.inv() * b).as_rotvec() / 2)
        assert (middle.inv() * Rotation.from_quat(local[j])).magnitude() < 1e-5


def test_loops_wrap_and_others_hold_the_last_frame(motion):
    world = World(rate=10)
    batch = world.spawn(motion, 2, loop=[True, False])
    for _ in range(20):
        world.step()
    time = 20 / 10
    positions, _ = pose(batch)
    np.testing.assert_allclose(positions[1], motion.positions[-1], atol=3e-6)
    wrapped = (time - motion.duration) * motion.framerate
    low, weight = int(wrapped), wrapped - int(wrapped)
    expected = motion.local_positions[low, 0] * (1 - weight) + motion.local_positions[low + 1, 0] * weight
    np.testing.assert_allclose(positions[0, 0], expected, atol=1e-5)


def test_origin_places_and_turns_the_whole_character(motion):
    world = World()
    batch = world.spawn(motion, 1, position=(5, 0, -3), yaw=np.pi / 2)
    world.evaluate()
    positions, _ = pose(batch)
    # Yaw turns +Z towards +X.
    expected = np.add(Rotation.from_euler("y", np.pi / 2).apply(motion.positions[0]), (5, 0, -3))
    np.testing.assert_allclose(positions[0], expected, atol=1e-5)
    np.testing.assert_allclose(Rotation.from_euler("y", np.pi / 2).apply([0, 0, 1]), [1, 0, 0], atol=1e-12)


def test_clips_of_one_skeleton_play_side_by_side(make_motion):
    a = make_motion(frames=20, seed=1, name="a")
    b = make_motion(frames=33, seed=2, name="b", framerate=60.0, translated=(0, 2))
    shifted = np.float32(a.skeleton.offsets) + np.float32([[0, 0, 0]] * 6 + [[0, 0.1, 0]])
    c = make_motion(frames=5, seed=3, name="c", offsets=shifted)
    world = World()
    batch = world.spawn([a, b, c], 6)
    world.evaluate()
    # Joint 2 moves in b, joint 6 has another offset in c.
    assert batch[Rig].translated.tolist() == [0, 2, 6]
    assert batch.column("clip").view().tolist() == [0, 1, 2, 0, 1, 2]
    positions, _ = pose(batch)
    for row, motion in enumerate([a, b, c, a, b, c]):
        np.testing.assert_allclose(positions[row], motion.positions[0], atol=3e-6)
    for frame in (3, 1, 2):
        batch.column("time").view()[:] = [frame / motion.framerate for motion in (a, b, c, a, b, c)]
        world.evaluate()
        positions, _ = pose(batch)
        for row, motion in enumerate([a, b, c, a, b, c]):
            np.testing.assert_allclose(positions[row], motion.positions[frame], atol=1e-5)
    by_name = batch.spawn(2, clip="b")
    assert batch.column("clip").view()[batch.table.rows(by_name)].tolist() == [1, 1]


def test_despawned_rows_leave_the_others_as_they_are(motion):
    world = World()
    batch = world.spawn(motion, 10, time=np.linspace(0, 1, 10))
    handles = batch.table.handles()
    twin_world = World()
    twin = twin_world.spawn(motion, 10, time=np.linspace(0, 1, 10))
    batch.despawn(handles[[0, 3, 8]])
    for _ in range(5):
        world.step()
        twin_world.step()
    kept = [1, 2, 4, 5, 6, 7, 9]
    rows = batch.table.rows(handles[kept])
    assert pose(batch)[0][rows].tobytes() == pose(twin)[0][kept].tobytes()
    assert world.character_count == 7


def test_a_batch_without_clips_stands_in_its_rest_pose(motion):
    world = World()
    batch = world.spawn(motion.skeleton, 4)
    world.step()
    positions, rotations = pose(batch)
    np.testing.assert_allclose(positions[2, 2], [0, 0.9 + 0.3 + 0.4, 0], atol=1e-6)
    np.testing.assert_array_equal(rotations[..., 3], 1)
    assert Playback not in batch
    assert Clips not in batch


def test_spawning_past_the_capacity_grows(motion):
    world = World()
    batch = world.spawn(motion, 16)
    batch.spawn(100, time=0.5)
    world.step()
    assert batch.count == 116
    assert batch.table.generation == 1
    assert np.isfinite(pose(batch)[0]).all()
    reserved = world.spawn(motion, 10, capacity=500)
    reserved.spawn(490)
    assert reserved.table.generation == 0


def test_the_same_seed_gives_the_same_bytes_for_any_number_of_threads(motion):
    before, results = thread_count(), []
    try:
        for threads in (1, 2, 1):
            set_thread_count(threads)
            world = World(seed=7)
            batch = world.spawn(
                motion, 20_000, time=world.rng.random(20_000), speed=world.rng.uniform(-1, 2, 20_000)
            )
            for _ in range(3):
                world.step()
            results.append(b"".join(array.tobytes() for array in pose(batch)))
    finally:
        set_thread_count(before)
    assert results[0] == results[1] == results[2]
    other = World(seed=8)
    assert other.rng.random() != World(seed=7).rng.random()


def test_batch_equals_loop_of_singles(motion):
    times = np.linspace(0, 1.2, 50).astype(np.float32)
    world = World()
    together = world.spawn(motion, 50, time=times)
    alone = [world.spawn(motion, 1, time=float(t)) for t in times]
    for _ in range(4):
        world.step()
    for row, single in enumerate(alone):
        for name in ("local_rotations", "world_positions", "world_rotations"):
            got, expected = single.column(name).view()[0], together.column(name).view()[row]
            assert got.tobytes() == expected.tobytes(), (row, name)


def test_worlds_do_not_meet(motion):
    one, two = World(), World()
    a, b = one.spawn(motion, 2), two.spawn(motion, 3)
    one.step()
    assert (one.time > 0, two.time) == (True, 0.0)
    assert a.column("time").view().tolist() != b.column("time").view()[:2].tolist()
    one.close()
    two.step()
    with pytest.raises(RuntimeError, match="the world was closed"):
        one.step()


def test_forgotten_worlds_leave_no_esper_context(motion):
    gc.collect()
    before = len(esper.list_worlds())
    for _ in range(5):
        world = World()
        world.spawn(motion, 2)
        world.step()
        del world
    gc.collect()
    assert len(esper.list_worlds()) == before


def test_steady_state_allocates_nothing(motion):
    world = World()
    batch = world.spawn(motion, 64)
    pointers = [c.data.ctypes.data for c in batch.table.columns]
    tracemalloc.start()
    try:
        for _ in range(300):
            world.step()
        gc.collect()
        blocks, (size, _) = sys.getallocatedblocks(), tracemalloc.get_traced_memory()
        for _ in range(1000):
            world.step()
        gc.collect()
        grown_blocks = sys.getallocatedblocks() - blocks
        grown = tracemalloc.get_traced_memory()[0] - size
    finally:
        tracemalloc.stop()
    # The two numbers themselves, held while measuring, are all there may be.
    assert grown_blocks <= 4
    assert grown <= 256
    assert batch.table.generation == 0
    assert [c.data.ctypes.data for c in batch.table.columns] == pointers


class Energy(Component):
    energy = column(fill=10.0)
    push = column("J", 3, unit="m/s")


class Tire(System):
    phase = Phase.INPUT
    reads = (Energy,)
    writes = (Energy,)

    def run(self, dt):
        for _, (energy,) in esper.get_components(Energy):
            energy.energy.data[: energy.count] -= dt


def test_components_and_systems_of_your_own(motion):
    world = World(rate=10)
    world.add_system(Tire())
    batch = world.spawn(motion, 4)
    energy = batch.add(Energy)
    assert energy.push.data.shape[:2] == (7, 3)
    world.step()
    world.step()
    np.testing.assert_allclose(batch[Energy].energy.view(), 9.8, rtol=1e-6)
    assert world.system(Tire).seconds > 0
    world.remove_system(Tire)
    world.step()
    np.testing.assert_allclose(batch[Energy].energy.view(), 9.8, rtol=1e-6)


def test_describe_names_every_system_in_order(motion):
    world = World()
    world.add_system(Tire())
    world.spawn(motion, 3)
    lines = world.describe().splitlines()
    assert lines[0].split() == ["phase", "system", "reads", "writes", "batches"]
    assert [line.split()[:2] for line in lines[2:6]] == [
        ["INPUT", "Tire"],
        ["ANIMATE", "PlaybackSystem"],
        ["SOLVE", "KinematicsSystem"],
        ["SOLVE", "HierarchySystem"],
    ]
    assert [line.split()[-1] for line in lines[2:6]] == ["-", "1", "1", "-"]
    assert lines[6].startswith("batch 0: 3 of 16 rows, 7 joints, columns origin_positions")


def test_every_read_is_written_by_spawn_or_an_earlier_system():
    # What spawn itself fills; the scene is filled by its own methods.
    written = {Rig, Clips, Origin, LocalPose, WorldPose, Playback} | set(HierarchySystem.reads)
    for system in World().systems:
        assert set(system.reads) <= written, system
        written |= set(system.writes)


def test_system_order_is_phase_then_order_of_adding():
    order = []

    def note(name, phase):
        def run(self, dt):
            order.append(name)

        return type(name, (System,), {"phase": phase, "run": run})()

    world = World(
        systems=[
            note("c", Phase.SOLVE),
            note("a", Phase.INPUT),
            note("d", Phase.SOLVE),
            note("b", Phase.ANIMATE),
        ]
    )
    world.step()
    assert order == ["a", "b", "c", "d"]


def test_columns_of_the_pose_are_shared_with_torch(motion):
    torch = pytest.importorskip("torch")
    world = World()
    batch = world.spawn(motion, 32)
    world.evaluate()
    column = batch[WorldPose].world_positions
    tensor = torch.from_numpy(column.view())
    assert tensor.data_ptr() == column.data.ctypes.data
    before = tensor.clone()
    world.step()
    assert not torch.equal(tensor, before)


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda w, m: World(rate=0), ValueError, "rate must be a positive number of steps per second, got 0"),
        (lambda w, m: World(rate=float("nan")), ValueError, "rate must be a positive number"),
        (lambda w, m: w.step(-0.1), ValueError, "dt must be a number of seconds >= 0, got -0.1"),
        (lambda w, m: w.step(float("nan")), ValueError, "dt must be a number of seconds >= 0, got nan"),
        (lambda w, m: w.spawn(m, -1), ValueError, "count must be an integer >= 0, got -1"),
        (lambda w, m: w.spawn(m, 2.5), ValueError, "count must be an integer >= 0, got 2.5"),
        (
            lambda w, m: w.spawn("walk.bvh", 1),
            TypeError,
            "source must be a Motion, several, or a Skeleton, got 'walk.bvh'",
        ),
        (lambda w, m: w.spawn([], 1), ValueError, "clips must hold at least one motion, got none"),
        (lambda w, m: w.spawn(m, 5, capacity=3), ValueError, r"capacity must be at least count \(5\), got 3"),
        (lambda w, m: w.spawn(m, 2, time=[0, 1, 2]), ValueError, r"time must fit shape \(2,\), got \(3,\)"),
        (
            lambda w, m: w.spawn(m, 2, position=(1, 2)),
            ValueError,
            r"position must fit shape \(2, 3\), got \(2,\)",
        ),
        (lambda w, m: w.spawn(m, 2, yaw=np.nan), ValueError, "yaw must be finite, got NaN or infinity"),
        (lambda w, m: w.spawn(m, 2, clip=[0, 1]), ValueError, r"clip must lie in 0..0, got 0..1"),
        (lambda w, m: w.spawn(m, 2, clip="clap"), KeyError, "no clip named 'clap'; the batch has 'clip'"),
        (
            lambda w, m: w.spawn(m.skeleton, 2, clip=0),
            ValueError,
            "clip, time and speed must be left out",
        ),
        (
            lambda w, m: w.spawn(m, 1).add(LocalPose),
            ValueError,
            "a batch must have each component once, got LocalPose",
        ),
        (lambda w, m: w.spawn(m, 1).add(int), TypeError, "a component must be a subclass of Component"),
        (lambda w, m: w.spawn(m, 1)[Energy], KeyError, "the batch has no Energy; it has Rig, Origin"),
        (
            lambda w, m: w.add_system(PlaybackSystem()),
            ValueError,
            "one system of a class, got PlaybackSystem twice",
        ),
        (lambda w, m: w.add_system(object()), TypeError, "a system must be a System"),
        (
            lambda w, m: w.add_system(type("NoPhase", (System,), {})()),
            TypeError,
            "NoPhase must declare phase, one of INPUT",
        ),
        (lambda w, m: w.remove_system(Tire), KeyError, "no system Tire; the world has PlaybackSystem"),
        (lambda w, m: w.remove(World().spawn(m, 1)), ValueError, "the batch must live in this world"),
    ],
)
def test_refusals(motion, action, error, message):
    world = World()
    with pytest.raises(error, match=message):
        action(world, motion)
    assert world.batches in ([], world.batches[:1])
    world.step()


def test_clips_of_different_skeletons_are_refused_by_name(make_motion):
    from ai4animation import Motion, Skeleton

    a = make_motion(name="a")
    other = Skeleton(["Hips", *[f"j{i}" for i in range(6)]], a.skeleton.parents)
    b = Motion.from_columns(
        other, a.local_rotation_column.copy(), a.local_position_column.copy(), [0], 30.0, "b"
    )
    with pytest.raises(
        ValueError, match="got joint 1 named 'j0' in 'b' and 'Spine' in 'a'; spawn one batch per skeleton"
    ):
        World().spawn([a, b], 1)
    with pytest.raises(ValueError, match="clips must have at least one frame, got 'empty' with none"):
        World().spawn(make_motion(frames=0, name="empty"), 1)


def test_removed_batches_are_gone(motion):
    world = World()
    a, b = world.spawn(motion, 2), world.spawn(motion, 3)
    world.remove(a)
    world.step()
    assert world.batches == [b]
    assert a.column("time").view().tolist() == [0, 0]
    assert b.column("time").view()[0] > 0


def test_thousands_come_and_go_in_flight(motion):
    world = World(seed=3)
    batch = world.spawn(motion, 1000)
    for _ in range(20):
        handles = batch.table.handles()
        batch.despawn(world.rng.permutation(handles)[:400])
        batch.spawn(int(world.rng.integers(300, 600)), time=0.2)
        world.step()
        assert np.isfinite(pose(batch)[0]).all()
    assert KinematicsSystem in {type(s) for s in world.systems}


def test_a_clip_that_does_not_exist_plays_the_nearest(motion):
    world = World()
    batch = world.spawn(motion, 100)
    for clip in (1, 10**9, -(10**9)):
        batch.column("clip").view()[:] = clip
        world.step()
        assert np.isfinite(pose(batch)[0]).all()


def test_worlds_in_several_threads_do_not_step_each_other(motion):
    import threading

    class Count(System):
        phase = Phase.INPUT
        runs = 0

        def run(self, dt):
            self.runs += 1

    worlds = [World() for _ in range(3)]
    for world in worlds:
        world.add_system(Count())
        world.spawn(motion, 2)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=lambda w=w: [w.step() for _ in range(1500)]) for w in worlds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert [world.system(Count).runs for world in worlds] == [1500] * 3


def test_a_system_is_in_one_world():
    system = Tire()
    first, second = World(), World()
    first.add_system(system)
    with pytest.raises(ValueError, match="a system must be in one world, got a Tire that is in one already"):
        second.add_system(system)
    first.remove_system(Tire)
    second.add_system(system)


def test_removing_a_batch_during_a_step_skips_no_other(motion):
    seen = []

    class Remove(RowSystem):
        phase = Phase.INPUT
        reads = (Origin,)

        def run_rows(self, batch, dt, start, stop):
            seen.append(batch)
            if len(seen) == 1:
                self.world.remove(batch)

    world = World()
    batches = [world.spawn(motion, 1) for _ in range(3)]
    world.add_system(Remove())
    world.step()
    assert seen == batches
    assert world.batches == batches[1:]


def test_steps_of_any_number_type_use_one_compiled_kernel(motion):
    from ai4animation.kernels import sample

    world = World()
    world.spawn(motion, 2)
    world.step(0.1)
    before = len(sample.advance.signatures)
    world.step(1)
    world.step(np.float32(0.5))
    assert len(sample.advance.signatures) == before


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"table": column()}, "must not be called 'table'"),
        ({"x": column("K", 3)}, "must be numbers, 'J' or 'T', got 'K'"),
        ({"x": column(dtype=np.float64)}, "must be float32 or int32, got float64"),
    ],
)
def test_components_are_checked_when_they_are_declared(fields, message):
    with pytest.raises(ValueError, match=message):
        type("Bad", (Component,), fields)
