"""Reading and writing BVH against pybvh 0.9, on one generated file of 100 MB, and the memory that reading takes."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from harness import QUICK, best_of, row

from ai4animation import Motion, Skeleton
from ai4animation.io.bvh import read_bvh, write_bvh
from ai4animation.io.bvh_header import read_header
from ai4animation.io.bvh_rows import read_rows
from ai4animation.kernels.threads import set_thread_count, thread_count

JOINTS = 60
CHANNELS = 3 * JOINTS + 3
FRAMES = 500 if QUICK else 55_000

MEMORY = """
import sys
sys.path.insert(0, sys.argv[1])
from ai4animation.io.bvh import read_bvh
from ai4animation.kernels.threads import set_thread_count

def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))

set_thread_count(2)
read_bvh(sys.argv[2])
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = status("VmRSS")
motion = read_bvh(sys.argv[3])
print(status("VmHWM") - before)
"""


class ValueSink:
    """Keeps the bare values: reading without the turn into poses."""

    def __init__(self):
        self.capacity = 0
        self.values = np.empty((CHANNELS, 0), np.float32)

    def reserve(self, rows):
        """Make room and keep what is there."""
        kept = self.values
        self.values = np.empty((CHANNELS, rows), np.float32)
        self.values[:, : self.capacity] = kept[:, : self.capacity]
        self.capacity = rows

    def put(self, values, first, rows):
        """Copy rows into place."""
        self.values[:, first : first + rows] = values[:CHANNELS, :rows]


def read_values(path):
    with open(path, "rb") as file:
        header = read_header(path, file)
        sink = ValueSink()
        read_rows(path, file, header, sink)
    return sink.values


def random_motion(frames):
    """A skeleton of five chains that waves about."""
    rng = np.random.default_rng(7)
    parents = [-1] + [j - 1 if j % 12 else 0 for j in range(1, JOINTS)]
    skeleton = Skeleton([f"Joint{j}" for j in range(JOINTS)], parents, rng.normal(size=(JOINTS, 3)) * 0.2)
    t = np.arange(frames, dtype=np.float32) / 60
    rotations = np.empty((JOINTS, 4, frames), np.float32)
    for j in range(JOINTS):
        speeds, phases = rng.uniform(0.3, 4, (3, 1)), rng.uniform(0, 6, (3, 1))
        rotations[j, :3] = np.sin(t * speeds + phases) * rng.uniform(0.05, 0.6, (3, 1))
        rotations[j, 3] = 1
    rotations /= np.sqrt((rotations**2).sum(axis=1, keepdims=True))
    positions = np.cumsum(rng.normal(size=(1, 3, frames)) * 0.01, axis=2)
    return Motion.from_columns(skeleton, rotations, positions, [0], 60.0)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A large file and the first of its frames."""
    folder = tmp_path_factory.mktemp("bvh")
    motion = random_motion(FRAMES)
    write_bvh(folder / "large.bvh", motion)
    write_bvh(folder / "small.bvh", random_motion(100))
    return folder / "large.bvh", folder / "small.bvh", motion


@pytest.fixture
def two_threads():
    before = thread_count()
    set_thread_count(2)
    yield
    set_thread_count(before)


def in_turn(benchmark, run, reference):
    """Time a function between runs of a slow reference; return the best time of each [s]."""
    run()
    slow = []

    def time_reference():
        begin = time.perf_counter()
        reference()
        slow.append(time.perf_counter() - begin)
        run()

    rounds = 2 if QUICK else 4
    benchmark.pedantic(run, setup=time_reference, rounds=rounds)
    return benchmark.stats.stats.min, min(slow)


def report(name, path, best, slow, reference):
    megabytes = path.stat().st_size / 1e6
    row(
        "bvh",
        f"{name}, {megabytes:.0f} MB, {FRAMES:,} x {JOINTS} joints, 2 threads",
        megabytes / best,
        "MB/s",
        reference=f"{reference}, {megabytes / slow:.3g} MB/s",
        ratio=slow / best,
        goal=">= 8x",
    )


def test_parse(benchmark, files, two_threads):
    pybvh = pytest.importorskip("pybvh")
    path, _, _ = files
    theirs = pybvh.read_bvh_file(path)
    values = read_values(path)
    np.testing.assert_array_equal(values[:3].T, np.float32(theirs.root_pos))
    angles = np.degrees(theirs.joint_angles.reshape(FRAMES, -1))
    np.testing.assert_allclose(values[3:].T, angles, rtol=1e-6, atol=1e-6)
    del angles
    del theirs
    best, slow = in_turn(benchmark, lambda: read_values(path), lambda: pybvh.read_bvh_file(path))
    report("parse to float32", path, best, slow, "pybvh 0.9")


def test_read(benchmark, files, two_threads):
    pybvh = pytest.importorskip("pybvh")
    path, _, motion = files
    copy = read_bvh(path)
    dots = np.abs((copy.local_rotation_column * motion.local_rotation_column).sum(axis=1))
    np.testing.assert_allclose(dots, 1, atol=1e-6)
    del copy
    best, slow = in_turn(benchmark, lambda: read_bvh(path), lambda: pybvh.read_bvh_file(path))
    report("read_bvh, parse to quaternions", path, best, slow, "pybvh 0.9, without quaternions")


def test_read_on_one_thread(benchmark, files):
    path, _, _ = files
    before = thread_count()
    try:
        set_thread_count(1)
        single = best_of(lambda: read_bvh(path), 3)
        set_thread_count(2)
        best = benchmark.pedantic(lambda: best_of(lambda: read_bvh(path), 3), rounds=1)
    finally:
        set_thread_count(before)
    megabytes = path.stat().st_size / 1e6
    row(
        "bvh",
        "read_bvh, 1 thread",
        megabytes / single,
        "MB/s",
        reference=f"2 threads, {megabytes / best:.3g} MB/s",
        ratio=best / single,
    )


def test_memory(benchmark, files):
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("peak memory is read from /proc")
    path, small, _ = files
    root = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-c", MEMORY, str(root), str(small), str(path)]
    run = benchmark.pedantic(subprocess.run, (command,), {"capture_output": True, "text": True}, rounds=1)
    assert run.returncode == 0, run.stderr
    growth = int(run.stdout)
    values = 4 * FRAMES * CHANNELS
    row(
        "bvh",
        "read_bvh, growth of peak resident memory",
        growth / 1e6,
        "MB",
        reference=f"the float32 channel values, {values / 1e6:.3g} MB",
        ratio=growth / values,
        goal="<= 2.5x",
    )


def test_write(benchmark, files, tmp_path):
    pybvh = pytest.importorskip("pybvh")
    path, _, motion = files
    theirs = pybvh.read_bvh_file(path)
    best, slow = in_turn(
        benchmark,
        lambda: write_bvh(tmp_path / "ours.bvh", motion),
        lambda: pybvh.write_bvh_file(theirs, tmp_path / "theirs.bvh"),
    )
    megabytes = path.stat().st_size / 1e6
    row(
        "bvh",
        "write_bvh, quaternions to text, 1 thread",
        megabytes / best,
        "MB/s",
        reference=f"pybvh 0.9, without quaternions, {megabytes / slow:.3g} MB/s",
        ratio=slow / best,
    )
