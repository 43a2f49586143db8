"""Options of the test run that make it harder; `make chaos` gives them."""

import random

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("harder", "harder runs of the same tests")
    group.addoption("--uncached", action="store_true", help="tests of workflows keep no workflow in memory")
    group.addoption("--twice", action="store_true", help="tests of workflows send each update and signal twice")
    group.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in the order that this seed gives")
    group.addoption("--rounds", type=int, default=30, help="how many rounds of tasks a soak goes through")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed: int | None = config.getoption("--shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)  # noqa: S311  an order is no secret
