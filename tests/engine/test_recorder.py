import numpy as np
import pytest

from ai4animation import Motion, World, run
from ai4animation.engine.recorder import Recorder


def test_a_recording_is_what_the_world_showed(motion):
    world = World(rate=30)
    batch = world.spawn(motion, 4, time=[0, 0.1, 0.2, 0.3])
    handles = batch.table.handles()
    recorder = Recorder(batch, 6, handles[[2, 0]])
    world.evaluate()
    recorder()
    run(world, steps=5, on_step=recorder)
    assert recorder.frame_count == 6
    for frame in range(6):
        np.testing.assert_allclose(recorder.positions[frame, 1], motion.positions[frame], atol=1e-5)
        np.testing.assert_allclose(recorder.positions[frame, 0], motion.positions[frame + 6], atol=1e-5)
    made = recorder.motion(1, "first")
    assert (made.name, made.framerate, made.frame_count) == ("first", 30.0, 6)
    np.testing.assert_allclose(made.positions, motion.positions[:6], atol=1e-5)


def test_handles_are_followed_when_rows_move(motion):
    world = World(rate=30)
    batch = world.spawn(motion, 3, position=[[0, 0, 0], [10, 0, 0], [20, 0, 0]])
    handles = batch.table.handles()
    recorder = Recorder(batch, 3, handles[2])
    world.evaluate()
    recorder()
    batch.despawn(handles[0])
    world.evaluate()
    recorder()
    np.testing.assert_array_equal(recorder.positions[0], recorder.positions[1])
    batch.despawn(handles[2])
    with pytest.raises(KeyError, match="handles must name living rows"):
        recorder()


@pytest.mark.parametrize("ending", [".npz", ".bvh"])
def test_saved_files_load_again(motion, tmp_path, ending):
    world = World(rate=30)
    batch = world.spawn(motion, 1)
    recorder = Recorder(batch, 4)
    run(world, steps=4, on_step=recorder)
    (path,) = recorder.save(tmp_path / f"one{ending}")
    loaded = Motion.LoadFromNPZ(path) if ending == ".npz" else Motion.LoadFromBVH(path)
    np.testing.assert_allclose(loaded.positions, recorder.positions[:, 0], atol=1e-4)


def test_refusals(motion, tmp_path):
    world = World()
    batch = world.spawn(motion, 2)
    recorder = Recorder(batch, 1)
    with pytest.raises(ValueError, match=r"the output must end in \.npz or \.bvh, got 'x\.glb'"):
        recorder.save(tmp_path / "x.glb")
    with pytest.raises(ValueError, match="at least one frame of one character, got none"):
        recorder.save(tmp_path / "x.npz")
    recorder()
    with pytest.raises(IndexError, match="room for 1 frames, all are taken"):
        recorder()
    with pytest.raises(MemoryError, match="record fewer characters or a shorter time"):
        Recorder(batch, 10**9)
