"""The files tool."""

import pytest

from activities.tool import BadArguments
from activities.tools.files import FileTool
from contracts.tools import RESULT_TEXT_BYTES
from contracts.values import JsonObject
from contracts.verdicts import Action, FileAction, SendAction
from tests.tools.conftest import Bench

FILES = FileTool()


async def test_what_is_written_can_be_read_listed_and_sent(bench: Bench) -> None:
    wrote = await bench.run(FILES, {"operation": "write", "path": "notes/a.txt", "content": "灯塔\n"})
    read = await bench.run(FILES, {"operation": "read", "path": "notes/a.txt"})
    listed = await bench.run(FILES, {"operation": "list", "path": "notes"})
    sent = await bench.run(FILES, {"operation": "send", "path": "notes/a.txt"})

    assert wrote.ok
    assert read.text == "灯塔\n"
    assert read.provenance.origins == ("file:/workspace/notes/a.txt",)
    assert listed.data["entries"] == [{"name": "a.txt", "kind": "file", "size": 7}]
    (file,) = sent.send
    assert (file.name, file.media_type) == ("a.txt", "text/plain")
    assert await bench.blobs.content(file) == "灯塔\n".encode()


async def test_a_large_file_is_bounded_and_kept(bench: Bench) -> None:
    (bench.sandbox.workspace / "big.log").write_text("line\n" * 100_000)

    result = await bench.run(FILES, {"operation": "read", "path": "big.log"})

    assert len(result.text.encode()) <= RESULT_TEXT_BYTES
    assert result.files[0].size == 500_000


async def test_a_binary_file_is_named_and_not_poured_out(bench: Bench) -> None:
    (bench.sandbox.workspace / "x.png").write_bytes(b"\x89PNG\x00\x01")

    result = await bench.run(FILES, {"operation": "read", "path": "x.png"})

    assert "image/png" in result.text
    assert "PNG\x00" not in result.text


async def test_a_file_and_an_empty_folder_are_deleted_and_a_full_folder_is_not(bench: Bench) -> None:
    (bench.sandbox.workspace / "full").mkdir()
    (bench.sandbox.workspace / "full/-rf").write_text("x")

    refused = await bench.run(FILES, {"operation": "delete", "path": "full"})
    one = await bench.run(FILES, {"operation": "delete", "path": "full/-rf"})
    folder = await bench.run(FILES, {"operation": "delete", "path": "full"})

    assert (refused.error, one.ok, folder.ok) == ("refused", True, True)
    assert list(bench.sandbox.workspace.iterdir()) == []


@pytest.mark.parametrize("operation", ["read", "send", "delete", "list"])
async def test_what_is_not_there_is_said_to_be_missing(bench: Bench, operation: str) -> None:
    result = await bench.run(FILES, {"operation": operation, "path": "none.txt"})

    assert (result.ok, result.error) == (False, "not_found")
    assert "none.txt" in result.text


@pytest.mark.parametrize("operation", ["read", "send", "delete", "list"])
@pytest.mark.parametrize("path", ["/etc/shadow", "../../etc/shadow", "way-out/shadow"])
async def test_paths_that_lead_out_are_refused(bench: Bench, operation: str, path: str) -> None:
    (bench.sandbox.workspace / "way-out").symlink_to("/etc")

    result = await bench.run(FILES, {"operation": operation, "path": path})

    assert (result.ok, result.error) == (False, "refused")
    assert result.send == ()


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"operation": "read", "path": "a"}, (FileAction(operation="read", path="a"),)),
        ({"operation": "write", "path": "a", "content": ""}, (FileAction(operation="write", path="a"),)),
        ({"operation": "delete", "path": "a"}, (FileAction(operation="delete", path="a"),)),
        (
            {"operation": "send", "path": "a"},
            (FileAction(operation="read", path="a"), SendAction(recipient="self", what="a")),
        ),
    ],
)
def test_policy_sees_what_is_done_to_the_path(args: JsonObject, expected: tuple[Action, ...]) -> None:
    assert FILES.actions(args) == expected


@pytest.mark.parametrize(
    "args",
    [
        {"operation": "write", "path": "a"},
        {"operation": "read", "path": "a", "content": "x"},
        {"operation": "chmod", "path": "a"},
        {"operation": "read", "path": ""},
        {"operation": "read", "path": "a\x00b"},
    ],
)
def test_arguments_that_do_not_fit_are_refused(args: JsonObject) -> None:
    with pytest.raises(BadArguments):
        FILES.actions(args)
