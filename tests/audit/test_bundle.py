"""A bundle proves on its own what happened, and one changed byte in it is named."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from audit.bundle import CHAIN, HEAD, KEY, MANIFEST, SIGNATURE, Manifest, manifest_statement, new_bundle
from audit.bundle_check import checked_bundle
from audit.log import AuditLog
from audit.places import AuditPlaces
from audit.signing import Signer
from audit.verifying import Broken, Intact
from tests.audit.logs import event, fill, filled

NOTE = "files/note.txt"

Members = dict[str, bytes]


async def exported(places: AuditPlaces, path: Path, task_id: str = "task-1") -> str:
    """A bundle of a task's records and one file; gives the fingerprint of its key."""
    signer = Signer.load(places.private_key)
    with new_bundle(path) as bundle:
        count = bundle.add_audit(places, signer, task_id)
        bundle.add(NOTE, [b"a file", b" in two pieces"], "note.txt")
        bundle.seal(signer, task_id, plain=True, records=count)
    return signer.public.fingerprint


@pytest.fixture
async def bundle(tmp_path: Path) -> tuple[Path, str]:
    places = AuditPlaces.below(tmp_path / "log")
    await filled(places, 9)
    path = tmp_path / "task.zip"
    return path, await exported(places, path)


def unpacked(path: Path) -> Members:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path: Path, members: Members) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_a_bundle_checks_with_nothing_but_the_fingerprint(bundle: tuple[Path, str]) -> None:
    path, fingerprint = bundle

    found = checked_bundle(path, fingerprint)

    assert isinstance(found, Intact)
    assert (found.records, found.fingerprint) == (4, fingerprint)
    assert path.stat().st_mode & 0o777 == 0o600


def test_of_other_tasks_records_a_bundle_holds_only_digests(bundle: tuple[Path, str]) -> None:
    chain = unpacked(bundle[0])[CHAIN].decode().splitlines()

    assert json.loads(chain[0])["sequence"] == 2, "what was before the task's first record is one digest"
    assert [json.loads(line)["task_id"] for line in chain[1:] if line.startswith("{")] == ["task-1"] * 4
    assert "task-0" not in "".join(chain)


async def test_a_task_without_records_and_an_empty_log_have_bundles_too(tmp_path: Path) -> None:
    places = AuditPlaces.below(tmp_path / "log")
    await filled(places, 0)
    empty, after = tmp_path / "empty.zip", tmp_path / "after.zip"

    fingerprint = await exported(places, empty, "nobody")
    await filled(places, 3)
    await exported(places, after, "nobody")

    for path in (empty, after):
        found = checked_bundle(path, fingerprint)
        assert isinstance(found, Intact)
        assert found.records == 0


async def test_what_is_written_while_a_bundle_is_made_is_not_in_it(tmp_path: Path) -> None:
    places = AuditPlaces.below(tmp_path / "log")
    log = await AuditLog.open(places)
    await fill(log, 4)
    head = places.head.read_bytes()
    await log.append(event(9, "task-1"))
    await log.close()
    places.head.write_bytes(head)

    fingerprint = await exported(places, tmp_path / "task.zip")

    found = checked_bundle(tmp_path / "task.zip", fingerprint)
    assert isinstance(found, Intact)
    assert found.records == 2


def edited(name: str, old: bytes, new: bytes) -> Callable[[Members], None]:
    def edit(members: Members) -> None:
        assert old in members[name]
        members[name] = members[name].replace(old, new, 1)

    return edit


def without(name: str) -> Callable[[Members], None]:
    def remove(members: Members) -> None:
        del members[name]

    return remove


def with_another(name: str) -> Callable[[Members], None]:
    return lambda members: members.update({name: b"foreign"})


@pytest.mark.parametrize(
    ("edit", "reason", "named"),
    [
        (edited(NOTE, b"two", b"too"), "member_altered", NOTE),
        (edited(CHAIN, b'"number":1', b'"number":8'), "member_altered", CHAIN),
        (edited(HEAD, b'"count":9', b'"count":8'), "member_altered", HEAD),
        (edited(MANIFEST, b'"records":4', b'"records":3'), "manifest_broken", "signature"),
        (edited(SIGNATURE, b"\n", b""), "manifest_broken", "signature"),
        (edited(KEY, b"PUBLIC", b"PUBLIK"), "key_broken", "public key"),
        (with_another("files/more"), "member_unlisted", "files/more"),
        (with_another("../outside"), "member_unlisted", "../outside"),
    ]
    + [(without(name), "member_missing", name) for name in (NOTE, CHAIN, HEAD, MANIFEST, SIGNATURE, KEY)],
)
def test_an_edit_is_named(bundle: tuple[Path, str], edit: Callable[[Members], None], reason: str, named: str) -> None:
    path, fingerprint = bundle
    members = unpacked(path)
    edit(members)
    packed(path, members)

    found = checked_bundle(path, fingerprint)

    assert isinstance(found, Broken)
    assert found.reason == reason
    assert named in found.detail


def test_a_bundle_signed_with_another_key_is_told_by_the_fingerprint(bundle: tuple[Path, str]) -> None:
    path, fingerprint = bundle
    members, other = unpacked(path), Signer.new()
    members[KEY] = other.public.pem()
    manifest = Manifest.model_validate_json(members[MANIFEST])
    members[MANIFEST] = manifest.content()
    members[SIGNATURE] = other.sign(manifest_statement(manifest.content())).encode() + b"\n"
    packed(path, members)

    found = checked_bundle(path, fingerprint)

    assert isinstance(found, Broken)
    assert found.reason == "key_swapped"


async def test_a_record_left_out_breaks_the_proof_even_if_the_manifest_is_signed_again(tmp_path: Path) -> None:
    places = AuditPlaces.below(tmp_path / "log")
    await filled(places, 9)
    path, signer = tmp_path / "task.zip", Signer.load(places.private_key)
    await exported(places, path)
    members = unpacked(path)
    lines = members[CHAIN].splitlines(keepends=True)
    with new_bundle(path) as bundle:
        for name in (HEAD, KEY):
            bundle.add(name, [members[name]])
        bundle.add(CHAIN, [*lines[:3], *lines[4:]])
        bundle.seal(signer, "task-1", plain=True, records=3)

    found = checked_bundle(path, signer.public.fingerprint)

    assert isinstance(found, Broken)
    assert (found.reason, found.sequence) == ("moved", 5)


def test_two_members_of_one_name_are_refused(bundle: tuple[Path, str]) -> None:
    path, fingerprint = bundle
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(NOTE, b"another")

    found = checked_bundle(path, fingerprint)

    assert isinstance(found, Broken)
    assert (found.reason, found.detail) == ("member_unlisted", NOTE)


def test_what_is_no_bundle_is_said_to_be_none(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(bytes(range(256)) * 16)

    found = checked_bundle(path)

    assert isinstance(found, Broken)
    assert found.reason == "bundle_unreadable"
