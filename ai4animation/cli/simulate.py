"""``ai4animation simulate``: clips in, a crowd stepped headless, a summary and a file out."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as TextTable

from ..engine.batch import Batch
from ..engine.components import Clips
from ..engine.modes import Summary, run
from ..engine.recorder import Recorder
from ..engine.world import World
from ..io import synthetic
from ..io.formats import motion_suffixes, read_motion
from ..io.motion import Motion
from ..kernels.threads import set_thread_count, thread_count

_PROGRESS_INTERVAL = 0.1
_MOST_STEPS = 10**9


def load_clip(name: str, rate: float, **options: Any) -> Motion:
    """Load a motion file (``options`` as ``read_motion``) or generate a built-in motion such as ``biped:walk``."""
    character, _, gait = name.partition(":")
    if gait and Path(name).suffix.lower() not in motion_suffixes() and not Path(name).exists():
        return synthetic.loop(character, gait, framerate=rate)
    return read_motion(name, **options)


def simulate_command(
    motions: Sequence[Motion],
    count: int,
    seconds: float,
    rate: float,
    seed: int,
    out: Path | None,
    record: int | None,
    loop: bool,
    spacing: float,
    threads: int | None,
) -> None:
    """Run the command; the arguments are those of ``ai4animation.cli.app.simulate``."""
    begin = time.perf_counter()
    if out is not None and out.suffix.lower() not in (".npz", ".bvh"):
        raise ValueError(f"--out must end in .npz or .bvh, got {out.name!r}")
    if out is not None and not out.absolute().parent.is_dir():
        raise FileNotFoundError(f"the folder of --out does not exist; create {str(out.parent)!r} first")
    if out is not None and (out.is_dir() or not os.access(out.absolute().parent, os.W_OK)):
        raise OSError(f"--out cannot be written: {str(out)!r} is a folder, or its folder is read-only")
    if record is not None and out is None:
        raise ValueError("--record needs --out: there is nothing to save to")
    if seconds * rate > _MOST_STEPS and math.isfinite(seconds):
        raise ValueError(
            f"--seconds times --rate must be at most {_MOST_STEPS:,} steps, got {seconds * rate:.3g}"
        )
    if not math.isfinite(seconds * rate):
        raise ValueError(f"--seconds must be a number, got {seconds}")
    set_thread_count(threads)
    world = World(rate, seed)
    batches = spawn_crowd(world, motions, count, loop, spacing)
    steps = round(seconds * rate)
    recorders = _recorders(batches, steps, record) if out is not None else []
    world.evaluate()
    for recorder in recorders:
        recorder()
    ready = time.perf_counter() - begin
    driven = run_with_progress(world, steps, recorders)
    console = Console()
    print_summary(console, world, driven, ready)
    if out is not None:
        paths = save(recorders, out)
        size = sum(path.stat().st_size for path in paths)
        last = f" to {paths[-1]}" if len(paths) > 1 else ""
        console.print(
            f"saved {paths[0]}{last} ({size / 1e6:,.1f} MB)", highlight=False, markup=False, soft_wrap=True
        )
    if driven.interrupted:
        raise SystemExit(130)


def spawn_crowd(
    world: World, motions: Sequence[Motion], count: int, loop: bool, spacing: float
) -> list[Batch]:
    """Deal the characters out over the clips, one batch a skeleton, standing in a square grid.

    The first character starts at time 0, the others at random times of their clips.
    """
    groups: list[list[Motion]] = []
    for motion in motions:
        for group in groups:
            if group[0].skeleton.same_tree(motion.skeleton):
                group.append(motion)
                break
        else:
            groups.append([motion])
    places = grid(count, spacing)
    batches, first = [], 0
    for number, group in enumerate(groups):
        # Rounded up: the first clip gets a character even if there is only one.
        share = min(-(-count * len(group) // len(motions)), count - first)
        share = share if number < len(groups) - 1 else count - first
        if not share:
            continue
        batch = world.spawn(group, share, loop=loop, position=places[first : first + share])
        clips = batch[Clips]
        times = world.rng.random(share) * clips.durations[batch.column("clip").data[:share]]
        if not first:
            times[0] = 0.0
        batch.column("time").view()[:] = times
        batches.append(batch)
        first += share
    return batches


def grid(count: int, spacing: float) -> np.ndarray:
    """Return (count, 3) places [m] on the ground, in rows along +X, the first at the origin."""
    side = math.ceil(math.sqrt(count))
    places = np.zeros((count, 3), np.float32)
    places[:, 0] = np.arange(count) % side * spacing
    places[:, 2] = np.arange(count) // side * spacing
    return places


def run_with_progress(world: World, steps: int, recorders: Sequence[Recorder]) -> Summary:
    """Step the world headless under a progress bar on standard error."""
    shown = time.perf_counter()
    columns = (
        TextColumn("simulating"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("steps"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("simulate", total=steps)

        def on_step(world: World) -> None:
            nonlocal shown
            for recorder in recorders:
                recorder()
            if time.perf_counter() - shown > _PROGRESS_INTERVAL:
                shown = time.perf_counter()
                progress.update(task, completed=world.step_count)

        return run(world, steps=steps, on_step=on_step).summary


def print_summary(console: Console, world: World, summary: Summary, ready: float) -> None:
    """Print what was simulated, how fast, and where the time went."""
    joints = sum(batch.count * batch.skeleton.joint_count for batch in world.batches)
    per_batch = ", ".join(f"{b.count:,} x {b.skeleton.joint_count} joints" for b in world.batches)
    table = TextTable(show_header=False, box=None, padding=(0, 2, 0, 0))
    rows = [
        ("characters", f"{world.character_count:,} ({per_batch})"),
        ("clips", ", ".join(name for batch in world.batches for name in batch[Clips].names)),
        ("steps", f"{summary.steps:,} at {world.rate:g} Hz, {thread_count()} threads"),
        ("ready after", f"{ready:.2f} s (spawning and compiling)"),
        ("simulated", f"{summary.simulated_seconds:.2f} s in {summary.wall_seconds:.2f} s"),
        ("throughput", f"{summary.character_frames_per_second:,.0f} character-frames/s"),
        ("real-time factor", f"{summary.real_time_factor:,.1f} x"),
    ]
    work = max(summary.steps * joints, 1)
    for name, seconds in summary.system_seconds.items():
        rows.append(
            (
                name,
                f"{seconds / max(summary.steps, 1) * 1e3:.3f} ms a step, {seconds / work * 1e9:.2f} ns a joint",
            )
        )
    for label, value in rows:
        table.add_row(label, escape(value))
    if summary.interrupted:
        console.print("interrupted; what was simulated until then:")
    console.print(table, highlight=False)


def save(recorders: Sequence[Recorder], out: Path) -> list[Path]:
    """Save all recordings under a progress bar on standard error.

    With several skeletons each goes to its own file, ``name_skeleton0.npz``.
    """
    targets = [out]
    if len(recorders) > 1:
        targets = [out.with_name(f"{out.stem}_skeleton{n}{out.suffix}") for n in range(len(recorders))]
    files = sum(len(recorder.paths(target)) for recorder, target in zip(recorders, targets, strict=True))
    columns = (
        TextColumn("saving"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("files"),
        TimeElapsedColumn(),
    )
    written: list[Path] = []
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("save", total=files)
        for recorder, target in zip(recorders, targets, strict=True):
            written += recorder.save(target, on_file=lambda path: progress.advance(task))
    return written


def _recorders(batches: Sequence[Batch], steps: int, record: int | None) -> list[Recorder]:
    left = sum(batch.count for batch in batches) if record is None else record
    recorders = []
    for batch in batches:
        handles = batch.table.handles()[:left]
        left -= len(handles)
        if len(handles):
            recorders.append(Recorder(batch, steps + 1, handles))
    return recorders
