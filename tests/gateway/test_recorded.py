"""What the gateway writes down: who was let in and who was not; and the page that plays what a task did."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from audit.log import AuditLog
from audit.places import AuditPlaces
from audit.recorder import LogRecorder
from audit.storage import StorageUnusable
from contracts.audit import Event
from gateway.archive import Archive
from gateway.login_page import login_routes
from gateway.owner import COOKIE, Owner
from gateway.pairing import Pairing
from gateway.recording import audit_places
from gateway.replay_page import Replays
from gateway.store import Store, StoreUnusable
from runtime.confidential import Confidential
from runtime.keys import Keyring
from runtime.settings import Settings

TASK = "01M8QF06GKCC5E0F16P9WPBT5Q"


@dataclass
class Kept:
    """A record in a list; `full` makes it take nothing."""

    events: list[Event] = field(default_factory=list)
    full: bool = False

    async def record(self, event: Event) -> None:
        if self.full:
            raise StorageUnusable("the disk is full")
        self.events.append(event)


class Forgotten(Client):
    """A server that no longer has any history."""

    def __init__(self) -> None:
        return None

    def get_workflow_handle(self, *_: object, **__: object) -> WorkflowHandle:  # type: ignore[type-arg]  # of nothing
        raise RPCError("no such workflow", RPCStatusCode.NOT_FOUND, b"")


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner.load(tmp_path / "gateway" / "owner-token")


@pytest.fixture
async def replays(tmp_path: Path) -> Replays:
    """Of an installation with one task's line in its log."""
    settings = Settings(data_dir=tmp_path / "data")
    keyring = Keyring.load(settings.data_dir)
    log = await AuditLog.open(audit_places(settings))
    recorder = LogRecorder(log, Confidential(keyring, str).seal)
    data, words = {"verdict": "deny", "tool": "shell", "risk": 90}, {"summary": "<b>rm</b>", "reasons": []}
    await recorder.record(
        Event(kind="verdict", actor="telegram:7", task_id=TASK, call_id="1.0", data={**data}, words={**words})
    )
    await log.close()
    replays = Replays(Archive(settings, keyring))
    replays.connect(Forgotten())
    return replays


@pytest.fixture
async def http(owner: Owner, kept: Kept, replays: Replays) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    app.include_router(login_routes(owner, "/temporal", kept))
    app.include_router(replays.routes(owner))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8420") as http:
        yield http


async def test_each_login_is_written_down_without_what_was_said(
    http: httpx.AsyncClient, owner: Owner, kept: Kept
) -> None:
    await http.post("/login", data={"token": "wrong words"})
    await http.get("/login", params={"ticket": "0.wrong"})
    await http.get("/login")
    await http.post("/login", data={"token": owner.token})

    assert [(event.kind, event.data["means"]) for event in kept.events] == [
        ("login.refused", "token"),
        ("login.refused", "ticket"),
        ("login", "token"),
    ]
    assert "wrong words" not in str(kept.events)
    assert owner.token not in str(kept.events)


async def test_a_login_that_cannot_be_written_down_is_none(http: httpx.AsyncClient, owner: Owner, kept: Kept) -> None:
    kept.full = True

    refused = await http.post("/login", data={"token": owner.token})

    assert refused.status_code == 503
    assert COOKIE not in refused.headers.get("set-cookie", "")


async def test_a_pairing_is_written_down_or_it_is_none(store: Store, kept: Kept) -> None:
    pairing = Pairing(store, recorder=kept)
    code = await pairing.new_code()
    await pairing.claim("telegram", "1", "1", "Ann", "WRONGWRO")
    kept.full = True
    with pytest.raises(StoreUnusable):
        await pairing.claim("telegram", "2", "2", "Bob", code)
    kept.full = False
    await pairing.claim("telegram", "3", "3", "Cid", await pairing.new_code())

    assert [(event.kind, event.actor) for event in kept.events] == [
        ("pairing.refused", "telegram:1"),
        ("pairing", "telegram:3"),
    ]
    assert await pairing.person("telegram", "2") is None


async def test_a_recording_is_for_the_owner_alone(http: httpx.AsyncClient, owner: Owner) -> None:
    stranger = await http.get(f"/replay/{TASK}")
    entered = await http.post(stranger.headers["location"], data={"token": owner.token})
    shown = await http.get(f"/replay/{TASK}", headers={"Cookie": f"{COOKIE}={owner.cookie}"})

    assert (stranger.status_code, entered.headers["location"]) == (303, f"/replay/{TASK}")
    assert shown.status_code == 200
    assert "&lt;b&gt;rm&lt;/b&gt;" in shown.text
    policy = shown.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert policy.endswith("frame-ancestors 'none'")


@pytest.mark.parametrize("named", ["01M8QF06GKCC5E0F16P9WPBT5X", "..", "a.b", "x" * 65])
async def test_of_no_task_there_is_no_recording(http: httpx.AsyncClient, owner: Owner, named: str) -> None:
    answer = await http.get(f"/replay/{named}", headers={"Cookie": f"{COOKIE}={owner.cookie}"})

    assert answer.status_code == 404


async def test_a_log_that_cannot_be_read_is_said_to_be(http: httpx.AsyncClient, owner: Owner, tmp_path: Path) -> None:
    audit_places(Settings(data_dir=tmp_path / "data")).database.write_bytes(b"nonsense" * 1_000)

    answer = await http.get(f"/replay/{TASK}", headers={"Cookie": f"{COOKIE}={owner.cookie}"})

    assert answer.status_code == 503


def test_the_head_may_lie_on_another_disk(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", audit_head=tmp_path / "stick" / "asos.head")

    places = audit_places(settings)

    assert places == AuditPlaces(
        tmp_path / "data/audit/audit.db", tmp_path / "stick/asos.head", tmp_path / "data/keys/audit-signing.pem"
    )
    assert places.public_key == tmp_path / "stick/asos.head.pub"
