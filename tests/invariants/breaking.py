"""A pytest plug-in that throws the switch of each test it runs, and writes down what became of the test."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.invariants.switches import SWITCHES


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcomes", type=Path, required=True, help="file to write, one line for each failed test")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    switches = [switch for switch in SWITCHES if item.nodeid.split("[")[0] == switch.test.split("[")[0]]
    with pytest.MonkeyPatch.context() as patch:
        for switch in switches:
            switch.broken(patch)
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
