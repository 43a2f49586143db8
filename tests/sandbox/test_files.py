"""Files of a sandbox, on every engine."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from activities.undo import keep, undo
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


async def test_what_a_file_was_is_kept_beside_the_workspace_and_brought_back(box: OpenSandbox) -> None:
    await box.run(Command(script="mkdir -p u; echo one > u/tool; chmod 750 u/tool; ln -s tool u/link"))
    kept = [
        await keep(box, "7.0-aa", "/workspace/u/tool", b"two"),
        await keep(box, "7.1-bb", "/workspace/u/new", b"new"),
        await keep(box, "7.2-cc", "/workspace/u/link", b"three"),
    ]
    await box.files.write("u/tool", b"two")
    await box.files.write("u/new", b"new")

    undone = await undo(box, 7)

    assert kept == ["file", "absent", "other"]
    assert set(undone.restored) == {"/workspace/u/tool", "/workspace/u/new"}
    assert [(each.path, each.why) for each in undone.left] == [("/workspace/u/link", "other")]
    assert (
        await box.run(Command(script="ls u; cat u/tool; stat -c %a u/tool"))
    ).stdout.head == b"link\ntool\none\n750\n"
    assert all(not each.path.startswith(".asos") for each in await box.files.artifacts())


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


async def chunks(count: int, piece: bytes, *, then: Exception | None = None) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield piece
    if then is not None:
        raise then


async def test_a_large_file_goes_in_and_out_in_pieces(box: OpenSandbox) -> None:
    piece = os.urandom(300_000)

    size = await box.files.store("large/file", chunks(80, piece), max_bytes=80 * 300_000)
    digest, largest = hashlib.sha256(), 0
    async with box.files.stream("large/file", max_bytes=size) as pieces:
        async for one in pieces:
            digest.update(one)
            largest = max(largest, len(one))

    assert size == 24_000_000
    assert digest.hexdigest() == hashlib.sha256(piece * 80).hexdigest()
    assert largest <= 1_048_576
    assert (await box.run(Command(script="ls -A large; rm -r large"))).stdout.head == b"file\n"


async def test_a_stream_that_is_left_early_holds_nothing_up(box: OpenSandbox) -> None:
    content = os.urandom(3_000_000)
    await box.files.write("long", content)

    async with box.files.stream("long", max_bytes=3_000_000) as pieces:
        assert content.startswith(await anext(pieces))
        assert box.busy

    assert await box.files.read("long", max_bytes=3_000_000) == content
    assert not box.busy


async def test_nothing_stays_of_a_file_that_breaks_off_or_is_too_large(box: OpenSandbox) -> None:
    await box.files.write("store/old", b"old")

    with pytest.raises(FileRefused, match="100000 bytes"):
        await box.files.store("store/old", chunks(20, b"x" * 65_536), max_bytes=100_000)
    with pytest.raises(RuntimeError, match="broke off"):
        await box.files.store("store/old", chunks(2, b"x" * 65_536, then=RuntimeError("broke off")), max_bytes=10**6)

    assert (await box.run(Command(script="ls -A store; cat store/old"))).stdout.head == b"old\nold"


@pytest.mark.parametrize("path", ["/etc/passwd", "escape/new", "absent", "p/x"])
async def test_a_stream_is_refused_before_it_begins(box: OpenSandbox, path: str) -> None:
    await box.run(Command(script="ln -sfn /etc escape; rm -rf p; mkdir p; mkfifo p/x"))

    with pytest.raises(FileRefused):
        async with box.files.stream(path, max_bytes=1_000_000):
            pass


async def test_a_full_disk_is_named(box: OpenSandbox) -> None:
    # /tmp is half of the sandbox's 512 MiB.
    await box.run(Command(script="fallocate -l 240M /tmp/filling || head -c 240M /dev/zero > /tmp/filling"))

    with pytest.raises(FileRefused, match="disk is full"):
        await box.files.store("/tmp/much", chunks(100, b"\0" * 262_144), max_bytes=10**9)

    left = await box.run(Command(script="ls -A /tmp | grep -c asos- || true; rm /tmp/filling"))
    assert left.stdout.head == b"0\n"


async def test_artifacts_are_plain_files_with_their_digests(box: OpenSandbox) -> None:
    await box.run(
        Command(
            script="rm -rf ./*; mkdir -p a/b 中文; echo one > a/one; echo two > 'a/b/two words'; : > 中文/空;"
            "ln -s /etc/passwd a/link; ln -s /etc folder; mkfifo a/pipe; mkdir shut; echo x > shut/x; chmod 0 shut"
        )
    )

    found = await box.files.artifacts()
    await box.run(Command(script="chmod 700 shut"))

    assert {(one.path, one.size, one.sha256) for one in found} == {
        ("a/one", 4, hashlib.sha256(b"one\n").hexdigest()),
        ("a/b/two words", 4, hashlib.sha256(b"two\n").hexdigest()),
        ("中文/空", 0, hashlib.sha256(b"").hexdigest()),
    }


async def test_a_workspace_without_bottom_is_refused(box: OpenSandbox) -> None:
    await box.run(Command(script="mkdir -p $(printf 'deep/%.0s' $(seq 150))"))

    with pytest.raises(FileRefused, match="one in another"):
        await box.files.artifacts()
    await box.run(Command(script="rm -rf deep"))


async def test_no_race_with_links_leads_out(box: OpenSandbox) -> None:
    swap = (
        "rm -rf race; mkdir -p race/real; echo mine > race/real/passwd; cd race; touch ready;"
        "while :; do ln -s /etc sub; rm -f sub; ln -s real sub; rm -f sub; done"
    )
    swapping = asyncio.create_task(box.run(Command(script=swap)))
    await box.run(Command(script="until [ -e race/ready ]; do sleep 0.1; done"))

    for _ in range(40):
        with suppress(FileRefused):
            assert await box.files.read("race/sub/passwd", max_bytes=10_000) == b"mine\n"
        with suppress(FileRefused):
            assert {one.name for one in await box.files.list("race/sub")} <= {"passwd"}
    swapping.cancel()

    with pytest.raises(asyncio.CancelledError):
        await swapping
