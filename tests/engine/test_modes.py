import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from ai4animation import Mode, World, run
from ai4animation.engine.clock import Clock


class Program:
    def __init__(self):
        self.calls = []

    def start(self, world):
        self.calls.append("start")

    def update(self, world, dt):
        self.calls.append(round(dt, 6))


def test_headless_ends_after_steps(motion):
    world, program = World(rate=50), Program()
    world.spawn(motion, 10)
    summary = run(world, program, mode=Mode.HEADLESS, steps=25).summary
    assert program.calls == ["start", *[0.02] * 25]
    assert (summary.steps, summary.character_frames, summary.interrupted) == (25, 250, False)
    assert summary.simulated_seconds == pytest.approx(0.5)
    assert world.time == pytest.approx(0.5)
    assert list(summary.system_seconds) == ["PlaybackSystem", "KinematicsSystem", "HierarchySystem"]
    assert 0 < sum(summary.system_seconds.values()) < summary.wall_seconds
    assert summary.character_frames_per_second == pytest.approx(250 / summary.wall_seconds)
    assert summary.real_time_factor == pytest.approx(0.5 / summary.wall_seconds)


def test_headless_ends_at_a_time_or_a_condition():
    world = World(rate=60)
    assert run(world, until=1.0).summary.steps == 60
    assert run(world, until=1.5).summary.steps == 30
    assert run(world, until=lambda w: w.step_count >= 100).summary.steps == 10
    assert run(world, until=0.5).summary.steps == 0
    assert run(world, steps=3, until=100).summary.steps == 3
    assert run(world, steps=0).summary.steps == 0


def test_manual_mode_is_the_same_program(motion):
    results = []
    for mode in ("headless", "manual"):
        world, program = World(rate=30, seed=1), Program()
        batch = world.spawn(motion, 5)
        driven = run(world, program, mode=mode, **({"steps": 8} if mode == "headless" else {}))
        if mode == "manual":
            assert driven.summary.steps == 0
            for _ in range(8):
                driven.step()
        results.append(
            (program.calls, batch.column("world_positions").view().tobytes(), driven.summary.steps)
        )
    assert results[0] == results[1]


def test_manual_step_takes_a_dt():
    world, program = World(), Program()
    driven = run(world, program, mode="manual")
    driven.step(0.25)
    assert program.calls == ["start", 0.25]
    assert world.time == 0.25


def test_a_program_may_have_some_of_the_hooks_but_not_none():
    class Drawing:
        def draw(self, draw):
            raise AssertionError("headless draws nothing")

    assert run(World(), Drawing(), steps=2).summary.steps == 2
    with pytest.raises(TypeError, match="must have one of the methods start, update, draw, gui"):
        run(World(), type("P", (), {"udpate": lambda self: None})(), steps=2)


def test_paced_runs_take_real_time_and_hardly_any_processor():
    world = World(rate=100)
    wall, processor = time.perf_counter(), time.process_time()
    run(world, steps=40, paced=True)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    assert 0.35 < wall < 2.0
    assert processor < 0.5 * wall


def test_on_step_sees_every_step():
    seen = []
    run(World(rate=10), steps=3, on_step=lambda w: seen.append(round(w.time, 3)))
    assert seen == [0.1, 0.2, 0.3]


def test_standalone_says_in_one_clear_error_what_it_needs():
    with pytest.raises(
        RuntimeError, match="Standalone mode needs the viewer.*use mode='headless' or 'manual'"
    ):
        run(World(), mode="standalone")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "batch"}, "mode must be one of standalone, headless, manual, got 'batch'"),
        ({"steps": -1}, "steps must be an integer >= 0, got -1"),
        ({"until": float("nan")}, "until must be a time in seconds or a function of the world, got nan"),
        ({"mode": "manual", "steps": 3}, "must be left out in manual mode"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        run(World(), **arguments)


def test_a_hook_that_is_no_method_is_refused():
    with pytest.raises(TypeError, match="program.update must be a method, got 3"):
        run(World(), type("P", (), {"update": 3})(), steps=1)


def test_an_error_in_the_program_reaches_the_caller_and_the_handler_is_restored():
    before = signal.getsignal(signal.SIGINT)

    class Broken:
        def update(self, world, dt):
            raise ArithmeticError("mine")

    with pytest.raises(ArithmeticError, match="mine"):
        run(World(), Broken(), steps=1)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_ends_a_run_with_its_summary():
    code = """
import ai4animation
world = ai4animation.World(rate=200)
print("ready", flush=True)
run = ai4animation.run(world, paced=True)
print("ended", run.summary.interrupted, run.summary.steps == world.step_count > 0, flush=True)
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)
    assert out == "ended True True\n", err
    assert err == ""
    assert child.returncode == 0


def test_runs_outside_the_main_thread():
    results = []
    thread = threading.Thread(target=lambda: results.append(run(World(), steps=4).summary.steps))
    thread.start()
    thread.join()
    assert results == [4]


def test_headless_loads_no_graphics_library():
    code = """
import sys, ai4animation
ai4animation.run(ai4animation.World(), steps=1)
print([m for m in ("wgpu", "glfw", "rendercanvas", "torch", "imgui_bundle") if m in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout == "[]\n"


def test_clock_turns_time_into_steps_and_keeps_the_rest():
    clock = Clock(0.1, max_steps=5)
    assert [clock.advance(0.04) for _ in range(5)] == [0, 0, 1, 0, 1]
    assert clock.alpha == pytest.approx(0, abs=1e-9)
    assert clock.advance(0.25) == 2
    assert clock.alpha == pytest.approx(0.5)
    assert clock.until_next == pytest.approx(0.05)
    assert clock.advance(100) == 5
    assert clock.alpha == 0
    assert sum(clock.advance(0.001) for _ in range(100_000)) == pytest.approx(1000, abs=1)


def test_clock_refusals():
    with pytest.raises(ValueError, match="step must be a positive number of seconds, got 0"):
        Clock(0)
    with pytest.raises(ValueError, match="max_steps must be >= 1, got 0"):
        Clock(0.1, 0)
    with pytest.raises(ValueError, match="elapsed must be a number of seconds >= 0, got -1"):
        Clock(0.1).advance(-1)
    with pytest.raises(ValueError, match="got nan"):
        Clock(0.1).advance(np.nan)
