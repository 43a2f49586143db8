"""Every tool says what kind of thing it is and what each of its arguments is for."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from activities.parts import ToolParts
from activities.tool import Tool
from contracts.provenance import ToolLabels
from memory.contacts import Contacts
from memory.notes import Notes
from tests.memory.sealed import Sealed
from workers.parts import find_tools


def every_tool(folder: Path) -> list[Tool]:
    def now() -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    notes, contacts = Notes(folder / "n.db", Sealed(), now), Contacts(folder / "c.db", Sealed(), now)
    return find_tools(ToolParts(notes=notes, contacts=contacts))


NAMES = sorted(tool.spec.name for tool in every_tool(Path()))


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_labels_each_of_its_arguments_and_no_others(name: str, tmp_path: Path) -> None:
    (tool,) = (tool for tool in every_tool(tmp_path) if tool.spec.name == name)
    parameters = tool.spec.parameters["properties"]
    assert isinstance(parameters, dict)

    assert set(tool.spec.labels.arguments) == set(parameters)
    assert tool.spec.labels != ToolLabels()


def test_what_comes_from_the_web_is_foreign_and_public() -> None:
    labels = {tool.spec.name: tool.spec.labels for tool in every_tool(Path())}

    for name in ("browse", "read"):
        assert (labels[name].output, labels[name].confidentiality) == ("foreign", "public")
        assert "egress" in labels[name].effects
        assert labels[name].arguments["url"] == "destination"


def test_a_variable_of_a_command_is_as_dangerous_as_the_command() -> None:
    labels = {tool.spec.name: tool.spec.labels for tool in every_tool(Path())}

    assert labels["shell"].arguments["script"] == labels["shell"].arguments["env"] == "command"


def test_only_the_address_book_gives_recipients() -> None:
    assert [tool.spec.name for tool in every_tool(Path()) if tool.spec.labels.contacts] == ["contacts"]
