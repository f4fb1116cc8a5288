"""Rows split over threads: the one place where kernels run in parallel.

Kernels release the GIL and compute a range of rows, so plain threads do: one compile a kernel instead of two,
any number of callers at once, and no thread is started for little work. A row's result does not depend on the
split, so every thread count gives the same bytes.
"""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

# Chunks start at multiples of a cache line of float32, so that no two threads write to one line.
_ALIGN = 16
# Handing a chunk to another thread costs about 20 us; this many columns x rows take about 60 us.
GRAIN = 1 << 16

_NAME = "ai4animation-rows"

_pool: ThreadPoolExecutor | None = None
_count = 0


def thread_count() -> int:
    """Return the number of threads kernels may use: AI4ANIMATION_THREADS, else the usable processors."""
    if not _count:
        set_thread_count(None)
    return _count


def set_thread_count(count: int | None) -> None:
    """Set the number of threads kernels may use; None takes AI4ANIMATION_THREADS, else the usable processors.

    Raises:
        ValueError: The count, or the environment variable, is not an integer >= 1.
    """
    global _count, _pool
    if count is None:
        text = os.environ.get("AI4ANIMATION_THREADS", "")
        if text and not (text.isdecimal() and int(text) >= 1):
            raise ValueError(f"AI4ANIMATION_THREADS must be an integer >= 1, got {text!r}")
        count = int(text) if text else _usable_processors()
    if count < 1:
        raise ValueError(f"thread count must be >= 1, got {count}")
    if count != _count and _pool is not None:
        _pool.shutdown()
        _pool = None
    _count = count


def run_rows(
    kernel: Callable[..., Any], inputs: tuple[Any, ...], rows: int, outputs: tuple[Any, ...], columns: int = 1
) -> None:
    """Call ``kernel(*inputs, start, stop, *outputs)`` so that all of ``0 <= row < rows`` is computed.

    Args:
        kernel: A kernel that computes a range of rows.
        inputs: Its arguments before ``start``.
        rows: Number of rows N.
        outputs: Its arguments after ``stop``.
        columns: How many joints (or other items) a row has; with ``rows`` it tells whether threads pay.
    """
    threads = min(thread_count(), max(1, rows * columns // GRAIN))
    # A worker that waited for others could wait for ever: the pool may have no thread left.
    if threads == 1 or threading.current_thread().name.startswith(_NAME):
        kernel(*inputs, 0, rows, *outputs)
        return
    chunk = -(-rows // threads)
    chunk = -(-chunk // _ALIGN) * _ALIGN
    starts = range(chunk, rows, chunk)
    pool = _executor()
    futures = [pool.submit(kernel, *inputs, s, min(s + chunk, rows), *outputs) for s in starts]
    try:
        kernel(*inputs, 0, chunk, *outputs)
    finally:
        # Whatever happened here, nobody may write any more once this returns.
        wait(futures)
    for future in futures:
        future.result()


def _executor() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max(1, thread_count() - 1), thread_name_prefix=_NAME)
    return _pool


def _usable_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _forget_pool() -> None:
    """A forked child has none of its parent's threads."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
