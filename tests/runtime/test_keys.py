"""The keyring seals, opens, rotates, and refuses whatever is not as it should be."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.keys import Keyring, KeyringUnusable, SealBroken, UnknownKey
from runtime.paths import DataPaths


@pytest.fixture(scope="module")
def keyring(tmp_path_factory: pytest.TempPathFactory) -> Keyring:
    return Keyring.load(tmp_path_factory.mktemp("keys"))


@given(plain=st.binary(max_size=500), associated=st.binary(max_size=50))
def test_what_is_sealed_opens_at_its_place(keyring: Keyring, plain: bytes, associated: bytes) -> None:
    box = keyring.seal(plain, associated)

    assert keyring.unseal(box, associated) == plain


def test_a_box_does_not_open_elsewhere(keyring: Keyring) -> None:
    box = keyring.seal(b"plain", b"here")

    with pytest.raises(SealBroken):
        keyring.unseal(box, b"there")


def test_the_same_content_looks_different_each_time(keyring: Keyring) -> None:
    assert keyring.seal(b"plain", b"") != keyring.seal(b"plain", b"")


def test_no_byte_can_be_changed_or_cut(keyring: Keyring) -> None:
    box = keyring.seal(b"plain", b"")

    for place in range(len(box)):
        changed = box[:place] + bytes((box[place] ^ 1,)) + box[place + 1 :]
        with pytest.raises((SealBroken, UnknownKey)):
            keyring.unseal(changed, b"")
        with pytest.raises((SealBroken, UnknownKey)):
            keyring.unseal(box[:place], b"")


@given(junk=st.binary(max_size=80))
def test_junk_is_no_box(keyring: Keyring, junk: bytes) -> None:
    with pytest.raises((SealBroken, UnknownKey)):
        keyring.unseal(junk, b"")


def test_after_a_rotation_old_boxes_open_and_new_ones_use_the_new_key(tmp_path: Path) -> None:
    keyring = Keyring.load(tmp_path)
    old = keyring.seal(b"old", b"")
    name = keyring.name(b"content")

    key_id = keyring.rotate()

    again = Keyring.load(tmp_path)
    assert again.active_key_id == key_id
    assert again.unseal(old, b"") == b"old"
    assert key_id.encode() in again.seal(b"new", b"")
    assert again.name(b"content") == name


def test_a_running_process_learns_of_a_rotation(tmp_path: Path) -> None:
    running = Keyring.load(tmp_path)
    other = Keyring.load(tmp_path)
    other.rotate()

    assert running.unseal(other.seal(b"new", b""), b"") == b"new"


def test_a_key_of_another_installation_is_named(tmp_path: Path) -> None:
    here, there = Keyring.load(tmp_path / "here"), Keyring.load(tmp_path / "there")

    with pytest.raises(UnknownKey, match=there.active_key_id):
        here.unseal(there.seal(b"plain", b""), b"")


def test_processes_that_start_at_once_share_one_keyring(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        rings = list(pool.map(lambda _: Keyring.load(tmp_path), range(8)))

    assert len({ring.active_key_id for ring in rings}) == 1
    assert [path.name for path in DataPaths(tmp_path).keyring.parent.iterdir()] == ["keyring.json"]


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    Keyring.load(tmp_path)

    path = DataPaths(tmp_path).keyring
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_file_that_others_can_read_is_refused_with_the_remedy(tmp_path: Path) -> None:
    Keyring.load(tmp_path)
    DataPaths(tmp_path).keyring.chmod(0o644)

    with pytest.raises(KeyringUnusable, match="chmod 600"):
        Keyring.load(tmp_path)


@pytest.mark.parametrize("content", ["", "{}", "not json", '{"active":"a","keys":{},"naming":"x"}', "\x00"])
def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path: Path, content: str) -> None:
    Keyring.load(tmp_path)
    path = DataPaths(tmp_path).keyring
    path.write_text(content)

    with pytest.raises(KeyringUnusable, match="damaged"):
        Keyring.load(tmp_path)

    assert path.read_text() == content


def test_a_missing_file_beside_kept_data_is_not_replaced(tmp_path: Path) -> None:
    Keyring.load(tmp_path)
    paths = DataPaths(tmp_path)
    paths.prepare()
    (paths.blobs / "ab").mkdir()
    paths.keyring.unlink()

    with pytest.raises(KeyringUnusable, match="restore"):
        Keyring.load(tmp_path)


def test_no_key_shows_in_the_keyring_or_its_errors(tmp_path: Path) -> None:
    keyring = Keyring.load(tmp_path)
    path = DataPaths(tmp_path).keyring
    secret = path.read_text().split('"naming":"')[1][:43]
    path.write_text(path.read_text().replace("active", "passive"))

    with pytest.raises(KeyringUnusable) as caught:
        Keyring.load(tmp_path)

    assert secret not in repr(keyring) + repr(caught.value) + str(caught.value.__cause__)
