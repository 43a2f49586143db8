"""Trees in folders are read whatever untrusted code has made of them, and filled only below themselves."""

import ctypes
import os
import socket
import stat
import threading
from collections.abc import Callable
from contextlib import aclosing, suppress
from pathlib import Path

import pytest

from sandbox.snapshots.descending import opened
from sandbox.snapshots.filling import empty
from sandbox.snapshots.folder_tree import FolderTree
from sandbox.snapshots.tree import Node, Part, TreeUnfilled, TreeUnreadable
from sandbox.snapshots.walking import Bounds, walk
from tests.sandbox.trees import given, made, names_in, nodes_of, parts_of, poured

NOBODY = 65_534


async def test_links_devices_fifos_and_sockets_are_never_opened(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "to-folder").symlink_to(outside)
    (tree / "to-file").symlink_to(outside / "secret")
    os.mkfifo(tree / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tree / "socket"))
        if os.geteuid() == 0:
            os.mknod(tree / "device", 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # /dev/zero never ends

        parts = await parts_of(FolderTree(tree))

    assert {part.node.path: part.node.kind for part in parts if part.node} == {"to-file": "link", "to-folder": "link"}
    assert not any(part.content for part in parts)


def test_a_folder_that_was_seen_and_is_a_link_now_is_passed_over(tmp_path: Path) -> None:
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    for folder, text in ((outside, "secret"), (tree / "d", "own")):
        folder.mkdir(parents=True)
        (folder / "file").write_text(text)
    (tree / "later").write_text("later")

    def swaps(node: Node) -> bool:
        if node.path == "later":
            (tree / "d").rename(tmp_path / "aside")
            (tree / "d").symlink_to(outside)
        return True

    read = list(walk(tree, swaps, Bounds()))

    assert {part.node.path for part in read if part.node} == {"d", "later"}
    assert b"".join(part.content for part in read) == b"later"


async def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(tmp_path: Path) -> None:
    outside, tree = tmp_path / "outside", tmp_path / "tree"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    tree.mkdir()
    for number in range(30):
        (tree / f"d{number}").mkdir()
        (tree / f"d{number}" / "secret").write_text("own")

    with _swapping(tree, outside):
        contents = {part.content for _ in range(15) for part in await parts_of(FolderTree(tree))}

    assert contents <= {b"", b"own"}


class _swapping:
    """Makes links of folders and folders of links, as fast as it can."""

    def __init__(self, tree: Path, outside: Path) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._swap, args=(tree, outside))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _swap(self, tree: Path, outside: Path) -> None:
        while not self._stop.is_set():
            for number in range(30):
                with suppress(OSError):
                    (tree / f"d{number}").rename(tree / f"aside{number}")
                    (tree / f"d{number}").symlink_to(outside)
                    (tree / f"d{number}").unlink()
                    (tree / f"aside{number}").rename(tree / f"d{number}")


async def test_a_hole_of_a_hundred_gigabytes_takes_no_time_and_no_place(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    with (tmp_path / "tree" / "sparse").open("wb") as file:
        file.seek(100 * 1024**3)
        file.write(b"the end")

    await poured(FolderTree(tmp_path / "tree"), FolderTree(made(tmp_path / "back")))

    back = tmp_path / "back" / "sparse"
    assert back.stat().st_size == 100 * 1024**3 + 7
    assert back.stat().st_blocks < 10_000
    with back.open("rb") as file:
        file.seek(-8, os.SEEK_END)
        assert file.read() == b"\0the end"


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        (Bounds(names=10), "more than 10 names"),
        (Bounds(file_bytes=1_000), "'a file' says that it has 1001 bytes"),
        (Bounds(read_bytes=1_000), "'a file' there are more than 1000 bytes"),
        (Bounds(path_bytes=30), "a path of more than 30 bytes"),
    ],
)
async def test_what_is_too_much_is_refused_by_name(tmp_path: Path, bounds: Bounds, told: str) -> None:
    (tmp_path / "a file").write_bytes(b"x" * 1_001)
    for number in range(12):
        (tmp_path / f"folder-{number:025}").mkdir()

    with pytest.raises(TreeUnreadable, match=told):
        await parts_of(FolderTree(tmp_path, bounds=bounds))


async def test_deep_folders_are_read_and_removed(tmp_path: Path) -> None:
    _deep(tmp_path / "tree", "d", 200)
    tree = FolderTree(tmp_path / "tree")

    assert len(await nodes_of(tree)) == 200
    _deep(tmp_path / "tree", "e", 1_200)
    with pytest.raises(TreeUnreadable, match="lies deeper than"):
        await nodes_of(tree)
    await tree.fill(given(Part(Node("f", "file", 0o644)), Part(content=b"x")))

    assert names_in(tmp_path / "tree") == {"f"}


def _deep(top: Path, name: str, depth: int) -> None:
    top.mkdir(exist_ok=True)
    current = os.open(top, os.O_PATH)
    for _ in range(depth):
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=current)
        below = os.open(name, os.O_PATH, dir_fd=current)
        os.close(current)
        current = below
    os.close(current)


async def test_a_file_that_changes_while_it_is_read_has_no_stamp(tmp_path: Path) -> None:
    path = tmp_path / "growing"
    path.write_bytes(b"x" * 9_000_000)
    tree = FolderTree(tmp_path, bounds=Bounds(steady_seconds=0))

    async with aclosing(tree.read(lambda _: True)) as batches:
        parts = list(await anext(batches))
        with path.open("ab") as file:
            file.write(b"more")
        parts += [part async for batch in batches for part in batch]

    assert parts[-1].changed
    assert sum(len(part.content) for part in parts) == 9_000_000


async def test_a_fresh_file_has_no_stamp_since_a_mapped_page_may_still_change_unseen(tmp_path: Path) -> None:
    (tmp_path / "fresh").write_bytes(b"x")

    assert (await nodes_of(FolderTree(tmp_path)))["fresh"].stamp == ""
    assert (await nodes_of(FolderTree(tmp_path, bounds=Bounds(steady_seconds=0))))["fresh"].stamp


@pytest.mark.parametrize("path", ["../out", "/out", "a/../../out", "", ".", "a//b", "a\0b", "link/out", "a/."])
async def test_nothing_is_written_outside(tmp_path: Path, path: str) -> None:
    tree = FolderTree(made(tmp_path / "tree"))

    with pytest.raises((TreeUnfilled, OSError)):
        await tree.fill(given(Part(Node("link", "link", 0o777, target="..")), Part(Node(path, "file", 0o644))))

    assert names_in(tmp_path) == {"tree"}


async def test_a_twin_of_what_lies_outside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    tree = FolderTree(made(tmp_path / "tree"))

    with pytest.raises(TreeUnfilled):
        await tree.fill(given(Part(Node("twin", "twin", 0o644, target="../secret"))))


async def test_what_is_filled_in_belongs_to_the_user_of_the_sandbox(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    parts = [Part(Node("d", "folder", 0o750)), Part(Node("d/f", "file", 0o4644, size=1), b"x"),
             Part(Node("d/l", "link", 0o777, target="f"))]  # fmt: skip

    await FolderTree(made(tmp_path / "tree"), uid=1_234_567).fill(given(*parts))

    for name in ("d", "d/f", "d/l"):
        assert (tmp_path / "tree" / name).lstat().st_uid == 1_234_567
    assert (tmp_path / "tree" / "d").stat().st_mode & 0o7777 == 0o750


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes a user who is not root")
def test_a_user_who_is_not_root_reads_what_was_closed_and_leaves_it_closed(tmp_path: Path) -> None:
    tree = made(tmp_path / "tree")
    (tree / "d" / "e").mkdir(parents=True)
    (tree / "d" / "e" / "f").write_text("content")
    inside = [tree / "d" / "e" / "f", tree / "d" / "e", tree / "d"]
    for path in inside:
        os.chown(path, NOBODY, NOBODY)
        path.chmod(0)
    for folder in (tree, tmp_path, *tmp_path.parents):
        if not folder.stat().st_mode & 0o001:
            folder.chmod(0o755)

    found = _as_nobody(lambda: list(walk(tree, lambda _: True, Bounds())))

    assert [(part.node.path, part.node.mode) for part in found if part.node] == [("d", 0), ("d/e", 0), ("d/e/f", 0)]
    assert found[-1].content == b"content"
    assert [path.stat().st_mode & 0o777 for path in inside] == [0, 0, 0]
    os.chown(tree, NOBODY, NOBODY)
    with opened(os.open(tree, os.O_RDONLY)) as top:
        _as_nobody(lambda: emptied(top))
    assert names_in(tree) == set()


def emptied(top: int) -> list[Part]:
    empty(top)
    return []


def _as_nobody(act: Callable[[], list[Part]]) -> list[Part]:
    """In a thread that ends with it: only that one is seen as nobody by the file system."""
    found: list[Part] = []

    def become_and_act() -> None:
        ctypes.CDLL(None).setfsuid(NOBODY)
        found.extend(act())

    thread = threading.Thread(target=become_and_act)
    thread.start()
    thread.join()
    return found
