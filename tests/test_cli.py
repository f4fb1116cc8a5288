"""The command line: what it prints, what it writes, what it refuses."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from ai4animation import Motion


def command(*arguments, cwd=None, **environment):
    """Run ``ai4animation`` and return (status, standard output, standard error)."""
    done = subprocess.run(
        [sys.executable, "-m", "ai4animation", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def clip(tmp_path, make_motion):
    """A clip of 61 frames at 30 Hz as an .npz file."""
    path = tmp_path / "clip.npz"
    make_motion(frames=61, framerate=30.0, name="clip").SaveToNPZ(path)
    return path


def test_simulate_prints_the_summary(clip):
    status, out, err = command(
        "simulate", clip, "--count", 50, "--seconds", 0.5, "--rate", 40, "--threads", 1
    )
    assert status == 0, err
    facts = {line[:17].strip(): line[17:].strip() for line in out.splitlines()}
    assert facts["characters"] == "50 (50 x 7 joints)"
    assert facts["clips"] == "clip"
    assert facts["steps"] == "20 at 40 Hz, 1 threads"
    assert facts["simulated"].startswith("0.50 s in ")
    assert facts["throughput"].endswith("character-frames/s")
    assert facts["real-time factor"].endswith(" x")
    assert "ns a joint" in facts["PlaybackSystem"]
    assert "ms a step" in facts["KinematicsSystem"]


@pytest.mark.parametrize("ending", [".npz", ".bvh"])
def test_the_first_character_reproduces_its_clip(clip, tmp_path, ending):
    out = tmp_path / f"out{ending}"
    status, text, err = command(
        "simulate", clip, "--count", 3, "--record", 1, "--rate", 30, "--seconds", 2, "--no-loop", "--out", out
    )
    assert status == 0, err
    assert f"saved {out}" in text
    source = Motion.LoadFromNPZ(clip)
    result = Motion.LoadFromNPZ(out) if ending == ".npz" else Motion.LoadFromBVH(out)
    assert (result.frame_count, result.framerate) == (61, 30.0)
    assert result.skeleton.names == source.skeleton.names
    np.testing.assert_allclose(result.positions, source.positions, atol=1e-4)
    np.testing.assert_allclose(np.abs((result.rotations * source.rotations).sum(-1)), 1, atol=1e-5)


def test_many_characters_go_into_one_npz_or_a_bvh_each(clip, tmp_path):
    status, _, err = command(
        "simulate", clip, "--count", 4, "--seconds", 0.2, "--out", tmp_path / "crowd.npz"
    )
    assert status == 0, err
    with np.load(tmp_path / "crowd.npz", allow_pickle=False) as data:
        assert data["positions"].shape == (13, 4, 7, 3)
        assert data["quaternions"].shape == (13, 4, 7, 4)
        assert np.isfinite(data["positions"]).all()
        one = Motion.LoadFromNPZ(tmp_path / "crowd.npz", character=2)
        np.testing.assert_allclose(one.positions, data["positions"][:, 2], atol=1e-4)
        # Characters stand apart: the default grid is 2 m wide.
        assert np.linalg.norm(data["positions"][0, 0, 0] - data["positions"][0, 1, 0]) > 0.5
    status, text, err = command("simulate", clip, "--count", 3, "--seconds", 0.2, "--out", tmp_path / "c.bvh")
    assert status == 0, err
    assert f"saved {tmp_path / 'c_00000.bvh'} to {tmp_path / 'c_00002.bvh'} (" in text
    assert sorted(p.name for p in tmp_path.glob("c_*.bvh")) == ["c_00000.bvh", "c_00001.bvh", "c_00002.bvh"]


def test_the_same_seed_gives_the_same_bytes(clip, tmp_path):
    files = [tmp_path / name for name in ("a.npz", "b.npz", "c.npz")]
    for file, seed, threads in zip(files, (5, 5, 6), (1, 2, 1), strict=True):
        command(
            "simulate",
            clip,
            "--count",
            20,
            "--seconds",
            0.3,
            "--seed",
            seed,
            "--threads",
            threads,
            "--out",
            file,
        )
    a, b, c = (np.load(file)["positions"] for file in files)
    assert a.tobytes() == b.tobytes()
    assert a.tobytes() != c.tobytes()


def test_simulate_without_clips_runs_the_built_in_motion(tmp_path):
    status, out, err = command("simulate", "--count", 10, "--seconds", 0.1)
    assert status == 0, err
    assert "walk" in out
    status, out, err = command("simulate", "biped:walk", "quadruped:trot", "--count", 10, "--seconds", 0.1)
    assert status == 0, err
    assert "5 x 2" in out.split("characters")[1].splitlines()[0]


def test_skeletons_that_differ_are_saved_apart(clip, tmp_path):
    status, _, err = command(
        "simulate", clip, "biped:walk", "--count", 4, "--seconds", 0.1, "--out", tmp_path / "x.npz"
    )
    assert status == 0, err
    for number, joints in ((0, 7), (1, None)):
        with np.load(tmp_path / f"x_skeleton{number}.npz") as data:
            assert data["positions"].shape[1] == 2
            assert joints is None or data["positions"].shape[2] == joints


def test_ctrl_c_ends_with_the_summary():
    child = subprocess.Popen(
        [sys.executable, "-m", "ai4animation", "simulate", "--count", "200", "--seconds", "100000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"},
    )
    time.sleep(8)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert "interrupted; what was simulated until then:" in out
    assert "throughput" in out
    assert "Traceback" not in err


def test_info(clip):
    status, out, err = command("info", clip)
    assert status == 0, err
    facts = {line[:19].strip(): line[19:].strip() for line in out.splitlines()}
    assert facts["frames"] == "61"
    assert facts["rate"] == "30 Hz"
    assert facts["duration"] == "2.000 s"
    assert facts["joints"] == "7 (1 root)"
    assert facts["translated joints"] == "1 (Hips)"
    assert facts["takes"] == "1 (clip)"
    assert float(facts["height"].split()[0]) > 0
    assert "└── LeftFoot" in out
    status, out, _ = command("info", clip, "--no-tree", "--scale", 2)
    assert "LeftFoot" not in out


def test_version():
    from ai4animation import __version__

    assert command("--version")[:2] == (0, f"ai4animation {__version__}\n")


def test_doctor():
    status, out, err = command("doctor")
    assert status == 0, err
    for word in (
        "python",
        "numba",
        "torch",
        "wgpu",
        "threads",
        "kernel cache",
        "graphics adapter",
        "CUDA device",
    ):
        assert word in out


def test_doctor_says_how_to_get_a_writable_cache(tmp_path):
    (tmp_path / "file").touch()
    status, out, _ = command("doctor", NUMBA_CACHE_DIR=str(tmp_path / "file" / "x"))
    assert status == 0
    assert "set NUMBA_CACHE_DIR to a folder of your own" in out


def test_doctor_says_how_to_get_a_graphics_adapter(monkeypatch):
    from ai4animation.cli import doctor

    monkeypatch.setattr(doctor, "_ask", lambda code: None)
    problems = []
    assert doctor._adapter(problems) == "none"
    assert "apt install mesa-vulkan-drivers" in problems[0]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["simulate", "none.bvh"], 1, "error: no such file: 'none.bvh'"),
        (["simulate", "none.xyz"], 1, "error: no such file: 'none.xyz'"),
        (["simulate", "biped:walc"], 1, "did you mean 'walk'"),
        (["simulate", "bipd:walk"], 1, "did you mean 'biped'"),
        (["simulate", "--out", "x.fbx"], 1, "error: --out must end in .npz or .bvh, got 'x.fbx'"),
        (["simulate", "--out", "no/such/folder/x.npz"], 1, "error: the folder of --out does not exist"),
        (["simulate", "--record", "3"], 1, "error: --record needs --out"),
        (
            ["simulate", "--rate", "0"],
            1,
            "error: --rate must be a positive number of steps per second, got 0.0",
        ),
        (["simulate", "--rate", "nan"], 1, "error: --rate must be a positive number"),
        (["simulate", "--seconds", "nan"], 2, "--seconds"),
        (["simulate", "--seconds", "inf"], 1, "error: --seconds must be a number, got inf"),
        (["simulate", "--count", "0"], 2, "--count"),
        (["simulate", "--seconds", "-1"], 2, "--seconds"),
        (["simulate", "--cout", "5"], 2, "--count"),
        (["info", "pyproject.toml"], 1, "must end in one of .bvh, .npz, got '.toml'"),
        (["info"], 2, "FILE"),
        (["simulat"], 2, "simulate"),
        (
            ["simulate", "--count", "100000", "--seconds", "3600", "--out", "x.npz"],
            1,
            "record fewer characters",
        ),
    ],
)
def test_refusals_are_one_line(arguments, status, message, tmp_path):
    (tmp_path / "pyproject.toml").write_text("x")
    got, _, err = command(*arguments, cwd=tmp_path)
    assert (got, message in err, "Traceback" in err) == (status, True, False), err
    if status == 1:
        assert len(err.strip().splitlines()) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["pyproject.toml"]


def test_a_broken_file_is_named_with_its_line(tmp_path):
    path = tmp_path / "broken.bvh"
    path.write_text("HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 zero\n}\n")
    status, _, err = command("info", path)
    assert status == 1
    assert f"error: {path}:4: " in err


def test_help_is_quick_and_lists_the_commands():
    times = []
    for _ in range(4):
        begin = time.perf_counter()
        status, out, err = command("--help")
        times.append(time.perf_counter() - begin)
        assert status == 0, err
        for name in ("simulate", "info", "doctor"):
            assert name in out
    assert min(times) < 0.5
