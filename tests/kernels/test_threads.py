import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from ai4animation.kernels import threads


@pytest.fixture(autouse=True)
def _restore():
    before = threads.thread_count()
    yield
    threads.set_thread_count(before)


def mark(start, stop, out):
    """A stand-in for a kernel: records which rows each call got, and in which thread."""
    assert np.isnan(out[start:stop]).all()
    out[start:stop] = threading.get_ident()


@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("rows", [0, 1, 15, 16, 17, 1000, 200_001])
def test_every_row_is_computed_once(count, rows):
    threads.set_thread_count(count)
    out = np.full(rows, np.nan)
    threads.run_rows(mark, (), rows, (out,), columns=24)
    assert np.isfinite(out).all()
    expected = min(count, max(1, rows * 24 // threads.GRAIN))
    assert len(np.unique(out)) <= expected


def test_an_error_in_another_thread_is_raised():
    threads.set_thread_count(2)

    def fail(start, stop):
        if start:
            raise ArithmeticError("second half")

    with pytest.raises(ArithmeticError, match="second half"):
        threads.run_rows(fail, (), 100_000, (), columns=24)


def test_rows_may_be_split_within_a_split():
    threads.set_thread_count(2)
    out = np.full(100_000, np.nan)

    def outer(start, stop, out):
        threads.run_rows(mark, (), stop - start, (out[start:stop],), columns=24)

    worker = threading.Thread(target=threads.run_rows, args=(outer, (), len(out), (out,), 24), daemon=True)
    worker.start()
    worker.join(timeout=20)
    assert not worker.is_alive()
    assert np.isfinite(out).all()


def test_nobody_writes_any_more_after_an_error():
    threads.set_thread_count(2)
    out = np.zeros(100_000)

    def slow(start, stop, out):
        if not start:
            raise ArithmeticError("first half")
        time.sleep(0.2)
        out[start:stop] = 1

    with pytest.raises(ArithmeticError, match="first half"):
        threads.run_rows(slow, (), len(out), (out,), columns=24)
    written = out.sum()
    time.sleep(0.4)
    assert out.sum() == written


@pytest.mark.parametrize("count", [0, -1])
def test_thread_count_must_be_positive(count):
    with pytest.raises(ValueError, match=f"thread count must be >= 1, got {count}"):
        threads.set_thread_count(count)


@pytest.mark.parametrize(
    ("text", "outcome"), [("3", "3"), ("two", "must be an integer >= 1, got 'two'"), ("0", "got '0'")]
)
def test_environment_variable(text, outcome):
    code = "from ai4animation.kernels.threads import thread_count; print(thread_count())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "AI4ANIMATION_THREADS": text},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome in done.stdout + done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_threads_work_in_a_forked_child():
    code = """
import os, sys
import numpy as np
from ai4animation.kernels import threads
threads.set_thread_count(2)
def fill(start, stop, out): out[start:stop] = 1
def go():
    out = np.zeros(100_000)
    threads.run_rows(fill, (), len(out), (out,), columns=24)
    return out.all()
assert go()
child = os.fork()
if child == 0:
    os._exit(0 if go() else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert (
        subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=60, check=False).returncode == 0
    )
