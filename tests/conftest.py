"""Options of the test run that make it harder, which `make chaos` gives, and the order of one on several cores."""

import random
from pathlib import Path

import pytest

LONG = ("invariants", "deploy", "e2e", "chaos", "sandbox", "gateway", "workflows", "runtime", "workers")
"""Folders with files that take half a minute and more. They come first: started last, one would keep a core busy
while the other has nothing left to do."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("harder", "harder runs of the same tests")
    group.addoption("--uncached", action="store_true", help="tests of workflows keep no workflow in memory")
    group.addoption("--twice", action="store_true", help="tests of workflows send each update and signal twice")
    group.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in the order that this seed gives")
    group.addoption("--rounds", type=int, default=30, help="how many rounds of tasks a soak goes through")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=_turn)
    seed: int | None = config.getoption("--shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)  # noqa: S311  an order is no secret


def _turn(item: pytest.Item) -> int:
    """Of its folder; sorting leaves the tests of a file in their order."""
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    return LONG.index(folder) if folder in LONG else len(LONG)
