"""What every benchmark shares: interleaved timing against a reference, rows of results, machine facts."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

# Small sizes for the test that only checks that the benchmarks run.
QUICK = bool(os.environ.get("AI4ANIMATION_BENCH_QUICK"))
RESULTS = Path(os.environ.get("AI4ANIMATION_BENCH_RESULTS", Path(__file__).parent / "results"))

_SETTLE, _TURN, _ROUNDS = (0.001, 0.001, 2) if QUICK else (0.4, 0.1, 5)
_rows: dict[str, list[dict[str, Any]]] = {}


def row(
    group: str,
    name: str,
    value: float,
    unit: str,
    *,
    reference: str | None = None,
    ratio: float | None = None,
    goal: str | None = None,
) -> None:
    """Report one figure.

    Args:
        group: Name of the result file.
        name: What was measured.
        value: The figure.
        unit: Its unit.
        reference: What it is compared with, measured in the same run.
        ratio: How many times better than the reference, or the quotient that the goal speaks of.
        goal: The goal, where there is one.
    """
    _rows.setdefault(group, []).append(
        {
            "name": name,
            "value": float(f"{value:.4g}"),
            "unit": unit,
            "reference": reference,
            "ratio": None if ratio is None else float(f"{ratio:.4g}"),
            "goal": goal,
        }
    )


def rows() -> dict[str, list[dict[str, Any]]]:
    """Return all rows reported so far, by group."""
    return _rows


def write_results() -> list[Path]:
    """Write one JSON list of rows a group."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    paths = []
    for group, found in _rows.items():
        path = RESULTS / f"{group}.json"
        path.write_text(json.dumps(found, indent=1) + "\n")
        paths.append(path)
    return paths


def compare(benchmark: Any, run: Callable[[], Any], *references: Callable[[], Any]) -> tuple[float, ...]:
    """Time a function with pytest-benchmark and its references in turn; return the best mean time of each [s].

    Turns alternate, so a slow moment of the machine hits all of them. Each turn begins untimed: a set of columns
    larger than the second-level cache needs some 50 passes to settle in the third after another function used it,
    and a loop of steps works on settled data.
    """
    everything = (run, *references)
    for function in everything:
        function()
    spent = [_time(function) for function in everything]
    untimed, timed = ([max(1, int(seconds / max(t, 1e-9))) for t in spent] for seconds in (_SETTLE, _TURN))
    best = [float("inf")] * len(references)

    def between() -> None:
        for place, reference in enumerate(references, start=1):
            _repeat(reference, untimed[place])
            begin = time.perf_counter()
            _repeat(reference, timed[place])
            best[place - 1] = min(best[place - 1], (time.perf_counter() - begin) / timed[place])
        _repeat(run, untimed[0])

    benchmark.pedantic(lambda: _repeat(run, timed[0]), setup=between, rounds=_ROUNDS)
    return (benchmark.stats.stats.min / timed[0], *best)


def _repeat(function: Callable[[], Any], count: int) -> None:
    for _ in range(count):
        function()


def best_of(function: Callable[[], Any], rounds: int) -> float:
    """Return the best time of a function [s]."""
    return min(_time(function) for _ in range(2 if QUICK else rounds))


def _time(function: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def copy_bandwidth(bytes_copied: int) -> float:
    """Return the machine's copy bandwidth, read plus written [GB/s], for a block of this size."""
    source = np.ones(bytes_copied // 4, np.float32)
    target = np.empty_like(source)
    np.copyto(target, source)
    return 2 * source.nbytes / best_of(lambda: np.copyto(target, source), 20) / 1e9


def machine() -> str:
    """Return the processor's name and the number of usable processors."""
    name = "unknown processor"
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{name}, {os.cpu_count()} processors"
