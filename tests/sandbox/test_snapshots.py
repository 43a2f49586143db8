"""Snapshots are taken, brought back, forked, reclaimed and collected alike in a folder and in a bucket, and one wrong
byte is refused."""

import asyncio
import os
import random
import re
import secrets
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path

import pytest

from contracts.sandbox import SandboxUnavailable, Snapshot, SnapshotFailed, SnapshotUnusable
from sandbox.snapshots.folder_tree import FolderTree
from sandbox.snapshots.opening import S3
from sandbox.snapshots.sealing import SnapshotKeys
from sandbox.snapshots.store import Snapshots
from sandbox.snapshots.tree import Part, Wanted
from sandbox.snapshots.walking import Bounds
from tests.sandbox.stores import BucketStore, FolderStore, Store, named, s3_server

SEED = 20_260_731
AT_ONCE = Bounds(steady_seconds=0)
"""Files are held for unchanged from the moment on that they are written; these tests map no pages."""


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(params=["folder", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "folder":
        return FolderStore(tmp_path)
    return BucketStore(request.getfixturevalue("bucket"), secrets.token_hex(8), tmp_path / "scratch")


class Counted(FolderTree):
    """Counts what is read of it."""

    read_bytes = 0

    async def read(self, wanted: Wanted) -> AsyncGenerator[Sequence[Part], None]:
        async for parts in super().read(wanted):
            self.read_bytes += sum(len(part.content) for part in parts)
            yield parts


def workspace(folder: Path, files: dict[str, bytes]) -> Counted:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return Counted(folder, bounds=AT_ONCE)


def room(folder: Path) -> FolderTree:
    folder.mkdir()
    return FolderTree(folder, bounds=AT_ONCE)


def content_of(folder: Path) -> dict[str, bytes]:
    plain = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in plain}


async def take(
    snapshots: Snapshots, tree: FolderTree, *, owner: str = "task", name: str = "step-1", parent: str | None = None
) -> Snapshot:
    return await snapshots.take(
        owner=owner, name=name, kind="files", trees={"workspace": tree}, parent=parent,
        driver="docker", runtime="runc", image="base",
    )  # fmt: skip


async def test_what_was_taken_comes_back_in_another_place(store: Store, tmp_path: Path) -> None:
    files = {"a/b/text": b"words " * 300_000, "random": os.urandom(2_500_000), "empty": b"", "a/small": b"1"}
    tree = workspace(tmp_path / "work", files)
    (tmp_path / "work" / "a" / "link").symlink_to("/etc/passwd")
    (tmp_path / "work" / "a" / "b").chmod(0o500)
    taken = await take(store.snapshots(), tree)

    told = await store.snapshots().restore(taken.digest, {"workspace": room(tmp_path / "back")})

    assert told == taken == await store.snapshots().find(taken.digest)
    assert (taken.files, taken.bytes_total) == (4, sum(map(len, files.values())))
    assert content_of(tmp_path / "back") == files
    assert (tmp_path / "back" / "a" / "link").readlink() == Path("/etc/passwd")
    assert (tmp_path / "back" / "a" / "b").stat().st_mode & 0o777 == 0o500


async def test_what_did_not_change_is_neither_read_nor_stored_again(store: Store, tmp_path: Path) -> None:
    tree = workspace(tmp_path / "work", {"big": os.urandom(3_000_000), "small": b"old"})
    snapshots = store.snapshots()
    first = await take(snapshots, tree)
    (tmp_path / "work" / "small").write_bytes(b"new and longer")
    tree.read_bytes = 0

    second = await take(snapshots, tree, parent=first.digest)

    assert tree.read_bytes == len(b"new and longer")
    assert first.bytes_added > 3_000_000
    assert second.bytes_added < 10_000
    await snapshots.restore(second.digest, {"workspace": room(tmp_path / "back")})
    assert content_of(tmp_path / "back") == content_of(tmp_path / "work")


async def test_the_same_content_is_stored_once_although_its_files_are_new(store: Store, tmp_path: Path) -> None:
    snapshots = store.snapshots()
    first = await take(snapshots, workspace(tmp_path / "work", {"big": os.urandom(3_000_000), "small": b"s"}))
    await snapshots.restore(first.digest, {"workspace": room(tmp_path / "back")})
    (tmp_path / "back" / "copy").write_bytes((tmp_path / "back" / "big").read_bytes())

    second = await take(snapshots, FolderTree(tmp_path / "back"), parent=first.digest)

    assert second.files == 3
    assert second.bytes_added < 10_000


async def test_forks_share_the_past_and_nothing_else(store: Store, tmp_path: Path) -> None:
    snapshots = store.snapshots()
    origin = await take(snapshots, workspace(tmp_path / "work", {"shared": os.urandom(2_000_000)}))
    forks = [f"fork-{number}" for number in range(4)]
    await asyncio.gather(*(snapshots.restore(origin.digest, {"workspace": room(tmp_path / n)}) for n in forks))
    for fork in forks:
        (tmp_path / fork / "own").write_text(fork)
    (tmp_path / forks[0] / "shared").unlink()

    later = await asyncio.gather(
        *(take(snapshots, FolderTree(tmp_path / fork), owner=fork, parent=origin.digest) for fork in forks)
    )
    await snapshots.forget(later[1].digest)
    await snapshots.collect([origin.digest, later[0].digest, *(each.digest for each in later[2:])])

    await snapshots.restore(later[2].digest, {"workspace": room(tmp_path / "back")})
    assert content_of(tmp_path / "back") == content_of(tmp_path / forks[2])
    assert [each.digest for each in await snapshots.of(forks[0])] == [later[0].digest]
    assert await snapshots.of(forks[1]) == []


async def test_two_takes_of_one_owner_at_once_give_two_snapshots(store: Store, tmp_path: Path) -> None:
    tree = workspace(tmp_path / "work", {"f": os.urandom(1_500_000)})
    snapshots = store.snapshots()

    taken = await asyncio.gather(take(snapshots, tree, name="one"), take(snapshots, tree, name="two"))

    found = await snapshots.of("task")
    assert {each.name for each in found} == {"one", "two"}
    assert list(found) == sorted(taken, key=lambda each: each.created_at, reverse=True)


async def test_only_the_project_files_stay_when_a_sandbox_is_reclaimed(store: Store, tmp_path: Path) -> None:
    work = tmp_path / "work"
    project = {"src/main.py": b"print()", "report.pdf": os.urandom(50_000)}
    made_again = {"node_modules/x/y.js": os.urandom(2_000_000), "src/__pycache__/m.pyc": b"c", ".venv/bin/p": b"p"}
    snapshots = store.snapshots()
    older = await take(snapshots, workspace(work, {"old": b"old"}))
    (work / "old").unlink()
    workspace(work, project | made_again)
    (work / "src" / "linked.js").hardlink_to(work / "node_modules" / "x" / "y.js")
    latest = await take(snapshots, FolderTree(work), parent=older.digest)

    kept = await snapshots.reclaim("task", latest.digest)

    assert kept is not None
    assert await snapshots.reclaim("task", latest.digest) == kept, "once more gives the same"
    assert kept.bytes_added < 10_000, "its data is shared"
    fork = await snapshots.find(older.digest)
    assert fork.name == older.name, "a fork may have begun with it"
    await snapshots.collect([kept.digest])
    assert [each.digest for each in await snapshots.of("task")] == [kept.digest]
    await snapshots.restore(kept.digest, {"workspace": room(tmp_path / "back"), "home": room(tmp_path / "home")})
    wanted = project | {"src/linked.js": made_again["node_modules/x/y.js"]}
    assert content_of(tmp_path / "back") == wanted


async def test_what_only_caches_needed_is_freed_after_reclaiming(store: Store, tmp_path: Path) -> None:
    files = {"main.py": b"print()", "node_modules/big": os.urandom(3_000_000)}
    snapshots = store.snapshots()
    latest = await take(snapshots, workspace(tmp_path / "work", files))

    kept = await snapshots.reclaim("task", latest.digest)
    assert kept is not None
    await snapshots.collect([kept.digest])

    assert sum(len(store.read(name)) for name in store.names()) < 50_000


async def test_nothing_is_kept_of_a_sandbox_without_project_files(store: Store, tmp_path: Path) -> None:
    snapshots = store.snapshots()
    latest = await take(snapshots, workspace(tmp_path / "work", {"target/debug/app": b"elf"}))

    assert await snapshots.reclaim("task", latest.digest) is None
    assert await snapshots.reclaim("task", latest.digest) is None
    await snapshots.collect([])

    assert await snapshots.of("task") == []


async def test_collecting_removes_what_no_live_snapshot_names_and_nothing_else(store: Store, tmp_path: Path) -> None:
    snapshots = store.snapshots()
    tree = workspace(tmp_path / "work", {"f": os.urandom(2_000_000)})
    first = await take(snapshots, tree)
    (tmp_path / "work" / "g").write_bytes(os.urandom(2_000_000))
    second = await take(snapshots, tree, parent=first.digest)
    other = await take(snapshots, workspace(tmp_path / "other", {"x": os.urandom(100)}), owner="other")

    assert await snapshots.collect([second.digest], owners=["other", "nobody"]) == 1

    with pytest.raises(SnapshotUnusable, match=f"no snapshot {first.digest}"):
        await snapshots.find(first.digest)
    await snapshots.restore(second.digest, {"workspace": room(tmp_path / "back")})
    assert content_of(tmp_path / "back") == content_of(tmp_path / "work")
    assert (await snapshots.find(other.digest)) == other
    assert await snapshots.collect([]) == 2
    assert [name for name in store.names() if not name.endswith("/marks/collecting")] == []


async def test_what_nobody_names_yet_stays_for_the_time_of_grace(store: Store, tmp_path: Path) -> None:
    patient = store.snapshots(grace_seconds=3_600)
    taken = await take(patient, workspace(tmp_path / "work", {"f": b"x"}))

    assert await patient.collect([]) == 0
    assert await patient.collect([]) == 0

    assert (await patient.find(taken.digest)).digest == taken.digest


@pytest.mark.parametrize("kind", ["manifests", "listings", "layers"])
async def test_one_flipped_bit_is_refused_by_name_before_anything_is_changed(
    store: Store, tmp_path: Path, kind: str
) -> None:
    snapshots = store.snapshots()
    tree = workspace(tmp_path / "work", {"f": os.urandom(300_000), "g": b"text " * 5_000, "node_modules/h": b"h" * 999})
    taken = await take(snapshots, tree)
    back = workspace(tmp_path / "back", {"before": b"untouched"})
    rng = random.Random(f"{SEED} {kind}")  # noqa: S311  positions are no secret
    for name in named(store, kind):
        whole = store.read(name)
        for _ in range(4 if isinstance(store, BucketStore) else 60):
            changed = bytearray(whole)
            changed[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
            store.write(name, bytes(changed))

            with pytest.raises(SnapshotUnusable, match=_told(taken, kind, name)):
                await snapshots.restore(taken.digest, {"workspace": back})

            assert content_of(tmp_path / "back") == {"before": b"untouched"}
        store.write(name, whole)
    await snapshots.restore(taken.digest, {"workspace": back})
    assert content_of(tmp_path / "back") == content_of(tmp_path / "work")


@pytest.mark.parametrize("kind", ["manifests", "listings", "layers"])
@pytest.mark.parametrize(
    ("store", "harm"),
    [("s3", "missing"), *(("folder", harm) for harm in ("missing", "cut", "longer", "empty", "another's"))],
    indirect=["store"],
)
async def test_an_object_that_is_not_what_it_was_is_refused(store: Store, tmp_path: Path, kind: str, harm: str) -> None:
    snapshots = store.snapshots()
    taken = await take(snapshots, workspace(tmp_path / "work", {"f": os.urandom(200_000)}))
    name, *_ = named(store, kind)
    await take(snapshots, workspace(tmp_path / "other", {"f": os.urandom(200_000)}), owner="other")
    other = next(each for each in named(store, kind) if each != name)
    whole = store.read(name)
    harms = {"cut": whole[:-7], "longer": whole + b"\0", "empty": b"", "another's": store.read(other)}
    store.delete(name) if harm == "missing" else store.write(name, harms[harm])

    with pytest.raises(SnapshotUnusable, match=taken.digest):
        await snapshots.restore(taken.digest, {"workspace": workspace(tmp_path / "back", {"before": b"1"})})

    assert content_of(tmp_path / "back") == {"before": b"1"}


async def test_a_damaged_parent_costs_space_and_not_the_snapshot(store: Store, tmp_path: Path) -> None:
    snapshots = store.snapshots()
    tree = workspace(tmp_path / "work", {"f": os.urandom(400_000)})
    first = await take(snapshots, tree)
    store.delete(named(store, "layers")[0])

    second = await take(snapshots, tree, parent=first.digest)

    await snapshots.restore(second.digest, {"workspace": room(tmp_path / "back")})
    assert content_of(tmp_path / "back") == content_of(tmp_path / "work")


async def test_another_installation_sees_and_opens_nothing(store: Store, tmp_path: Path) -> None:
    taken = await take(store.snapshots(), workspace(tmp_path / "work", {"f": b"secret words"}))
    stranger = store.snapshots(keys=SnapshotKeys.from_secret(os.urandom(32)))

    assert await stranger.of("task") == []
    assert await stranger.collect([]) == 0
    with pytest.raises(SnapshotUnusable):
        await stranger.find(taken.digest)
    assert all(b"secret words" not in store.read(name) for name in store.names())
    await store.snapshots().restore(taken.digest, {"workspace": room(tmp_path / "back")})


async def test_a_store_that_does_not_answer_is_no_lost_snapshot(tmp_path: Path) -> None:
    nobody = BucketStore(S3("http://127.0.0.1:9", "us-east-1", "k", "s"), "p", tmp_path / "scratch").snapshots()

    with pytest.raises(SandboxUnavailable, match="does not answer"):
        await nobody.find("0" * 64)
    with pytest.raises(SnapshotFailed, match="does not answer"):
        await take(nobody, workspace(tmp_path / "work", {"f": b"1"}))


def _told(taken: Snapshot, kind: str, name: str) -> str:
    """What a person reads: the snapshot, and the object if it is not the snapshot's own."""
    return taken.digest if kind == "manifests" else f"{taken.digest}.*{re.escape(name.rpartition('/')[2])}"
