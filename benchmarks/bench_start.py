"""Start-up: compiling from an empty cache, and the time to the first step with a warm one."""

import os
import subprocess
import sys
import time

from harness import QUICK, row

# What `make demo` does before its first step, timed inside the process; the whole process is timed outside.
FIRST_STEP = """
import time
begin = time.perf_counter()
from ai4animation.cli.simulate import load_clip, spawn_crowd
from ai4animation.engine.world import World
world = World()
spawn_crowd(world, [load_clip(name, 60.0) for name in ("biped:walk", "biped:run")], 4096, True, 2.0)
loaded = time.perf_counter()
world.evaluate()
world.step()
print(loaded - begin, time.perf_counter() - loaded)
"""


def first_step(cache: str) -> tuple[float, float, float]:
    """Return the time of loading, of compiling and the first step, and of the whole process [s]."""
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", FIRST_STEP],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded, stepped = map(float, done.stdout.split())
    return loaded, stepped, time.perf_counter() - begin


def test_first_step(benchmark, tmp_path):
    cold = benchmark.pedantic(lambda: first_step(str(tmp_path)), rounds=1)
    warm = min((first_step(str(tmp_path)) for _ in range(1 if QUICK else 3)), key=lambda times: times[2])
    row("start", "process to first step, empty kernel cache", cold[2], "s", goal="<= 25 s")
    row(
        "start",
        "process to first step, warm kernel cache",
        warm[2],
        "s",
        reference=f"empty cache, {cold[2]:.3g} s",
        ratio=cold[2] / warm[2],
        goal="<= 2 s",
    )


def test_imports(benchmark):
    def imported(statement: str) -> float:
        code = f"import time; t = time.perf_counter()\n{statement}\nprint(time.perf_counter() - t)"
        return min(
            float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(1 if QUICK else 5)
        )

    benchmark.pedantic(lambda: imported("import ai4animation"), rounds=1)
    row("start", "import ai4animation", imported("import ai4animation"), "s", goal="< 0.3 s")
    row(
        "start",
        "from ai4animation import Motion",
        imported("from ai4animation import Motion"),
        "s",
        goal="< 1 s",
    )

    def helped() -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-m", "ai4animation", "--help"], capture_output=True, check=True)
        return time.perf_counter() - begin

    row("start", "ai4animation --help", min(helped() for _ in range(1 if QUICK else 5)), "s", goal="< 0.5 s")
