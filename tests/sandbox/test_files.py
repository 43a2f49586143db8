"""Files of a sandbox, on every engine."""

import os

import pytest

from contracts.sandbox import Command, FileRefused
from sandbox.session import OpenSandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_what_is_written_is_read_back(box: OpenSandbox) -> None:
    content = os.urandom(3_000_000)

    await box.files.write("deep/er/名字 with blanks.bin", content)

    assert await box.files.read("/workspace/deep/er/名字 with blanks.bin", max_bytes=3_000_000) == content


async def test_an_overwritten_file_keeps_its_mode_and_leaves_no_part_behind(box: OpenSandbox) -> None:
    await box.run(Command(script="mkdir m; echo old > m/tool; chmod 750 m/tool"))

    await box.files.write("m/tool", b"new")

    assert (await box.run(Command(script="stat -c %a m/tool; ls -A m; cat m/tool"))).stdout.head == b"750\ntool\nnew"


async def test_a_folder_is_listed_with_kinds(box: OpenSandbox) -> None:
    await box.run(Command(script="mkdir -p l/sub; echo 12345 > l/file; ln -s file l/link; mkfifo l/pipe"))

    entries = await box.files.list("l")

    assert {(entry.name, entry.kind) for entry in entries} == {
        ("file", "file"), ("link", "link"), ("pipe", "other"), ("sub", "folder"),
    }  # fmt: skip
    assert next(entry.size for entry in entries if entry.name == "file") == 6


async def test_a_link_inside_the_workspace_is_followed(box: OpenSandbox) -> None:
    await box.run(Command(script="mkdir -p k; echo there > k/real; ln -sf k/real alias"))

    assert await box.files.read("alias", max_bytes=100) == b"there\n"


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../etc/passwd", "a/../../etc/passwd", "/workspace/../etc/passwd", "/proc/self/environ",
     "/dev/zero",      "/", "", "escape/passwd", "single", "x\0y", "/workspacex/y", "~/../../etc/passwd"],
)  # fmt: skip
async def test_no_path_leads_out(box: OpenSandbox, path: str) -> None:
    await box.run(Command(script="ln -sfn /etc escape; ln -sfn /etc/passwd single"))

    with pytest.raises(FileRefused):
        await box.files.read(path, max_bytes=1_000_000)
    with pytest.raises(FileRefused):
        await box.files.write(path, b"x")


async def test_no_listing_leads_out(box: OpenSandbox) -> None:
    await box.run(Command(script="ln -sfn /etc escape"))

    with pytest.raises(FileRefused, match="outside"):
        await box.files.list("escape")


@pytest.mark.parametrize("make", ["mkfifo p/x", "mkdir p/x", "python3 -c 'import socket as s; "
                                  's.socket(s.AF_UNIX).bind("p/x")\''])  # fmt: skip
async def test_only_plain_files_are_read_and_replaced(box: OpenSandbox, make: str) -> None:
    await box.run(Command(script=f"rm -rf p; mkdir p; {make}"))

    with pytest.raises(FileRefused):
        await box.files.read("p/x", max_bytes=100)
    with pytest.raises(FileRefused):
        await box.files.write("p/x", b"x")


async def test_a_link_that_leads_nowhere_is_no_way_out(box: OpenSandbox) -> None:
    await box.run(Command(script="ln -sfn /etc/absent one; ln -sfn one two"))

    for name in ("one", "two"):
        with pytest.raises(FileRefused):
            await box.files.read(name, max_bytes=100)
        with pytest.raises(FileRefused, match="outside"):
            await box.files.write(name, b"x")


async def test_a_missing_file_is_named(box: OpenSandbox) -> None:
    with pytest.raises(FileRefused, match=r"absent\.txt.*not exist"):
        await box.files.read("absent.txt", max_bytes=100)


async def test_a_file_beyond_the_cap_is_refused_with_its_size(box: OpenSandbox) -> None:
    await box.files.write("big", b"x" * 1_001)

    with pytest.raises(FileRefused, match=r"1001 .*1000"):
        await box.files.read("big", max_bytes=1_000)
