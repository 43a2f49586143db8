"""The tool `contacts`: the address book of the person who asks, into which a page puts nothing."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from activities.parts import ToolParts
from activities.planners.commands import obey
from activities.planners.understanding import Do, Say, Understood
from activities.tool import BadArguments, Tool
from activities.tools import contacts as module
from contracts.values import JsonObject
from memory.contacts import Contacts
from memory.notes import Notes
from tests.memory.sealed import Sealed
from tests.tools.conftest import Bench


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    def now() -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    notes, book = Notes(tmp_path / "n.db", Sealed(), now), Contacts(tmp_path / "c.db", Sealed(), now)
    (made,) = module.tools(ToolParts(notes=notes, contacts=book))
    return made


ADD: JsonObject = {"operation": "add", "name": "Anna Berg", "address": "anna@example.com"}


async def test_a_contact_is_added_listed_and_removed(bench: Bench, tool: Tool) -> None:
    added = await bench.run(tool, ADD)
    listed = await bench.run(tool, {"operation": "list"})
    removed = await bench.run(tool, {"operation": "remove", "name": "Anna Berg"})
    after = await bench.run(tool, {"operation": "remove", "name": "Anna Berg"})

    assert (added.ok, listed.text, removed.ok) == (True, "- Anna Berg: anna@example.com", True)
    assert listed.provenance.trusted
    assert after.error == "not_found"


@pytest.mark.parametrize("args", [ADD, {"operation": "remove", "name": "Anna Berg"}])
async def test_what_a_page_said_changes_nothing(bench: Bench, tool: Tool, args: JsonObject) -> None:
    await bench.run(tool, ADD) if args is not ADD else None
    bench.tainted = True

    refused = await bench.run(tool, args)

    assert refused.error == "refused"
    assert "/contacts add" in refused.text
    listed = await bench.run(tool, {"operation": "list"})
    assert ("Anna" in listed.text) == (args is not ADD)


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ({"operation": "add", "name": "Anna"}, "address"),
        ({"operation": "add", "name": " ", "address": "a"}, "name"),
        ({"operation": "remove"}, "name"),
        ({"operation": "add", "name": "Anna\u202e", "address": "a"}, "name, address"),
    ],
)
def test_bad_arguments_are_named(tool: Tool, args: JsonObject, named: str) -> None:
    with pytest.raises(BadArguments, match=named):
        tool.actions(args)


@pytest.mark.parametrize(
    ("words", "args"),
    [
        ("", {"operation": "list"}),
        ("list", {"operation": "list"}),
        ("add Anna Berg anna@example.com", ADD),
        ("remove Anna Berg", {"operation": "remove", "name": "Anna Berg"}),
        ("add Anna", None),
        ("remove", None),
        ("fly", None),
    ],
)
def test_the_command_is_exact(words: str, args: JsonObject | None) -> None:
    understood: Understood = obey("contacts", words, frozenset({"contacts"}), "en")

    if args is None:
        assert isinstance(understood, Say)
        assert "/contacts add" in understood.text
    else:
        assert isinstance(understood, Do)
        assert [step.args for step in understood.playbook.steps] == [args]
        assert understood.own_words
