"""The past of a real installation: read, checked, taken out and played, and what happens when somebody changes it."""

import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from audit.places import AuditPlaces
from runtime.paths import DataPaths
from tests.e2e.stack import Installation
from tests.e2e.test_main_job import RISKY

pytestmark = pytest.mark.timeout(400)


def test_a_task_s_past_is_taken_out_checked_played_and_guarded(running: Installation, tmp_path: Path) -> None:
    asked = running.asos("ask", RISKY, "--no-wait", "--json")
    task = asked.json["task_id"]
    assert running.asos("approve", task).code == 0
    running.until(lambda status: status["outcome"], task)

    lines = [json.loads(line) for line in running.asos("audit", "list", task, "--json").out.splitlines()]
    whole = running.asos("audit", "verify", "--json")
    sealed, plain = tmp_path / "sealed.zip", tmp_path / "plain.zip"
    exported = running.asos("audit", "export", task, "-o", str(sealed))
    assert running.asos("audit", "export", task, "-o", str(plain), "--plain").code == 0

    kinds = [line["kind"] for line in lines]
    assert kinds.index("verdict") < kinds.index("effect.begun") < kinds.index("effect.ended")
    assert any("print" in str(line["words"]) for line in lines)
    assert not any("print" in str({**line, "words": ""}) for line in lines), "a person's words do not lie open"
    assert (whole.code, whole.json["kind"]) == (0, "intact")
    fingerprint = whole.json["fingerprint"]
    assert fingerprint in exported.out
    elsewhere = Installation(tmp_path / "nothing", running.environment | {"ASOS_DATA_DIR": str(tmp_path / "nothing")})
    for bundle in (sealed, plain):
        assert elsewhere.asos("audit", "verify", str(bundle), "--key", fingerprint).code == 0
    assert not (tmp_path / "nothing").exists(), "checking needs nothing, and makes nothing"
    assert b"print" not in b"".join(_contents(sealed).values())
    said = _contents(plain)
    assert b"print" in said["history/001.json"] + said["audit/words.jsonl"]
    assert b"Content-Security-Policy" in said["replay.html"]
    assert "gone" in said["replay.html"].decode()
    _cut_its_end(running, tmp_path, fingerprint)
    _flip_a_byte(running, tmp_path, fingerprint)


@pytest.mark.chromium
def test_the_recording_of_a_task_plays_in_a_browser_and_asks_nobody_for_anything(
    running: Installation, tmp_path: Path
) -> None:
    task = running.asos("ask", "/run echo played", "--json").json["task_id"]
    page = tmp_path / "page.html"
    assert running.asos("audit", "replay", task, "-o", str(page)).code == 0

    seen = _opened(page)

    assert "played" in seen.words
    assert seen.complaints == []
    assert seen.requests == [page.as_uri()]


@dataclass(frozen=True)
class _Seen:
    """What a browser made of a page."""

    words: str
    complaints: list[str]
    requests: list[str]


def _opened(page: Path) -> _Seen:
    complaints: list[str] = []
    requests: list[str] = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        tab = browser.new_page()
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(page.as_uri())
        words = tab.inner_text("body")
        browser.close()
    return _Seen(words, complaints, requests)


def _contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _cut_its_end(running: Installation, tmp_path: Path, fingerprint: str) -> None:
    there, places = _copied(running, tmp_path / "cut")
    with sqlite3.connect(places.database) as connection:
        connection.execute("DROP TRIGGER records_remain")
        connection.execute("DELETE FROM records WHERE sequence = (SELECT MAX(sequence) FROM records)")
    connection.close()

    said = there.asos("audit", "verify", "--key", fingerprint)

    assert said.code == 1
    assert "is missing" in said.err


def _flip_a_byte(running: Installation, tmp_path: Path, fingerprint: str) -> None:
    there, places = _copied(running, tmp_path / "flipped")
    with closing(sqlite3.connect(places.database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(places.database.read_bytes())
    content[content.index(b'"sequence":3,') - 5] ^= 1
    places.database.write_bytes(content)

    said = there.asos("audit", "verify", "--key", fingerprint)

    assert said.code == 1
    assert "record 3" in said.err


def _copied(running: Installation, folder: Path) -> tuple[Installation, AuditPlaces]:
    """Its record elsewhere: the one that runs is still needed."""
    copy = DataPaths(folder)
    for name in ("audit", "audit-head", "keys"):
        shutil.copytree(running.data_dir / name, folder / name)
    there = Installation(folder, running.environment | {"ASOS_DATA_DIR": str(folder)})
    return there, AuditPlaces(copy.audit_log, copy.audit_head, copy.audit_key)
