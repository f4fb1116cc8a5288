"""The packages, what they import, and what a build of them holds."""

import ast
import importlib
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("kernels", "io", "engine", "learning")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
HEAVY = (
    "torch",
    "wgpu",
    "glfw",
    "rendercanvas",
    "imgui_bundle",
    "pygltflib",
    "scipy",
    "matplotlib",
    "pandas",
)


def python(code, *, cwd=None, **environment):
    """Run code in a fresh process and return what it prints."""
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd or ROOT,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def loaded(module):
    return set(python(f"import sys, {module}; print(*sys.modules)").split())


def test_packages_in_pyproject_are_the_folders():
    folders = {"ai4animation", "ai4animation.cli"}
    for layer in LAYERS:
        for init in (ROOT / layer).rglob("__init__.py"):
            folders.add(".".join(("ai4animation", *init.parent.relative_to(ROOT).parts)))
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == folders


def test_links_for_type_checkers_point_at_the_layers():
    for layer in LAYERS:
        link = ROOT / "ai4animation" / layer
        if not link.is_symlink():
            pytest.skip("this checkout has no symbolic links")
        assert link.resolve() == ROOT / layer
        assert not os.readlink(link).startswith("/")


def test_version_is_one():
    import ai4animation

    assert ai4animation.__version__ == PROJECT["project"]["version"]


def test_public_names_are_sorted_and_complete():
    import ai4animation

    assert ai4animation.__all__ == sorted(ai4animation.__all__, key=lambda name: (name.lower() == name, name))
    assert set(ai4animation.__all__) == {*ai4animation._HOME, "__version__"}
    assert dir(ai4animation) == sorted(ai4animation.__all__)
    for name in ai4animation.__all__:
        assert getattr(ai4animation, name) is not None
    with pytest.raises(AttributeError, match="module 'ai4animation' has no attribute 'Wrld'"):
        ai4animation.Wrld  # noqa: B018


@pytest.mark.parametrize("package", ["ai4animation.io", "ai4animation.engine", "ai4animation.cli"])
def test_exports_exist_and_are_sorted(package):
    module = importlib.import_module(package)
    names = getattr(module, "__all__", [])
    assert list(names) == sorted(names)
    assert all(hasattr(module, name) for name in names)


def test_import_of_the_facade_loads_nothing_heavy():
    modules = loaded("ai4animation")
    assert not modules & {*HEAVY, "numpy", "numba", "esper", "rich", "typer"}


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("ai4animation.kernels.fk", {"kernels"}),
        ("ai4animation.io.motion", {"kernels", "io"}),
        ("ai4animation.io.bvh", {"kernels", "io"}),
        ("ai4animation.io.npz", {"kernels", "io"}),
        ("ai4animation.io.synthetic", {"kernels", "io"}),
        ("ai4animation.engine.world", {"kernels", "io", "engine"}),
        ("ai4animation.engine.modes", {"kernels", "io", "engine"}),
        ("ai4animation.cli.simulate", {"kernels", "io", "engine", "cli"}),
    ],
)
def test_layers_import_only_the_layers_below(module, allowed):
    modules = loaded(module)
    layers = {name.split(".")[1] for name in modules if name.startswith("ai4animation.")}
    assert layers <= allowed
    # The one copy of each module is the one inside the package.
    assert not modules & {"kernels", "engine", "learning"}
    # scipy is loaded by numba itself where it is installed; ours must not ask for it (next test).
    assert not modules & (set(HEAVY) - {"scipy"})


def test_no_module_imports_across_the_arrow():
    allowed = {
        "kernels": {"kernels"},
        "io": {"kernels", "io"},
        "engine": {"kernels", "io", "engine"},
        "learning": {*LAYERS},
    }
    third_party = {
        "kernels": {"numpy", "numba", "platformdirs"},
        "io": {"numpy"},
        "engine": {"numpy", "esper"},
        "learning": {"numpy", "torch"},
    }
    for layer in LAYERS:
        for path in (ROOT / layer).rglob("*.py"):
            depth = len(path.relative_to(ROOT).parent.parts)
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.level > depth:
                    target = (node.module or node.names[0].name).split(".")[0]
                    assert target in allowed[layer], f"{path}: {target}"
                elif isinstance(node, (ast.Import, ast.ImportFrom)) and not getattr(node, "level", 0):
                    names = (
                        [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
                    )
                    for name in names:
                        top = name.split(".")[0]
                        assert top in sys.stdlib_module_names or top in third_party[layer], f"{path}: {name}"


def test_modules_stay_small():
    for layer in ("ai4animation/cli", *LAYERS, "tests", "benchmarks"):
        for path in (ROOT / layer).rglob("*.py"):
            assert len(path.read_text().splitlines()) <= 500, path


def test_the_library_does_not_print():
    for layer in LAYERS:
        for path in (ROOT / layer).rglob("*.py"):
            calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
            assert not [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"], path


@pytest.mark.parametrize(
    ("statement", "seconds", "absent"),
    [
        ("import ai4animation", 0.3, ("torch", "wgpu", "numba")),
        ("from ai4animation import Motion", 1.0, ("torch", "wgpu")),
    ],
)
def test_start_up_time(statement, seconds, absent):
    code = f"""
import time; begin = time.perf_counter()
{statement}
took = time.perf_counter() - begin
import sys; print(took, *[name for name in {absent!r} if name in sys.modules])
"""
    runs = [python(code).split() for _ in range(3)]
    assert all(len(run) == 1 for run in runs), runs
    assert min(float(run[0]) for run in runs) < seconds


def test_each_kernel_of_a_simulation_is_compiled_once():
    code = """
import numpy as np
from ai4animation import Motion, Skeleton, World
from ai4animation.kernels import columns, fk, sample
skeleton = Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
rotations = np.zeros((2, 4, 5), np.float32); rotations[:, 3] = 1
one = Motion.from_columns(skeleton, rotations, np.zeros((1, 3, 5), np.float32), [0], 30.0)
one.positions
two = Motion.from_world(one.skeleton, one.positions, one.rotations, 30.0)
world = World()
for clips in (one, [one, two]):
    world.spawn(clips, 3)
world.step(); world.step(0.1); world.evaluate()
print(*[len(k.signatures) for k in (fk.forward, fk.to_local, sample.advance, sample.pose, columns.flush_tiny)])
"""
    assert python(code) == "1 1 1 1 1"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A source distribution, and a wheel made from it, without the network."""
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def sources():
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    if not tracked:
        pytest.skip("not a git checkout")
    return tracked


def test_wheel_holds_the_tree(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        found = {name for name in wheel.namelist() if not name.startswith("ai4animation-")}
        metadata = next(name for name in wheel.namelist() if name.endswith("METADATA"))
        assert "License-Expression: MIT" in wheel.read(metadata).decode()
    expected = {"ai4animation/py.typed"}
    for name in sources():
        top = name.split("/")[0]
        if name.endswith(".py") and top in LAYERS:
            expected.add(f"ai4animation/{name}")
        elif name.endswith(".py") and top == "ai4animation":
            expected.add(name)
    assert found == expected


def test_source_distribution_holds_what_a_build_and_the_tests_need(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        found = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    wanted = {
        n for n in sources() if n.endswith((".py", ".toml", ".txt", "LICENSE", "README.md", "Makefile"))
    }
    assert wanted <= found, sorted(wanted - found)


SIMULATE = "import ai4animation as a; w = a.World(); print(a.run(w, steps=2).summary.steps, a.__file__)"


def make_environment(folder):
    """A virtual environment that sees this one's packages but not this one's editable install."""
    import venv

    venv.create(folder, with_pip=False)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    interpreter = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    site = Path(subprocess.check_output([str(interpreter), "-c", where], text=True).strip())
    import sysconfig

    (site / "parent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return interpreter


@pytest.mark.parametrize("kind", ["wheel", "sdist", "folder", "editable"])
def test_every_way_to_install_runs_from_another_folder(built, tmp_path, kind):
    interpreter = make_environment(tmp_path / "venv")
    what = {
        "wheel": [str(next(built.glob("*.whl")))],
        "sdist": [str(next(built.glob("*.tar.gz")))],
        "folder": [str(ROOT)],
        "editable": ["-e", str(ROOT)],
    }[kind]
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(interpreter),
        "install",
        "--no-deps",
        "--no-index",
    ]
    done = subprocess.run(
        [*install, "--no-build-isolation", "--force-reinstall", "--quiet", *what],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    answer = subprocess.run(
        [str(interpreter), "-W", "error", "-c", SIMULATE],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    steps, file = answer.stdout.split()
    assert steps == "2"
    assert Path(file).is_relative_to(ROOT if kind == "editable" else tmp_path)
    script = interpreter.parent / "ai4animation"
    helped = subprocess.run(
        [str(script), "--help"], cwd=tmp_path, env=clean, capture_output=True, text=True, check=False
    )
    assert helped.returncode == 0
    assert "simulate" in helped.stdout
