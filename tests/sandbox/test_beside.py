"""Files that the host reaches itself: an agent that may lie tells where, in folders that it may change."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from contracts.sandbox import Command, FileRefused
from sandbox.beside import Beside, Folder
from sandbox.session import OpenSandbox
from sandbox.snapshots.folder_tree import FolderTree
from sandbox.snapshots.tree import Tree, TreeUnfilled

OURS = b"ours\n" * 200_000


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "secret").write_bytes(b"secret")
    own = tmp_path / "own"
    (own / "sub").mkdir(parents=True)
    (own / "sub" / "file").write_bytes(b"mine")
    (own / "out").symlink_to(tmp_path)
    (own / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(own / "fifo")
    return Folder("/workspace", own, None)


@pytest.mark.parametrize(
    "below", ["../secret", "sub/../../secret", "/etc/passwd", "", ".", "out/secret", "link", "fifo", "sub", "sub/a\0b"]
)
def test_an_agent_that_lies_leads_to_nothing_but_plain_files_of_the_sandbox(folder: Folder, below: str) -> None:
    with pytest.raises((OSError, TreeUnfilled)):
        folder.plain_file(below)


def test_what_lies_below_is_opened(folder: Folder) -> None:
    file = folder.plain_file("sub/file")

    assert os.read(file, 100) == b"mine"
    os.close(file)


async def test_a_folder_in_which_the_sandbox_sees_something_else_is_left_alone(tmp_path: Path) -> None:
    async def trees() -> Mapping[str, Tree]:
        return {"workspace": FolderTree(tmp_path)}

    async def absent(_path: str) -> bool:
        return False

    assert await Beside(trees).folders(absent) == {}
    assert await asyncio.to_thread(os.listdir, tmp_path) == []


@pytest.mark.asyncio(loop_scope="module")
async def test_a_large_file_has_the_owner_and_mode_of_a_small_one(box: OpenSandbox) -> None:
    await box.run(Command(script="mkdir -p large; echo old > large/tool; chmod 750 large/tool"))

    await box.files.write("large/tool", OURS)
    await box.files.write("large/new", OURS)

    seen = await box.run(Command(script="stat -c '%a %U %s' large/tool large/new; ls -A large . | grep -c asos-"))
    size = len(OURS)
    assert seen.stdout.head.decode().split("\n")[:3] == [f"750 agent {size}", f"644 agent {size}", "0"]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_large_file_is_refused_as_a_small_one_is(box: OpenSandbox) -> None:
    await box.run(Command(script="mkdir -p shut; chmod 500 shut; ln -sfn /etc escape; head -c 1M /dev/zero > unread"))
    await box.run(Command(script="chmod 0 unread"))

    for path in ("shut/new", "escape/new", "/etc/new", "shut"):
        with pytest.raises(FileRefused):
            await box.files.write(path, OURS)
    with pytest.raises(FileRefused):
        await box.files.read("unread", max_bytes=2_000_000)

    left = await box.run(Command(script="chmod 700 shut; ls -A . shut | grep -c asos-; rm -rf shut escape unread"))
    assert left.stdout.head == b"0\n"


@pytest.mark.asyncio(loop_scope="module")
async def test_no_race_with_links_leads_a_large_file_out(box: OpenSandbox) -> None:
    swap = (
        "rm -rf swap; mkdir -p swap/real; head -c 1000000 /dev/zero > swap/real/bash; cd swap; touch ready;"
        "while :; do ln -s /bin sub; rm -f sub; ln -s real sub; rm -f sub; done"
    )
    swapping = asyncio.create_task(box.run(Command(script=swap)))
    await box.run(Command(script="until [ -e swap/ready ]; do sleep 0.1; done"))

    for _ in range(20):
        with suppress(FileRefused):
            assert await box.files.read("swap/sub/bash", max_bytes=10_000_000) in (bytes(1_000_000), OURS)
        with suppress(FileRefused):
            await box.files.write("swap/sub/bash", OURS)
    swapping.cancel()

    with pytest.raises(asyncio.CancelledError):
        await swapping
