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

_WARM_UPS = 1 if QUICK else 3
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


def compare(
    benchmark: Any, run: Callable[[], Any], *references: Callable[[], Any], seconds: float = 2.0
) -> tuple[float, ...]:
    """Time a function with pytest-benchmark and its references between its rounds; return the best time of each [s].

    Rounds alternate, so a slow moment of the machine hits all of them. Each function runs a few times untimed before
    its turn, so that it finds its data where a loop of steps leaves it, not where the other function put it.
    """
    everything = (run, *references)
    for function in everything:
        function()
    spent = [_time(function) for function in everything]
    iterations = [max(1 if QUICK else 4, int(0.02 / max(t, 1e-9))) for t in spent]
    turn = sum(t * (n + _WARM_UPS) for t, n in zip(spent, iterations, strict=True))
    rounds = 2 if QUICK else int(np.clip(seconds / turn, 5, 200))
    best = [float("inf")] * len(references)

    def between() -> None:
        for place, reference in enumerate(references):
            for _ in range(_WARM_UPS):
                reference()
            begin = time.perf_counter()
            for _ in range(iterations[place + 1]):
                reference()
            best[place] = min(best[place], (time.perf_counter() - begin) / iterations[place + 1])
        for _ in range(_WARM_UPS):
            run()

    def timed() -> None:
        for _ in range(iterations[0]):
            run()

    benchmark.pedantic(timed, setup=between, rounds=rounds)
    return (benchmark.stats.stats.min / iterations[0], *best)


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
