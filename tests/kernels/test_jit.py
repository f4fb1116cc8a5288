"""The cache: an edit anywhere in kernels/ is seen, a second start compiles nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

HELPER = """
from .jit import kernel

@kernel
def scale(x):
    return x * {factor}
"""
CALLER = """
from .jit import kernel
from .helper import scale

@kernel
def apply(values, start, stop, values_out):
    for i in range(start, stop):
        values_out[i] = scale(values[i])
"""
ASK = """
import numpy as np
from package.kernels import caller
out = np.empty(1, np.float32)
caller.apply(np.ones(1, np.float32), 0, 1, out)
print(int(out[0]), sum(caller.apply.stats.cache_hits.values()), sum(caller.apply.stats.cache_misses.values()))
"""


def make_package(folder):
    kernels = folder / "package" / "kernels"
    kernels.mkdir(parents=True)
    (folder / "package" / "__init__.py").touch()
    (kernels / "__init__.py").touch()
    shutil.copy(ROOT / "kernels" / "jit.py", kernels)
    (kernels / "caller.py").write_text(CALLER)
    (kernels / "helper.py").write_text(HELPER.format(factor=10))
    return kernels


def ask(folder, **environment):
    clean = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        cwd=folder,
        env={**clean, "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(map(int, done.stdout.split()))


def test_edit_of_a_helper_is_seen_and_a_second_start_hits_the_cache(tmp_path):
    kernels = make_package(tmp_path)
    assert ask(tmp_path) == (10, 0, 1)
    assert ask(tmp_path) == (10, 1, 0)
    (kernels / "helper.py").write_text(HELPER.format(factor=30))
    assert ask(tmp_path) == (30, 0, 1)
    assert not list(kernels.rglob("*.nbi"))


def test_the_cache_obeys_numba_cache_dir(tmp_path):
    make_package(tmp_path)
    ask(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "elsewhere"))
    assert list((tmp_path / "elsewhere").rglob("*.nbi"))
    assert not (tmp_path / "cache").exists()


def test_without_a_writable_cache_kernels_still_run(tmp_path):
    make_package(tmp_path)
    (tmp_path / "file").touch()
    assert ask(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "file" / "below")) == (10, 0, 1)


def test_a_damaged_cache_means_compiling_anew(tmp_path):
    make_package(tmp_path)
    assert ask(tmp_path)[0] == 10
    for ending in ("*.nbi", "*.nbc"):
        for file in (tmp_path / "cache").rglob(ending):
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        assert ask(tmp_path)[0] == 10
