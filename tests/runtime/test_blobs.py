"""Blobs are kept once, sealed, whole, and found again by their reference."""

import asyncio
import errno
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.blobs import BlobDamaged, BlobMissing, BlobRef, Blobs
from runtime.blobs import FileBlobs
from runtime.keys import Keyring


@pytest.fixture
def keyring(tmp_path: Path) -> Keyring:
    return Keyring.load(tmp_path / "data")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


def _files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


@pytest.mark.parametrize("content", [b"", b"\x00\xff", b"text " * 50_000, b"m" * 3_000_000])
async def test_what_is_put_is_got_also_by_another_process(root: Path, keyring: Keyring, content: bytes) -> None:
    blobs: Blobs = FileBlobs(root, keyring)

    ref = await blobs.put(content)

    assert ref == BlobRef(sha256=hashlib.sha256(content).hexdigest(), size=len(content))
    assert await blobs.get(ref) == content
    assert await FileBlobs(root, keyring).get(ref) == content


async def test_equal_content_is_kept_once_even_after_a_rotation(root: Path, keyring: Keyring) -> None:
    blobs = FileBlobs(root, keyring)

    await blobs.put(b"same")
    keyring.rotate()
    await FileBlobs(root, keyring).put(b"same")

    assert len(_files(root)) == 1


async def test_nothing_in_the_folder_tells_what_is_kept(root: Path, keyring: Keyring) -> None:
    content = b"a canary that must not be seen"
    ref = await FileBlobs(root, keyring).put(content)

    [file] = _files(root)
    shown = str(file).encode() + file.read_bytes()
    assert content not in shown
    assert ref.sha256.encode() not in shown
    assert bytes.fromhex(ref.sha256) not in shown
    assert file.stat().st_mode & 0o777 == 0o600


async def test_a_missing_blob_is_named(root: Path, keyring: Keyring) -> None:
    ref = BlobRef(sha256="0" * 64, size=1)

    with pytest.raises(BlobMissing, match="0" * 64):
        await FileBlobs(root, keyring).get(ref)


async def test_a_wrong_size_in_a_reference_is_damage(root: Path, keyring: Keyring) -> None:
    ref = await FileBlobs(root, keyring).put(b"four")

    with pytest.raises(BlobDamaged, match="4 bytes"):
        await FileBlobs(root, keyring).get(ref.model_copy(update={"size": 5}))


@pytest.mark.parametrize("spoil", [lambda box: box[:-1], lambda box: b"", lambda box: box[:-1] + b"!"])
async def test_a_damaged_file_is_refused_and_healed_by_the_next_put(root: Path, keyring: Keyring, spoil) -> None:  # type: ignore[no-untyped-def]  # three lambdas
    ref = await FileBlobs(root, keyring).put(b"content")
    [file] = _files(root)
    file.write_bytes(spoil(file.read_bytes()))

    with pytest.raises(BlobDamaged):
        await FileBlobs(root, keyring).get(ref)
    await FileBlobs(root, keyring).put(b"content")

    assert await FileBlobs(root, keyring).get(ref) == b"content"


async def test_a_file_at_the_place_of_another_is_refused(root: Path, keyring: Keyring) -> None:
    blobs = FileBlobs(root, keyring)
    one, two = await blobs.put(b"one"), await blobs.put(b"two")
    first, second = _files(root)
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)

    for ref in (one, two):
        with pytest.raises(BlobDamaged):
            await FileBlobs(root, keyring).get(ref)


async def test_many_writers_of_the_same_content_leave_one_whole_file(root: Path, keyring: Keyring) -> None:
    content = b"x" * 400_000

    refs = await asyncio.gather(*(FileBlobs(root, keyring).put(content) for _ in range(12)))

    assert len(set(refs)) == 1
    assert len(_files(root)) == 1
    assert await FileBlobs(root, keyring).get(refs[0]) == content


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount") or "mount"
    made = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if made.returncode:
        pytest.skip("mounting a small disk needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


async def test_a_full_disk_is_told_and_leaves_no_half_file(small_disk: Path, keyring: Keyring) -> None:
    blobs = FileBlobs(small_disk / "blobs", keyring)
    kept = await blobs.put(b"small")

    with pytest.raises(OSError, match="the disk is full") as caught:
        await blobs.put(b"x" * 600_000)

    assert caught.value.errno == errno.ENOSPC
    assert len(_files(small_disk)) == 1
    assert await FileBlobs(small_disk / "blobs", keyring).get(kept) == b"small"
