"""The command ``ai4animation``. Each command's work is in its own module, loaded when it runs."""

import math
import sys
import warnings
from pathlib import Path
from typing import Annotated, Literal

import typer

app = typer.Typer(
    help="AI-driven character animation: thousands of characters at once.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Clips = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CLIP...",
        help="Motion files (.bvh, .npz) or built-in motions such as biped:walk or quadruped:trot "
        "(default: biped:walk biped:run).",
    ),
]
Scale = Annotated[float, typer.Option(help="Factor on the files' lengths: 0.01 for centimetres.")]
Framerate = Annotated[float | None, typer.Option(help="Frames per second in place of the files' own.")]
Positions = Annotated[
    Literal["absolute", "relative"],
    typer.Option(help="BVH position channels replace OFFSET (most files) or are added to it (iClone)."),
]


def _print_version(asked: bool) -> None:
    if asked:
        from .. import __version__

        typer.echo(f"ai4animation {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """AI-driven character animation: thousands of characters at once."""


@app.command()
def simulate(
    clips: Clips = None,
    count: Annotated[int, typer.Option(min=1, help="Characters to simulate.")] = 1000,
    seconds: Annotated[float, typer.Option(min=0.0, help="Simulated time.")] = 10.0,
    rate: Annotated[float, typer.Option(help="Steps per simulated second.")] = 60.0,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Save what came out: .npz, or .bvh (a file a character).")
    ] = None,
    record: Annotated[int | None, typer.Option(min=1, help="Characters to save (default: all).")] = None,
    loop: Annotated[bool, typer.Option(help="Loop the clips, or hold their last frame.")] = True,
    spacing: Annotated[float, typer.Option(min=0.0, help="Distance between the characters in metres.")] = 2.0,
    scale: Scale = 1.0,
    framerate: Framerate = None,
    positions: Positions = "absolute",
    threads: Annotated[int | None, typer.Option(min=1, help="Threads (default: all processors).")] = None,
) -> None:
    """Simulate many characters headless and print the throughput.

    The first character starts at the beginning of the first clip, the others at random times.
    """
    from .simulate import load_clip, simulate_command

    if not (math.isfinite(rate) and rate > 0):
        raise ValueError(f"--rate must be a positive number of steps per second, got {rate}")
    motions = [
        load_clip(name, rate, scale=scale, framerate=framerate, positions=positions)
        for name in clips or ("biped:walk", "biped:run")
    ]
    simulate_command(motions, count, seconds, rate, seed, out, record, loop, spacing, threads)


@app.command()
def info(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A motion file: .bvh, .npz.")],
    scale: Scale = 1.0,
    framerate: Framerate = None,
    positions: Positions = "absolute",
    tree: Annotated[bool, typer.Option(help="Print the joint tree.")] = True,
) -> None:
    """Show what a motion file holds: joints, tree, frames, rate, duration, height, takes."""
    from ..io.formats import read_motion
    from .info import info_command

    info_command(file, read_motion(file, scale=scale, framerate=framerate, positions=positions), tree)


@app.command()
def doctor() -> None:
    """Show versions, threads, cache, graphics adapter, and what is missing and how to get it."""
    from .doctor import doctor_command

    raise typer.Exit(doctor_command())


def main() -> None:
    """Run the command; an error is one line on standard error and exit status 1."""
    warnings.showwarning = _print_warning
    try:
        app()
    except KeyError as error:
        _fail(error.args[0] if error.args else error)
    except (ValueError, OSError, RuntimeError, MemoryError) as error:
        _fail(error)


def _fail(error: object) -> None:
    sys.stderr.write(f"error: {error}\n")
    raise SystemExit(1)


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    sys.stderr.write(f"warning: {message}\n")
