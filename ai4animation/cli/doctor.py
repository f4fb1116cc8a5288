"""``ai4animation doctor``: what is installed, what is missing, and how to get it."""

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table as TextTable

from ..kernels.jit import cache_folder
from ..kernels.threads import thread_count

_PACKAGES = (
    "ai4animation",
    "numpy",
    "numba",
    "llvmlite",
    "esper",
    "torch",
    "pygltflib",
    "wgpu",
    "rendercanvas",
    "glfw",
    "rich",
    "typer",
    "platformdirs",
)
_OPTIONAL = {"av": "video"}

# Asked in a process of its own: a broken graphics driver can abort the whole process (no exception).
_ASK_ADAPTER = """
import wgpu
print(wgpu.gpu.request_adapter_sync(power_preference="high-performance").summary)
"""
_ASK_CUDA = """
import torch
print(torch.cuda.get_device_name(0) if torch.cuda.is_available() else "")
"""


def doctor_command() -> int:
    """Print the report; return 1 if something that every user needs is missing."""
    console = Console()
    table = TextTable(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(overflow="fold")
    problems: list[str] = []
    required_missing = False
    table.add_row("python", f"{platform.python_version()} ({platform.system()} {platform.machine()})")
    for package in _PACKAGES:
        version = _version(package)
        table.add_row(package, version or "missing")
        if version is None and package != "ai4animation":
            required_missing = True
            problems.append(f"{package} is missing: pip install {package}")
    for package, extra in _OPTIONAL.items():
        version = _version(package)
        table.add_row(package, version or f"not installed (optional: pip install 'ai4animation\\[{extra}]')")
    table.add_row("threads", f"{thread_count()} (set AI4ANIMATION_THREADS to change)")
    table.add_row("memory", _memory())
    table.add_row("kernel cache", _cache(problems))
    table.add_row("graphics adapter", escape(_adapter(problems)))
    table.add_row("CUDA device", escape(_cuda()))
    table.add_row("display", _display())
    console.print(table, highlight=False)
    for problem in problems:
        console.print(f"[yellow]![/yellow] {escape(problem)}", highlight=False, soft_wrap=True)
    if not problems:
        console.print("all is well")
    return int(required_missing)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _memory() -> str:
    try:
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return "unknown"
    return f"{pages / 2**30:.1f} GiB"


def _cache(problems: list[str]) -> str:
    folder = cache_folder()
    if folder is None:
        problems.append(
            "the kernel cache cannot be written, so every start compiles anew (about 10 s): "
            "set NUMBA_CACHE_DIR to a folder of your own"
        )
        return "not writable"
    size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    return escape(f"{folder} ({size / 2**20:.1f} MiB)")


def _adapter(problems: list[str]) -> str:
    if _version("wgpu") is None:
        return "unknown (wgpu is missing)"
    answer = _ask(_ASK_ADAPTER)
    if answer is None:
        problems.append(
            "no graphics adapter: headless simulation works, pictures and the viewer need one. "
            "Install the vendor's Vulkan driver, or the software one: apt install mesa-vulkan-drivers"
        )
        return "none"
    return answer


def _cuda() -> str:
    if _version("torch") is None:
        return "unknown (torch is missing)"
    return _ask(_ASK_CUDA) or "none (training runs on the processor)"


def _display() -> str:
    if sys.platform != "linux":
        return "native"
    found = [name for name in ("DISPLAY", "WAYLAND_DISPLAY") if os.environ.get(name)]
    return ", ".join(f"{name}={escape(os.environ[name])}" for name in found) or "none (headless)"


def _ask(code: str) -> str | None:
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
