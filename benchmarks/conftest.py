"""Print the rows of a benchmark run as a table and write them to benchmarks/results/."""

import sys
from pathlib import Path

import pytest

# The harness is a plain module beside the benchmarks; importlib mode puts no folder on the path.
sys.path.insert(0, str(Path(__file__).parent))

import harness


@pytest.fixture(autouse=True)
def _needs_timing(benchmark_is_enabled):
    if not benchmark_is_enabled:
        pytest.skip("benchmarks run with --benchmark-enable (make bench)")


@pytest.fixture
def benchmark_is_enabled(request):
    return request.config.getoption("benchmark_enable")


def pytest_terminal_summary(terminalreporter):
    from rich.console import Console
    from rich.table import Table

    console = Console(width=140)
    for group, rows in harness.rows().items():
        table = Table(title=f"{group} ({harness.machine()})", title_justify="left")
        for name in ("name", "value", "unit", "reference", "ratio", "goal"):
            table.add_column(name, justify="right" if name in ("value", "ratio") else "left")
        for row in rows:
            table.add_row(
                *(
                    "" if value is None else f"{value:g}" if isinstance(value, float) else value
                    for value in row.values()
                )
            )
        console.print(table)
    for path in harness.write_results():
        console.print(f"written: {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")
