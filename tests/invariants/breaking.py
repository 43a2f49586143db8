"""A pytest plug-in that throws the switch of each test it runs, and writes down what became of the test."""

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.invariants.switches import SWITCHES
from tests.workflows.stage import MODE


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcomes", type=Path, required=True, help="file to write, one line for each failed test")


def pytest_configure() -> None:
    MODE.sandboxed = False  # a sandbox of workflows would import the real pieces


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    with _thrown(item, early=True):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    with _thrown(item, early=False):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.excinfo is not None:
        line = {"test": item.nodeid, "when": call.when, "type": call.excinfo.typename}
        with item.config.getoption("--outcomes").open("a") as outcomes:
            outcomes.write(json.dumps(line) + "\n")
    return report


@contextmanager
def _thrown(item: pytest.Item, *, early: bool) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for switch in SWITCHES:
            if switch.early is early and switch.is_tested_by(item.nodeid):
                switch.broken(patch)
        yield
