"""Whatever happens to a tree, each of its snapshots brings back what it was then: random histories, from one seed."""

import os
import random
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from sandbox.snapshots.folder_tree import FolderTree
from sandbox.snapshots.walking import Bounds
from tests.sandbox.stores import FolderStore

SEEDS = [20_260_801, 20_260_802]
STEPS = 10
NAMES = ["a", "b", "名", os.fsdecode(b"bad\xff"), "with blank", "node_modules", "new\nline", "-rf"]
SIZES = [0, 1, 4_095, 70_000, 1_048_576, 1_048_577, 2_500_000]


def state_of(top: Path) -> dict[Path, tuple[object, ...]]:
    """All that a snapshot promises to keep."""
    found: dict[Path, tuple[object, ...]] = {}
    twins: dict[int, list[Path]] = {}
    for path in top.rglob("*"):
        facts = path.lstat()
        place = path.relative_to(top)
        kept: tuple[object, ...] = (stat.S_IFMT(facts.st_mode), facts.st_mode & 0o777, facts.st_mtime_ns)
        if path.is_symlink():
            kept += (path.readlink(),)
        elif path.is_file():
            kept += (path.read_bytes(),)
            twins.setdefault(facts.st_ino, []).append(place)
        found[place] = kept
    for names in twins.values():
        for name in names:
            found[name] += (sorted(names),)
    return found


def change(rng: random.Random, top: Path) -> None:
    """One thing that a program might do."""
    there = [path for path in sorted(top.rglob("*")) if not path.is_symlink()]
    plain = [path for path in there if path.is_file()]
    path = rng.choice([top, *(path for path in there if path.is_dir())]) / rng.choice(NAMES)
    what = rng.randrange(9)
    if what <= 2 or not plain:
        size = rng.choice(SIZES)
        path.write_bytes(rng.randbytes(size) if rng.random() < 0.5 else b"text " * (size // 5))
    elif what == 3:
        path.mkdir()
    elif what == 4:
        path.symlink_to(rng.choice(NAMES))
    elif what == 5:
        path.hardlink_to(rng.choice(plain))
    elif what == 6:
        rng.choice(plain).rename(path)
    elif what == 7:
        rng.choice(plain).unlink()
    else:
        changed = rng.choice(plain)
        with changed.open("r+b") as file:
            file.seek(rng.choice(SIZES))
            file.write(rng.randbytes(rng.choice([1, 5_000])))
        changed.chmod(rng.choice([0o600, 0o644, 0o755, 0o400]))


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_snapshot_of_a_history_brings_back_its_moment(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311  no secret
    work, back = tmp_path / "work", tmp_path / "back"
    work.mkdir()
    back.mkdir()
    snapshots = FolderStore(tmp_path).snapshots()
    tree = FolderTree(work, bounds=Bounds(steady_seconds=0))
    moments: list[tuple[str, dict[Path, tuple[object, ...]]]] = []
    for step in range(STEPS):
        for _ in range(rng.randrange(8)):
            with suppress(OSError):  # such as a name that is taken
                change(rng, work)
        taken = await snapshots.take(
            owner="task", name=f"step-{step}", kind="files", trees={"workspace": tree},
            parent=moments[-1][0] if moments else None, driver="d", runtime="r", image="i",
        )  # fmt: skip
        moments.append((taken.digest, state_of(work)))
    for digest, _ in rng.sample(moments, 3):
        await snapshots.forget(digest)
        moments = [moment for moment in moments if moment[0] != digest]
    await snapshots.collect([digest for digest, _ in moments])

    for digest, state in rng.sample(moments, len(moments)):
        await snapshots.restore(digest, {"workspace": FolderTree(back)})

        assert state_of(back) == state, f"seed {seed}, snapshot {digest}"
