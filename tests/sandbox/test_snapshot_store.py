"""The store itself: what a crash, a full disk, another key or a wrong setting does to it."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from contracts.sandbox import SandboxUnavailable, Snapshot, SnapshotFailed, SnapshotUnusable
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.process import CannotStart
from runtime.settings import Settings
from sandbox.snapshots.folder_shelf import FolderShelf
from sandbox.snapshots.folder_tree import FolderTree
from sandbox.snapshots.opening import SnapshotStoreInvalid, open_snapshots
from sandbox.snapshots.store import Snapshots
from sandbox.snapshots.tree import Part, Wanted
from tests.project.files import ROOT
from tests.sandbox.stores import KEYS, FolderStore, named
from workers.snapshots import snapshot_keys, snapshots_of

TAKE_FOR_EVER = """
import asyncio, sys
from pathlib import Path
from sandbox.snapshots.folder_tree import FolderTree
from tests.sandbox.stores import FolderStore

async def main():
    snapshots = FolderStore(Path(sys.argv[1])).snapshots()
    await snapshots.take(owner="task", name="n", kind="files", trees={"workspace": FolderTree(Path(sys.argv[2]))},
                         parent=None, driver="d", runtime="r", image="i")

asyncio.run(main())
"""


async def take(
    snapshots: Snapshots, place: Path | FolderTree, *, owner: str = "task", parent: str | None = None
) -> Snapshot:
    tree = FolderTree(place) if isinstance(place, Path) else place
    return await snapshots.take(
        owner=owner, name="n", kind="files", trees={"workspace": tree}, parent=parent,
        driver="docker", runtime="runc", image="base",
    )  # fmt: skip


def filled(folder: Path, **files: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def killed_while_taking(store: FolderStore, work: Path, layers: int) -> int:
    """Kill a process as soon as it has stored so many layers, and give its exit code."""
    before = len(named(store, "layers"))
    command = [sys.executable, "-c", TAKE_FOR_EVER, str(store.root), str(work)]
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
        while process.poll() is None and len(named(store, "layers")) < before + layers:
            time.sleep(0.002)
        process.kill()
    return process.returncode


async def test_nothing_counts_of_a_snapshot_whose_process_was_killed(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    before = await take(store.snapshots(), filled(tmp_path / "before", f=b"1"), owner="other")
    work = filled(tmp_path / "work", **{f"f{number}": os.urandom(20_000_000) for number in range(3)})

    code = await asyncio.to_thread(killed_while_taking, store, work, 2)

    assert code == -signal.SIGKILL, "it was ended in the middle"
    snapshots = store.snapshots()
    assert await snapshots.of("task") == []
    assert await snapshots.collect([before.digest]) == 0

    left = [name for name in store.names() if not name.endswith("marks/collecting")]
    assert {name.split("/")[1] for name in left} == {"manifests", "listings", "layers", "owners"}
    assert len(left) == 4, "those of the other snapshot"
    await snapshots.restore(before.digest, {"workspace": FolderTree(filled(tmp_path / "back"))})


def await_first_layer(store: FolderStore) -> None:
    while not named(store, "layers"):
        time.sleep(0.001)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root mounts a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", disk], check=True)
    yield disk
    subprocess.run(["umount", disk], check=True)


async def test_a_full_disk_is_named_and_leaves_the_former_snapshots_whole(tmp_path: Path, small_disk: Path) -> None:
    store = FolderStore(small_disk)
    snapshots = store.snapshots()
    first = await take(snapshots, filled(tmp_path / "work", small=os.urandom(1_000_000)))

    with pytest.raises(SnapshotFailed, match=r"the disk of .* is full"):
        await take(snapshots, filled(tmp_path / "work", large=os.urandom(20_000_000)), parent=first.digest)

    assert await snapshots.of("task") == [first]
    await snapshots.restore(first.digest, {"workspace": FolderTree(filled(tmp_path / "back"))})
    assert [path.name for path in (tmp_path / "back").iterdir()] == ["small"]
    assert await snapshots.collect([first.digest]) == 0
    assert len(named(store, "layers")) == 1
    assert not list((small_disk / "kept" / "unfinished").iterdir())


async def test_a_full_sandbox_is_no_fault_of_the_snapshot(tmp_path: Path, small_disk: Path) -> None:
    snapshots = FolderStore(tmp_path).snapshots()
    taken = await take(snapshots, filled(tmp_path / "work", large=os.urandom(9_000_000)))

    with pytest.raises(SandboxUnavailable, match="could not be put in place"):
        await snapshots.restore(taken.digest, {"workspace": FolderTree(small_disk)})


class Broken(FolderTree):
    """Ends with an error in the middle."""

    async def read(self, wanted: Wanted) -> AsyncGenerator[Sequence[Part], None]:
        async for parts in super().read(wanted):
            yield parts
            raise OSError("the disk of the sandbox does not answer")


async def test_a_tree_that_cannot_be_read_fails_the_snapshot(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    snapshots = store.snapshots()
    work = filled(tmp_path / "work", **{f"f{number}": os.urandom(3_000_000) for number in range(3)})

    with pytest.raises(SnapshotFailed, match="does not answer"):
        await take(snapshots, Broken(work))

    assert await snapshots.of("task") == []
    assert named(store, "manifests") == []


async def test_a_snapshot_that_is_given_up_leaves_no_thread_at_work(tmp_path: Path) -> None:
    snapshots = FolderStore(tmp_path).snapshots()
    work = filled(tmp_path / "work", **{f"f{number}": os.urandom(8_000_000) for number in range(6)})
    taking = asyncio.ensure_future(take(snapshots, work))
    await asyncio.to_thread(await_first_layer, FolderStore(tmp_path))

    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await taking

    assert await snapshots.of("task") == []
    assert await snapshots.collect([]) == 0


async def test_a_key_that_was_replaced_still_opens_and_the_new_one_seals(tmp_path: Path) -> None:
    keyring = Keyring.load(tmp_path / "data")
    snapshots = FolderStore(tmp_path).snapshots(keys=snapshot_keys(keyring))
    first = await take(snapshots, filled(tmp_path / "work", f=os.urandom(100_000)))
    old, new = keyring.active_key_id, keyring.rotate()
    (tmp_path / "work" / "g").write_bytes(b"new")

    second = await take(snapshots, tmp_path / "work", parent=first.digest)

    reopened = FolderStore(tmp_path).snapshots(keys=snapshot_keys(Keyring.load(tmp_path / "data")))
    await reopened.restore(second.digest, {"workspace": FolderTree(filled(tmp_path / "back"))})
    assert second.bytes_added < 10_000, "what the old key sealed is used on"
    sealed = [FolderStore(tmp_path).read(name)[:40] for name in named(FolderStore(tmp_path), "manifests")]
    assert {new.encode() in box for box in sealed} == {True, False}
    assert {old.encode() in box for box in sealed} == {True, False}


async def test_a_key_that_is_lost_is_named(tmp_path: Path) -> None:
    keyring = Keyring.load(tmp_path / "data")
    taken = await take(FolderStore(tmp_path).snapshots(keys=snapshot_keys(keyring)), filled(tmp_path / "work", f=b"1"))
    key_id = keyring.active_key_id
    stranger = snapshot_keys(Keyring.load(tmp_path / "other"))
    same_names = type(stranger)(active=stranger.active, key=stranger.key, naming=snapshot_keys(keyring).naming)

    with pytest.raises(SnapshotUnusable, match=f"{taken.digest}.*{key_id}"):
        await FolderStore(tmp_path).snapshots(keys=same_names).find(taken.digest)


async def test_many_small_steps_do_not_make_many_small_layers(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    snapshots = store.snapshots()
    work, parent = filled(tmp_path / "work"), None
    for number in range(40):
        (work / f"f{number}").write_bytes(os.urandom(500))
        parent = (await take(snapshots, work, parent=parent)).digest

    assert parent is not None
    await snapshots.collect([parent])

    assert len(named(store, "layers")) < 30
    await snapshots.restore(parent, {"workspace": FolderTree(filled(tmp_path / "back"))})
    assert len(list((tmp_path / "back").iterdir())) == 40


async def test_data_that_is_mostly_of_no_use_any_more_is_not_carried_along(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    snapshots = store.snapshots()
    work = filled(tmp_path / "work", large=os.urandom(3_000_000), small=os.urandom(3_000))
    first = await take(snapshots, work)
    (work / "large").unlink()
    second = await take(snapshots, work, parent=first.digest)

    third = await take(snapshots, work, parent=second.digest)
    await snapshots.collect([third.digest])

    assert sum(len(store.read(name)) for name in named(store, "layers")) < 10_000
    await snapshots.restore(third.digest, {"workspace": FolderTree(filled(tmp_path / "back"))})
    assert (tmp_path / "back" / "small").read_bytes() == (work / "small").read_bytes()


async def test_what_is_collected_was_of_no_use_at_two_times(tmp_path: Path) -> None:
    clock = datetime(2026, 1, 1, tzinfo=UTC)
    shelf = FolderShelf(tmp_path / "kept")
    snapshots = Snapshots(shelf, KEYS, scratch=tmp_path / "scratch", grace_seconds=60, now=lambda: clock)
    first = await take(snapshots, filled(tmp_path / "work", f=os.urandom(100_000)))
    await snapshots.forget(first.digest)
    assert await snapshots.collect([]) == 0
    clock += timedelta(seconds=61)
    (tmp_path / "work" / "g").write_bytes(b"g")
    again = await take(snapshots, tmp_path / "work")

    assert await snapshots.collect([again.digest]) == 0

    assert len(named(FolderStore(tmp_path), "layers")) == 1, "only that of the forgotten one is gone"
    await snapshots.restore(again.digest, {"workspace": FolderTree(filled(tmp_path / "back"))})


async def test_nothing_is_collected_while_a_manifest_cannot_be_read(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    snapshots = store.snapshots()
    taken = await take(snapshots, filled(tmp_path / "work", f=os.urandom(10_000)))
    name, *_ = named(store, "manifests")
    whole = store.read(name)
    store.write(name, b"damaged")

    assert await snapshots.collect([taken.digest]) == 0

    store.write(name, whole)
    await snapshots.restore(taken.digest, {"workspace": FolderTree(filled(tmp_path / "back"))})


async def test_what_a_broken_off_restoration_left_behind_is_removed(tmp_path: Path) -> None:
    snapshots = FolderStore(tmp_path).snapshots()
    taken = await take(snapshots, filled(tmp_path / "work", f=b"1"))
    left = tmp_path / "scratch" / "restoring-before"
    left.mkdir(parents=True)
    (left / "layer").write_bytes(b"sealed")

    await snapshots.collect([taken.digest])

    assert not left.exists()


@pytest.mark.parametrize("digest", ["", "..", "../" * 5 + "etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n"])
async def test_what_is_no_digest_names_no_snapshot(tmp_path: Path, digest: str) -> None:
    snapshots = FolderStore(tmp_path).snapshots()

    for ask in (snapshots.find(digest), snapshots.forget(digest), snapshots.restore(digest, {})):
        with pytest.raises(SnapshotUnusable, match="no digest"):
            await ask


async def test_trees_that_a_snapshot_does_not_hold_are_not_touched(tmp_path: Path) -> None:
    snapshots = FolderStore(tmp_path).snapshots()
    taken = await take(snapshots, filled(tmp_path / "work", f=b"1"))
    home = filled(tmp_path / "home", profile=b"its own")

    await snapshots.restore(
        taken.digest, {"workspace": FolderTree(filled(tmp_path / "back")), "home": FolderTree(home)}
    )
    with pytest.raises(SnapshotUnusable, match="holds workspace and none of home"):
        await snapshots.restore(taken.digest, {"home": FolderTree(home)})

    assert (home / "profile").read_bytes() == b"its own"


@pytest.mark.parametrize("location", ["s3://", "s3:///prefix", "https://bucket/prefix", "gs://bucket"])
def test_a_location_that_is_no_store_is_refused(tmp_path: Path, location: str) -> None:
    with pytest.raises(SnapshotStoreInvalid, match="snapshot_store"):
        open_snapshots(location, KEYS, scratch=tmp_path)
    settings = Settings(data_dir=tmp_path / "data", snapshot_store=location)
    with pytest.raises(CannotStart, match="snapshot_store"):
        snapshots_of(settings, DataPaths(settings.data_dir), Keyring.load(settings.data_dir))


async def test_the_store_of_an_installation_lies_in_its_data_folder(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    paths = DataPaths(settings.data_dir)
    snapshots = snapshots_of(settings, paths, Keyring.load(settings.data_dir))

    await take(snapshots, filled(tmp_path / "work", f=b"1"))
    await snapshots.close()

    assert any(paths.snapshots.rglob("manifests/*"))
    assert all(path.stat().st_mode & 0o077 == 0 for path in paths.snapshots.rglob("*"))
