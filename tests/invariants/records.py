"""Promises of the audit, and how each is broken."""

import sqlite3
from contextlib import suppress
from typing import Any

from activities.acting import Acting
from activities.judging import Judging
from audit import bundle_check, verifying
from audit.chain import FIRST_PREVIOUS, Head, digest_of, linked
from audit.places import AuditPlaces
from audit.recorder import LogRecorder
from audit.replay import page
from audit.signing import PublicKey
from audit.storage import StorageUnusable
from audit.verifying import Broken, Intact
from audit.writing import Writer
from contracts.activities import JudgeOutcome, JudgeRequest
from contracts.audit import Event
from contracts.ledger import Begun
from gateway import login_page
from gateway.pairing import Pairing
from tests.invariants.hosts import Anything
from tests.invariants.switch import Switch, always, always_soon, in_vain, replaced
from workflows.asking import Asking

Row = tuple[Any, ...]

_row, _checked, _public_key = verifying._row, verifying._checked, verifying._public_key


def _by_the_stored_digest(row: Row, count: int, _: str, __: PublicKey) -> str:
    return str(row[2], "ascii")


def _whoever_signed(row: Row, count: int, previous: str, key: PublicKey) -> str | Broken:
    found = _row(row, count, previous, key)
    is_forged = isinstance(found, Broken) and found.reason == "forged"
    return linked(previous, digest_of(row[1])) if is_forged else found


def _as_far_as_it_goes(connection: sqlite3.Connection, head: Head, key: PublicKey) -> Intact | Broken:
    """Whatever the head says."""
    found = connection.execute("SELECT sequence, digest FROM records ORDER BY sequence DESC LIMIT 1").fetchone()
    count, digest = found or (0, FIRST_PREVIOUS)
    return _checked(connection, head.model_copy(update={"count": count, "digest": digest}), key)


def _by_any_key(places: AuditPlaces, _: str) -> PublicKey | Broken:
    return _public_key(places, "")


def _wherever_it_ends(_: Writer, connection: sqlite3.Connection, __: Head) -> tuple[int, str]:
    found = connection.execute("SELECT sequence, digest FROM records ORDER BY sequence DESC LIMIT 1").fetchone()
    return found or (0, FIRST_PREVIOUS)


_record = LogRecorder.record


async def _open_to_all(recorder: LogRecorder, event: Event) -> None:
    await _record(recorder, event.model_copy(update={"data": event.data | event.words}))


async def _if_it_can_be(recorder: LogRecorder, event: Event) -> None:
    with suppress(StorageUnusable):
        await _record(recorder, event)


async def _begun_in_silence(acting: Acting, run: Any) -> object:
    call = run.call
    await acting._parts.ledger.begin("task1", call.call_id, call.args_sha256, call.tool, "here")
    return Begun()


async def _judged_in_silence(judging: Judging, request: JudgeRequest) -> JudgeOutcome:
    return (await judging._examiner.examine(request)).outcome


LOG = "tests/audit/test_log.py"
TAMPERING = f"{LOG}::test_tampering_is_named"
RECORDER = "tests/audit/test_recorder.py"
BUNDLE = "tests/audit/test_bundle.py"
RECORDED = "tests/gateway/test_recorded.py"
RECORDING = "tests/tools/test_recording.py"

RECORDS = (
    Switch(
        "an edited record is named",
        f"{TAMPERING}[tamper-3-altered]",
        replaced(verifying, "_row", _by_the_stored_digest),
    ),
    Switch(
        "a record that this key has not signed is named",
        f"{TAMPERING}[tamper-3-forged]",
        replaced(verifying, "_row", _whoever_signed),
    ),
    Switch(
        "an end that was cut off is named",
        f"{TAMPERING}[tamper-3-cut]",
        replaced(verifying, "_checked", _as_far_as_it_goes),
    ),
    Switch(
        "an older copy that went on elsewhere is named",
        f"{LOG}::test_an_older_copy_that_went_on_elsewhere_is_noticed",
        replaced(verifying, "_checked", _as_far_as_it_goes),
    ),
    Switch(
        "a log of another key is named",
        f"{LOG}::test_a_whole_log_of_another_key_is_told_by_the_fingerprint",
        replaced(verifying, "_public_key", _by_any_key),
    ),
    Switch(
        "nothing is added to a log that does not fit its head",
        f"{LOG}::test_what_is_done_while_the_log_is_open_stops_it_too",
        replaced(Writer, "_end", _wherever_it_ends),
    ),
    Switch(
        "what cannot be written down is an error",
        f"{RECORDER}::test_a_log_that_takes_nothing_more_ends_the_writing_and_does_not_hang",
        replaced(LogRecorder, "record", _if_it_can_be),
    ),
    Switch(
        "no words lie open",
        f"{RECORDER}::test_words_are_sealed_and_facts_lie_open",
        replaced(LogRecorder, "record", _open_to_all),
    ),
    Switch(
        "an effect is written down before it may happen",
        f"{RECORDING}::test_without_a_record_of_its_beginning_nothing_happens",
        replaced(Acting, "_begun", _begun_in_silence),
    ),
    Switch(
        "a verdict is written down before it counts",
        f"{RECORDING}::test_without_a_record_of_the_verdict_there_is_none",
        replaced(Judging, "judge", _judged_in_silence),
    ),
    Switch(
        "a question to the person is written down, however it ends",
        "tests/workflows/test_approvals.py::test_a_question_of_a_stopped_task_is_on_record_as_given_up",
        replaced(Asking, "_note", in_vain),
    ),
    Switch(
        "a login is written down or it is none",
        f"{RECORDED}::test_a_login_that_cannot_be_written_down_is_none",
        replaced(login_page, "_noted", always_soon(True)),
    ),
    Switch(
        "a pairing is written down or it is none",
        f"{RECORDED}::test_a_pairing_is_written_down_or_it_is_none",
        replaced(Pairing, "claim", Pairing._claimed),
    ),
    Switch(
        "a bundle whose member was edited is refused",
        f"{BUNDLE}::test_an_edit_is_named",
        replaced(bundle_check, "_digest", always(Anything())),
    ),
    Switch(
        "a bundle that leaves a record out is refused",
        f"{BUNDLE}::test_a_record_left_out_breaks_the_proof_even_if_the_manifest_is_signed_again",
        replaced(bundle_check, "_chain", always(Intact(records=0, head=FIRST_PREVIOUS))),
    ),
    Switch(
        "nothing that a task has met becomes part of the page that plays it",
        "tests/audit/test_replay.py::test_nothing_that_a_task_met_becomes_part_of_the_page",
        replaced(page, "escape", lambda text: text),
    ),
)
