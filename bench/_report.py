"""What every bench has in common: its arguments, its table, and the file with its figures."""

import argparse
import json
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Arguments:
    """How a bench is called (DESIGN: `python bench/NAME.py [--quick] [--json FILE]`)."""

    quick: bool
    json: Path | None


def arguments(description: str | None) -> Arguments:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="end within 45 seconds")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    given = parser.parse_args()
    return Arguments(given.quick, given.json)


def spread(samples: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile, least, and how many."""
    ordered = sorted(samples)
    return {
        "p50": statistics.median(ordered),
        "p95": ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))],
        "min": ordered[0],
        "samples": float(len(ordered)),
    }


def report(
    title: str, figures: Mapping[str, Mapping[str, float]], ratios: Mapping[str, float], given: Arguments, beside: str
) -> None:
    """Print the table and the ratios, and write both where the caller wants them."""
    console = Console()
    table = Table(title=title, title_justify="left")
    table.add_column("")
    columns = list(next(iter(figures.values())))
    for column in columns:
        table.add_column(column, justify="right")
    for name, row in figures.items():
        table.add_row(name, *(f"{row[column]:,.2f}" if column in row else "" for column in columns))
    console.print(table)
    for name, ratio in ratios.items():
        console.print(f"{name}: [bold]{ratio:.2f}[/bold]")
    console.print(f"beside it: {beside}; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", style="dim")
    if given.json is not None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps({"figures": figures, "ratios": ratios}, indent=2) + "\n", "utf-8")
