"""``ai4animation info``: what a motion file holds."""

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table as TextTable
from rich.tree import Tree

from ..io.motion import Motion
from ..io.skeleton import Skeleton


def info_command(path: Path, motion: Motion, show_tree: bool) -> None:
    """Print the facts of a motion file and its joint tree."""
    skeleton = motion.skeleton
    moving = [skeleton.names[j] for j in motion.translated]
    table = TextTable(show_header=False, box=None, padding=(0, 2, 0, 0))
    rows = [
        ("file", str(path)),
        ("size", f"{path.stat().st_size:,} bytes"),
        ("takes", f"1 ({motion.name})"),
        ("frames", f"{motion.frame_count:,}"),
        ("rate", f"{motion.framerate:g} Hz"),
        ("duration", f"{motion.duration:.3f} s"),
        (
            "joints",
            f"{skeleton.joint_count} ({len(skeleton.roots)} root{'s' if len(skeleton.roots) > 1 else ''})",
        ),
        ("translated joints", f"{len(moving)} ({', '.join(moving[:4])}{', ...' if len(moving) > 4 else ''})"),
        ("height", f"{motion.height:.4g} (first frame, unit of the file times scale)"),
    ]
    for name, value in rows:
        table.add_row(name, escape(value))
    console = Console()
    console.print(table, highlight=False)
    if show_tree:
        for root in skeleton.roots:
            console.print(_tree(skeleton, root), highlight=False)


def _tree(skeleton: Skeleton, root: int) -> Tree:
    nodes: dict[int, Tree] = {}
    for j, name in enumerate(skeleton.names):
        # A name must not steer the terminal.
        label = escape(
            "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in name)
        )
        if j == root:
            nodes[j] = Tree(label)
        elif int(skeleton.parents[j]) in nodes:
            nodes[j] = nodes[int(skeleton.parents[j])].add(label)
    return nodes[root]
