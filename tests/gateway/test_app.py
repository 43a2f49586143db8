"""The gateway's pages: health tells the truth, the codec opens for the owner alone, the webhook knows its caller."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from google.protobuf import json_format
from temporalio.api.common.v1 import Payload, Payloads

from gateway.app import MAX_UPDATE_BYTES, SECRET_HEADER, build_app
from gateway.channel import Liveness
from gateway.codec_page import MAX_BODY_BYTES
from gateway.desk import DeskUnreachable
from gateway.login_page import login_routes
from gateway.owner import COOKIE, TICKET_LASTS, Owner
from runtime.codec import EncryptionCodec
from runtime.keys import Keyring

UI = "http://127.0.0.1:8233"
SECRET = "s" * 64


@dataclass
class House:
    http: httpx.AsyncClient
    owner: Owner
    codec: EncryptionCodec
    reachable: bool = True
    taken: list[object] = field(default_factory=list)
    error: Exception | None = None

    async def sealed(self) -> str:
        payload = Payload(metadata={"encoding": b"json/plain"}, data=b'"hello"')
        return json_format.MessageToJson(Payloads(payloads=await self.codec.encode([payload])))

    @property
    def bearer(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.owner.token}"}


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    owner = Owner.load(tmp_path / "gateway" / "owner-token")
    codec = EncryptionCodec(Keyring.load(tmp_path))
    houses: list[House] = []

    async def reachable() -> bool:
        return houses[0].reachable

    async def take(body: object) -> None:
        if houses[0].error is not None:
            raise houses[0].error
        houses[0].taken.append(body)

    app = build_app(
        reachable=reachable,
        liveness=lambda: {"telegram": Liveness(False, datetime(2026, 1, 1, tzinfo=UTC), "wrong token")},
        codec=codec,
        owner=owner,
        ui_origins=[UI],
        webhook_secret=SECRET,
        take=take,
        public_host="bot.example.org",
    )
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8420") as http:
        houses.append(House(http, owner, codec))
        yield houses[0]


async def test_health_is_good_while_temporal_answers_and_names_a_channel_that_does_not(house: House) -> None:
    good = await house.http.get("/health")
    house.reachable = False
    bad = await house.http.get("/health")

    assert (good.status_code, bad.status_code) == (200, 503)
    assert good.json()["detail"]["channels"]["telegram"]["detail"] == "wrong token"
    assert bad.json()["healthy"] is False


@pytest.mark.parametrize("way", ["bearer", "cookie"])
async def test_the_owner_reads_clear_text(house: House, way: str) -> None:
    headers = house.bearer if way == "bearer" else {"Cookie": f"{COOKIE}={house.owner.cookie}"}

    response = await house.http.post(
        "/codec/decode", content=await house.sealed(), headers=headers | {"Origin": UI, "X-Namespace": "default"}
    )

    assert response.status_code == 200
    assert json_format.Parse(response.text, Payloads()).payloads[0].data == b'"hello"'
    assert response.headers["Access-Control-Allow-Origin"] == UI
    assert response.headers["Access-Control-Allow-Credentials"] == "true"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic abc"},
        {"Cookie": f"{COOKIE}=wrong"},
        {"Authorization": "Bearer é".encode()},
    ],
)
async def test_nobody_else_does(house: House, headers: dict[str, str]) -> None:
    response = await house.http.post("/codec/decode", content=await house.sealed(), headers=headers)

    assert response.status_code == 401
    assert b"hello" not in response.content


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "http://localhost:8233.evil"]
)
async def test_another_page_gets_nothing_even_with_the_cookie(house: House, origin: str) -> None:
    headers = {"Origin": origin, "Cookie": f"{COOKIE}={house.owner.cookie}"}

    response = await house.http.post("/codec/decode", content=await house.sealed(), headers=headers)
    preflight = await house.http.options("/codec/decode", headers={"Origin": origin})

    assert (response.status_code, preflight.status_code) == (403, 403)
    assert "Access-Control-Allow-Origin" not in response.headers


async def test_the_preflight_of_the_ui_is_answered_for_exactly_its_origin(house: House) -> None:
    response = await house.http.options("/codec/decode", headers={"Origin": UI})

    assert response.status_code == 204
    assert response.headers["Access-Control-Allow-Origin"] == UI
    assert "x-namespace" in response.headers["Access-Control-Allow-Headers"]


async def test_encoding_works_both_ways_and_other_actions_do_not_exist(house: House) -> None:
    plain = json_format.MessageToJson(Payloads(payloads=[Payload(metadata={"encoding": b"json/plain"}, data=b"1")]))

    sealed = await house.http.post("/codec/encode", content=plain, headers=house.bearer)
    opened = await house.http.post("/codec/decode", content=sealed.content, headers=house.bearer)
    other = await house.http.post("/codec/burn", content=plain, headers=house.bearer)

    assert b"encryption" in sealed.content
    assert json_format.Parse(opened.text, Payloads()).payloads[0].data == b"1"
    assert other.status_code == 404


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"not json", 400),
        (b"\xff\xfe", 400),
        (b'{"payloads": 5}', 400),
        (b'{"payloads":[{"metadata":{"encoding":"YmluYXJ5L2VuY3J5cHRlZA=="},"data":"AAAA"}]}', 400),
        (b"x" * (MAX_BODY_BYTES + 1), 413),
    ],
)
async def test_bad_bodies_are_refused_in_words(house: House, body: bytes, code: int) -> None:
    response = await house.http.post("/codec/decode", content=body, headers=house.bearer)

    assert response.status_code == code
    assert "Traceback" not in response.text


async def test_a_login_gives_the_browser_its_cookie(house: House) -> None:
    wrong = await house.http.post("/login", data={"token": "no"})
    foreign = await house.http.post("/login", data={"token": house.owner.token}, headers={"Origin": UI})
    right = await house.http.post("/login", data={"token": house.owner.token})

    assert (wrong.status_code, foreign.status_code, right.status_code) == (401, 403, 200)
    cookie = right.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert house.owner.token not in cookie
    assert "frame-ancestors 'none'" in (await house.http.get("/login")).headers["content-security-policy"]


async def test_a_ticket_logs_in_for_ten_minutes_and_a_changed_one_never(house: House) -> None:
    now = datetime.now(UTC)
    fresh = house.owner.ticket(now)
    said = [house.owner.ticket(now - TICKET_LASTS), f"9{fresh}", fresh[:-1], "é.", "9" * 400 + ".x", "", fresh]

    answers = [await house.http.get("/login", params={"ticket": ticket}) for ticket in said]

    assert [answer.status_code for answer in answers] == [401, 401, 401, 401, 401, 401, 200]
    assert [COOKIE in answer.headers.get("set-cookie", "") for answer in answers] == [*[False] * 6, True]


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example/", "/temporalx", "/temporal@evil", ""])
def test_a_login_goes_on_to_pages_of_the_ui_only(tmp_path: Path, wanted: str) -> None:
    owner = Owner.load(tmp_path / "owner-token")
    app = FastAPI()
    app.include_router(login_routes(owner, "/temporal"))

    with TestClient(app, base_url="http://127.0.0.1:8420", follow_redirects=False) as http:
        params = {"ticket": owner.ticket(datetime.now(UTC))}
        refused = http.get("/login", params=params | {"next": wanted})
        taken = http.get("/login", params=params | {"next": "/temporal/namespaces?x=1"})

    assert (refused.status_code, refused.headers["location"]) == (303, "/temporal")
    assert taken.headers["location"] == "/temporal/namespaces?x=1"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8420", "bot.example.org"])
async def test_a_name_that_is_not_ours_is_not_served(house: House, host: str) -> None:
    response = await house.http.post("/codec/decode", content="{}", headers=house.bearer | {"Host": host})

    assert response.status_code == 421


async def test_the_webhook_takes_what_knows_both_secrets(house: House) -> None:
    update = {"update_id": 1}
    good = await house.http.post(
        f"/telegram/{SECRET}", json=update, headers={SECRET_HEADER: SECRET, "Host": "bot.example.org"}
    )
    no_header = await house.http.post(f"/telegram/{SECRET}", json=update)
    wrong_path = await house.http.post("/telegram/x", json=update, headers={SECRET_HEADER: SECRET})

    assert (good.status_code, no_header.status_code, wrong_path.status_code) == (200, 404, 404)
    assert house.taken == [update]


async def test_the_webhook_answers_200_only_when_the_update_is_safe(house: House) -> None:
    headers = {SECRET_HEADER: SECRET}
    house.error = DeskUnreachable("down")
    unsafe = await house.http.post(f"/telegram/{SECRET}", json={"update_id": 1}, headers=headers)
    house.error = None
    broken = await house.http.post(f"/telegram/{SECRET}", content=b"{", headers=headers)
    large = await house.http.post(f"/telegram/{SECRET}", content=b"x" * (MAX_UPDATE_BYTES + 1), headers=headers)

    assert (unsafe.status_code, broken.status_code, large.status_code) == (503, 400, 413)


def test_the_owners_token_is_kept_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "gateway" / "owner-token"

    first, second = Owner.load(path), Owner.load(path)

    assert first == second
    assert path.stat().st_mode & 0o077 == 0
    assert first.token not in repr(first)
