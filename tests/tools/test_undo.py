"""What the file tool overwrites and deletes can be brought back, for as long as nobody else has changed it."""

from datetime import UTC, datetime

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities import undo as module
from activities.tools.files import FileTool
from activities.undo import undo
from activities.undoing import Undoing
from contracts import errors
from contracts.texts import undo as texts
from contracts.undo import Kept, Undone, UndoRequest
from gateway.undoing import undone_text
from tests.tools.acting_parts import OneHost
from tests.tools.conftest import LEASE, Bench

FILES = FileTool()


async def write(bench: Bench, path: str, content: str, call_id: str) -> str:
    result = await bench.run(FILES, {"operation": "write", "path": path, "content": content}, call_id)
    assert result.ok
    return result.text


async def delete(bench: Bench, path: str, call_id: str) -> None:
    assert (await bench.run(FILES, {"operation": "delete", "path": path}, call_id)).ok


def holds(bench: Bench) -> dict[str, str | None]:
    """Every path of the workspace, and its text; a folder holds none."""
    root = bench.sandbox.workspace
    found = sorted(root.rglob("*"))
    return {str(each.relative_to(root)): each.read_text() if each.is_file() else None for each in found}


async def test_the_last_step_is_taken_back_and_then_the_one_before(bench: Bench) -> None:
    await write(bench, "a.txt", "one", "1.0-aa")
    await write(bench, "a.txt", "two", "2.0-bb")
    await write(bench, "new/b.txt", "b", "2.1-cc")

    second = await undo(bench.sandbox, None)
    after_second = holds(bench)
    first = await undo(bench.sandbox, None)
    nothing = await undo(bench.sandbox, None)

    assert (second.step, set(second.restored)) == (2, {"/workspace/a.txt", "/workspace/new/b.txt"})
    assert after_second == {"a.txt": "one", "new": None}
    assert (first.step, first.restored, holds(bench)) == (1, ("/workspace/a.txt",), {"new": None})
    assert nothing == Undone()


async def test_several_changes_of_one_file_in_one_step_end_where_it_began(bench: Bench) -> None:
    (bench.sandbox.workspace / "a.txt").write_text("zero")
    await write(bench, "a.txt", "one", "1.0-aa")
    await delete(bench, "a.txt", "1.1-bb")
    await write(bench, "a.txt", "three", "1.2-cc")

    undone = await undo(bench.sandbox, 1)

    assert undone.left == ()
    assert holds(bench) == {"a.txt": "zero"}


async def test_what_was_deleted_comes_back(bench: Bench) -> None:
    (bench.sandbox.workspace / "keep.txt").write_text("mine")
    (bench.sandbox.workspace / "empty").mkdir()
    await delete(bench, "keep.txt", "3.0-aa")
    await delete(bench, "empty", "3.1-bb")

    await undo(bench.sandbox, 3)

    assert holds(bench) == {"empty": None, "keep.txt": "mine"}


async def test_a_file_that_somebody_changed_since_is_left_alone(bench: Bench) -> None:
    await write(bench, "a.txt", "one", "1.0-aa")
    (bench.sandbox.workspace / "a.txt").write_text("by hand")

    undone = await undo(bench.sandbox, 1)

    assert [(each.path, each.why) for each in undone.left] == [("/workspace/a.txt", "changed")]
    assert holds(bench) == {"a.txt": "by hand"}


async def test_a_call_that_is_tried_again_keeps_what_was_there_first(bench: Bench) -> None:
    (bench.sandbox.workspace / "a.txt").write_text("before")
    await write(bench, "a.txt", "after", "1.0-aa")
    await write(bench, "a.txt", "after", "1.0-aa")

    await undo(bench.sandbox, 1)

    assert holds(bench) == {"a.txt": "before"}


async def test_what_is_too_large_to_be_kept_is_said_at_once_and_when_asked(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT_BYTES", 3)
    (bench.sandbox.workspace / "a.txt").write_text("before")

    said = await write(bench, "a.txt", "after", "1.0-aa")
    undone = await undo(bench.sandbox, 1)

    assert texts.NO_COPY.en in said
    assert [each.why for each in undone.left] == ["too_large"]
    assert holds(bench) == {"a.txt": "after"}


async def test_only_so_many_calls_are_kept(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_CALLS", 2)
    for number in range(4):
        await write(bench, f"{number}.txt", "x", f"{number}.0-aa")

    undone = [(await undo(bench.sandbox, None)).step for _ in range(3)]

    assert undone == [3, 2, None]


async def test_a_deletion_that_failed_leaves_nothing_to_take_back(bench: Bench) -> None:
    (bench.sandbox.workspace / "full").mkdir()
    (bench.sandbox.workspace / "full/a").write_text("x")

    result = await bench.run(FILES, {"operation": "delete", "path": "full"}, "1.0-aa")

    assert result.error == "refused"
    assert await undo(bench.sandbox, None) == Undone()


@pytest.mark.parametrize("path", ["/etc/passwd", "../../etc/passwd", "/workspace/../etc/passwd"])
async def test_what_a_program_put_among_the_copies_leads_nowhere_else(bench: Bench, path: str) -> None:
    forged = Kept(path=path, before="file", after="", at=datetime(2026, 1, 1, tzinfo=UTC))
    folder = "/home/agent/.asos/undo/1.0-aa"
    await bench.sandbox.files.write(f"{folder}/kept.json", forged.model_dump_json().encode())
    await bench.sandbox.files.write(f"{folder}/content", b"root::0:0:::")
    await bench.sandbox.files.write("/home/agent/.asos/undo/2.0-bb/kept.json", b"{}")

    undone = await undo(bench.sandbox, 1)

    assert [each.why for each in undone.left] == ["refused"]
    assert holds(bench) == {}


async def test_the_activity_says_that_the_sandbox_is_gone(bench: Bench) -> None:
    await write(bench, "a.txt", "one", "1.0-aa")
    request = UndoRequest(lease=LEASE, step=None)

    undone = await ActivityEnvironment().run(Undoing(OneHost(bench.sandbox)).undo_in_sandbox, request)
    with pytest.raises(ApplicationError) as lost:
        await ActivityEnvironment().run(Undoing(OneHost(None)).undo_in_sandbox, request)

    assert undone.restored == ("/workspace/a.txt",)
    assert lost.value.type == errors.SANDBOX_LOST


def test_a_person_reads_what_came_back_what_did_not_and_what_never_does() -> None:
    nothing = undone_text(Undone(), "en")
    some = undone_text(
        Undone.model_validate(
            {"step": 3, "restored": ("/workspace/a",), "left": ({"path": "/workspace/b", "why": "changed"},)}
        ),
        "en",
    )

    assert "nothing" in nothing
    assert [word in some for word in ("Step 3", "/workspace/a", "/workspace/b", "commands")] == [True] * 4
