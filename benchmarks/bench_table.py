"""Tables and worlds: spawn, despawn, one character's step, memory in the steady state."""

import gc
import sys
import tracemalloc

import numpy as np
from bench_sample import clips
from harness import QUICK, best_of, compare, row

from ai4animation import World
from ai4animation.engine.table import Table


def table(capacity: int) -> Table:
    """A table with the columns of a 24-joint character's local pose."""
    made = Table(capacity)
    made.add_column("position", (1, 3))
    made.add_column("rotation", (24, 4), fill=(0, 0, 0, 1))
    return made


def test_spawn_and_despawn(benchmark):
    rows = 1000 if QUICK else 100_000
    made = table(rows)

    def come_and_go():
        made.despawn(made.spawn(rows))

    def rows_one_by_one():
        objects = [(np.zeros(3, np.float32), np.zeros((24, 4), np.float32)) for _ in range(rows // 10)]
        objects.clear()

    best, reference = compare(benchmark, come_and_go, rows_one_by_one)
    assert made.count == 0
    assert made.generation == 0
    row(
        "table",
        f"spawn and despawn {rows:,} rows, 99 floats each",
        best / rows * 1e9,
        "ns/row",
        reference=f"one pair of NumPy arrays a character, {reference / (rows // 10) * 1e9:.3g} ns/row",
        ratio=reference / (rows // 10) / (best / rows),
    )
    handles = made.spawn(rows)
    rng = np.random.default_rng(0)
    some = rng.choice(handles, rows // 10, replace=False)
    made.despawn(some)
    assert made.count == rows - rows // 10
    row(
        "table",
        f"despawn {rows // 10:,} scattered rows",
        _despawn(made, rows // 10) / (rows // 10) * 1e9,
        "ns/row",
    )


def _despawn(made: Table, count: int) -> float:
    rng = np.random.default_rng(1)
    best = float("inf")
    for _ in range(5):
        chosen = rng.choice(made.handles(), count, replace=False)
        best = min(best, best_of(lambda c=chosen: made.despawn(c), 1) if not QUICK else _once(made, chosen))
        made.spawn(count)
    return best


def _once(made: Table, chosen: np.ndarray) -> float:
    import time

    begin = time.perf_counter()
    made.despawn(chosen)
    return time.perf_counter() - begin


def test_one_character(benchmark):
    world = World()
    world.spawn(clips(), 1)
    for _ in range(100):
        world.step()
    (best,) = compare(benchmark, world.step)
    row("table", "World.step, 1 character, 3 systems", best * 1e6, "us", goal="<= 60 us")


def test_steady_state(benchmark):
    world = World()
    batch = world.spawn(clips(), 1000)
    tracemalloc.start()
    _growth(world, 300)
    generation = batch.table.generation
    # The numbers that hold the measurement itself are taken off.
    alone_blocks, alone_bytes = _growth(world, 0)
    blocks, size = _growth(world, 1000)
    tracemalloc.stop()
    row(
        "table",
        "Python heap blocks grown over 1,000 steps",
        max(blocks - alone_blocks, 0),
        "blocks",
        goal="0",
    )
    row("table", "Python heap grown over 1,000 steps", max(size - alone_bytes, 0), "bytes", goal="0 bytes")
    changes = batch.table.generation - generation
    row("table", "table.generation changes over 1,000 steps", changes, "changes", goal="0")
    benchmark.pedantic(world.step, rounds=5)


def _growth(world: World, steps: int) -> tuple[int, int]:
    """Return by how many blocks and bytes the Python heap grows over some steps."""
    gc.collect()
    blocks, (size, _) = sys.getallocatedblocks(), tracemalloc.get_traced_memory()
    for _ in range(steps):
        world.step()
    gc.collect()
    return sys.getallocatedblocks() - blocks, tracemalloc.get_traced_memory()[0] - size
