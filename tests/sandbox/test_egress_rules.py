"""Which requests the rules let pass, what the limits do, and how a refusal is put."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from contracts.egress import EgressRules
from contracts.messages import HostGrant
from policy.file import parse
from policy.passage import closing
from sandbox import resolving
from sandbox.blocklist import Blocklist
from sandbox.grants import Grants, canonical_host
from sandbox.house import HouseRules
from sandbox.metering import Bucket, Meter, Meters
from sandbox.rules import Laws, Refused
from tests.sandbox.proxies import connect, get, origin, proxy, saying

CASES = Path(__file__).parents[1] / "policy" / "cases" / "urls.jsonl"
LISTED = (
    "github.com",
    "*.github.com",
    "bank.example",
    "*.bank.example",
    "api.allowed.example",
    "xn--bcher-kva.example",
)
NO_CONTENT = b"HTTP/1.1 204 No Content\r\n\r\n"


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def laws(rules: EgressRules, *grants: HostGrant) -> Laws:
    return Laws(rules, Grants(grants), Blocklist())


def outcome(found: HostGrant | Refused) -> str:
    return found.code if isinstance(found, Refused) else "open"


@pytest.mark.parametrize(
    ("blocked", "host", "expected"),
    [
        ("bad.example", "bad.example", "blocked"),
        ("bad.example", "a.b.bad.example", "blocked"),
        ("BAD.example.", "x.bad.example", "blocked"),
        ("bad.example", "notbad.example", "open"),
        ("bad.example", "bad.example.org", "open"),
        ("*.bad.example", "bad.example", "blocked"),
        ("*", "any.example", "blocked"),
        ("例子.测试", "a.xn--fsqu00a.xn--0zwm56d", "blocked"),
        ("0.0.4", "1.0.0.4", "open"),
        ("1.0.0.4", "1.0.0.4", "blocked"),
        ("2606:4700::1111", "2606:4700::1111", "blocked"),
    ],
)
def test_a_block_takes_in_all_below_the_name_and_wins_over_every_grant(blocked: str, host: str, expected: str) -> None:
    grants = [HostGrant(host="*"), HostGrant(host=host), HostGrant(host=host, address="127.0.0.1:1")]
    rules = EgressRules(blocked=(blocked,), allowed=(HostGrant(host=host),))

    assert outcome(laws(rules, *grants).permitted(host, 443, "CONNECT")) == expected


@pytest.mark.parametrize("place", [0, 1, 2])
async def test_one_private_address_among_several_closes_the_name(place: int) -> None:
    addresses = ["8.8.8.8", "8.8.4.4"]
    addresses.insert(place, "10.0.0.1")
    grant = HostGrant(host="a.example")

    async def resolve(_host: str, _port: int) -> Sequence[str]:
        return addresses

    found = await resolving.located(laws(EgressRules(), grant), grant, "a.example", 443, resolve)

    assert isinstance(found, Refused)
    assert found.code == "not_public"


@pytest.mark.parametrize(
    ("method", "port", "expected"),
    [("GET", 80, "open"), ("POST", 80, "open"), ("DELETE", 80, "method"), ("CONNECT", 443, "method"),
     ("GET", 8080, "port"), ("GET", 81, "not_allowed"), ("get", 80, "method"), (None, 443, "open")],
)  # fmt: skip
def test_methods_and_ports_narrow_what_grants_open(method: str | None, port: int, expected: str) -> None:
    grants = [HostGrant(host="a.example", port=each, methods=("GET",)) for each in (80, 443, 8080)]
    rules = EgressRules(
        methods=("GET", "POST"), ports=(80, 443), allowed=(HostGrant(host="*.example", port=80, methods=("POST",)),)
    )

    assert outcome(laws(rules, *grants).permitted("a.example", port, method)) == expected


def test_the_closest_grant_decides_about_the_address() -> None:
    pinned = HostGrant(host="a.example", address="127.0.0.1:1")
    rules = EgressRules(allowed=(HostGrant(host="a.example"),))

    assert laws(rules, HostGrant(host="*"), pinned).permitted("a.example", 443, "CONNECT") == pinned


@pytest.mark.parametrize(
    ("rules", "request_", "status", "reason", "said"),
    [
        (EgressRules(blocked=("site.test",)), get("http://site.test/"), 403, "blocked", b"egress.blocked: site.test"),
        (EgressRules(ports=(443,)), get("http://site.test/"), 403, "port", b"Port 80 is closed"),
        (EgressRules(methods=("GET",)), get("http://site.test/", method="DELETE"), 403, "method", b"method DELETE"),
        (EgressRules(methods=("GET",)), connect("site.test:443"), 403, "method", b"add CONNECT"),
        (EgressRules(bytes_up=0), get("http://site.test/"), 403, "bytes_up", b"has sent as much"),
        (EgressRules(bytes_down=0), get("http://site.test/"), 403, "bytes_down", b"has received as much"),
        (EgressRules(inspect=("site.test",)), connect("site.test:443"), 403, "uninspected", b"egress.inspect"),
        (EgressRules(requests_per_minute=0.5), get("http://site.test/") * 2, 429, "request_rate", b"0.5 a minute"),
    ],
)
async def test_every_refusal_names_its_reason_and_the_remedy(
    rules: EgressRules, request_: bytes, status: int, reason: str, said: bytes
) -> None:
    async with saying(NO_CONTENT) as site:
        tunnel = site.grant.model_copy(update={"port": 443})
        async with proxy(site.grant, tunnel, house=HouseRules(rules=lambda: rules)) as it:
            answer = await it.ask(request_)

    assert b"HTTP/1.1 %d " % status in answer
    assert b"X-Asos-Reason: %s\r\n" % reason.encode() in answer
    assert said in answer
    assert it.records[-1].reason == reason
    assert (b"Retry-After: 1" in answer) is (status == 429)


@pytest.mark.parametrize(
    ("role", "request_", "reason"),
    [
        ("owner", get("http://site.test/"), "allowed"),
        ("owner", get("http://site.test/closed"), "blocked"),
        ("owner", get("http://site.test/a/..//CLOSED;x/y?z"), "blocked"),
        ("owner", connect("site.test:443"), "blocked_part"),
        ("member", get("http://site.test/closed"), "allowed"),
        ("guest", get("http://site.test/"), "blocked"),
        ("guest", connect("site.test:443"), "blocked"),
        ("", get("http://site.test/"), "blocked"),
        ("removed", connect("site.test:443"), "blocked"),
    ],
)
async def test_the_way_out_holds_to_what_a_role_never_may(role: str, request_: bytes, reason: str) -> None:
    roles = {"owner": "site.test/closed", "member": "other.test", "guest": "site.test"}
    text = "".join(
        f"  - role: {name}\n    permissions: {{browser: {{blocked: [{block}]}}}}\n" for name, block in roles.items()
    )
    policy = parse(f"roles:\n{text}", "test")

    def closes(role: str, host: str, path: str | None) -> str | None:
        found = closing(policy, role, host, path)
        return found.text if found else None

    async with saying(NO_CONTENT) as site:
        tunnel = site.grant.model_copy(update={"port": 443})
        async with proxy(site.grant, tunnel, house=HouseRules(closes=closes)) as it:
            it.egress.role = role
            answer = await it.ask(request_)
            records = await it.recorded(1)

    assert [one.reason for one in records] == [reason]
    assert (b"permissions.browser.blocked" in answer) is (reason != "allowed")


async def test_an_edited_rule_counts_for_the_next_request() -> None:
    rules = [EgressRules()]
    async with saying(NO_CONTENT) as site, proxy(house=HouseRules(rules=lambda: rules[0])) as it:
        await it.ask(get("http://site.test/"))
        rules[0] = EgressRules(allowed=(site.grant,))
        await it.ask(get("http://site.test/"))
        rules[0] = EgressRules(allowed=(site.grant,), blocked=("test",))
        await it.ask(get("http://site.test/"))

    assert [one.reason for one in it.records] == ["not_allowed", "allowed", "blocked"]


async def test_an_address_that_is_blocked_is_closed_under_every_name() -> None:
    rules = EgressRules(blocked=("8.8.4.4",))
    names = {"a.example": ["8.8.4.4"], "b.example": ["::ffff:8.8.4.4"]}
    async with proxy(HostGrant(host="*"), names=names, house=HouseRules(rules=lambda: rules)) as it:
        await it.ask(connect("a.example:443"))
        await it.ask(connect("b.example:443"))

    assert [one.reason for one in it.records] == ["blocked", "blocked"]


async def test_traffic_beyond_the_limit_is_cut_and_the_total_outlasts_the_process(tmp_path: Path) -> None:
    rules = EgressRules(bytes_up=100, bytes_down=1_000)
    house = HouseRules(rules=lambda: rules, meters=Meters(tmp_path))
    endless = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5_000
    async with saying(endless) as site, origin() as port:
        tunnel = HostGrant(host="far.test", address=f"127.0.0.1:{port}")
        async with proxy(site.grant, tunnel, house=house, meter=house.meters.of("t1")) as it:
            up = await it.ask(connect("far.test:443") + b"echo\n" + b"y" * 200)
        async with proxy(site.grant, house=house, meter=Meters(tmp_path).of("t1")) as later:
            same_task = await later.ask(get("http://site.test/"))
        async with proxy(site.grant, house=house, meter=Meters(tmp_path).of("t2")) as other:
            down = await other.ask(get("http://site.test/"))
            again = await other.ask(get("http://site.test/"))

    assert up == b"HTTP/1.1 200 Connection established\r\n\r\n"
    assert b"X-Asos-Reason: bytes_up\r\n" in same_task
    assert len(down) <= 1_100
    assert b"X-Asos-Reason: bytes_down\r\n" in again
    assert [one.reason for one in (*it.records, *later.records, *other.records)] == [
        "bytes_up", "bytes_up", "bytes_down", "bytes_down",
    ]  # fmt: skip


async def test_what_is_announced_as_too_long_is_refused_in_words_and_the_rest_still_passes() -> None:
    rules = EgressRules(bytes_up=10, bytes_down=10)
    house = HouseRules(rules=lambda: rules)
    async with saying(b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n" + b"x" * 11) as big, proxy(house=house) as it:
        it.egress.grants.add([big.grant])
        down = await it.ask(get("http://site.test/"))
        up = await it.ask(get("http://site.test/", "Content-Length: 11", method="PUT") + b"y" * 11)
        big.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" + b"x" * 9
        fitting = await it.ask(get("http://site.test/", "Content-Length: 9", method="PUT") + b"y" * 9)

    assert b"X-Asos-Reason: bytes_down\r\n" in down
    assert b"X-Asos-Reason: bytes_up\r\n" in up
    assert fitting.endswith(b"x" * 9)
    assert [one.reason for one in it.records] == ["bytes_down", "bytes_up", "allowed"]


async def test_requests_are_let_through_again_as_time_passes() -> None:
    clock, rules = Clock(), EgressRules(requests_per_minute=2)
    house, meter = HouseRules(rules=lambda: rules), Meter(clock=clock)
    async with saying(NO_CONTENT) as site, proxy(site.grant, house=house, meter=meter) as it:
        answer = await it.ask(get("http://site.test/") * 3)
        clock.now += 30
        await it.ask(get("http://site.test/"))

    assert b"Retry-After: 30\r\n" in answer
    assert [one.reason for one in it.records] == ["allowed", "allowed", "request_rate", "allowed"]


def test_a_bucket_gives_what_flows_into_it_and_no_more_than_it_holds() -> None:
    clock = Clock()
    bucket = Bucket(clock)

    assert bucket.take(1_000, rate=1_000, size=1_000, overdraw=True) == 0
    assert bucket.take(500, rate=1_000, size=1_000, overdraw=True) == 0.5
    clock.now += 1
    assert bucket.take(500, rate=1_000, size=1_000, overdraw=True) == 0
    clock.now += 3_600
    assert bucket.take(1_500, rate=1_000, size=1_000) == 0.5
    assert bucket.take(1_000, rate=1_000, size=1_000) == 0


async def test_bytes_that_come_too_fast_are_held_up(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", note)
    meter, rules = Meter(clock=Clock()), EgressRules(bytes_per_second=1_000)
    await meter.spend(rules, up=600)
    await meter.spend(rules, down=1_400)

    assert waits == [0, 1.0]


@pytest.mark.parametrize("line", CASES.read_text(encoding="utf-8").splitlines())
async def test_the_known_ways_around_a_host_list_lead_nowhere(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = json.loads(line)
    named = str(case.get("host") or case["url"].partition("//")[2].partition("/")[0])
    host = canonical_host(named) or ""
    by_number = case["technique"] == "ip"
    listed = [HostGrant(host="*")] if by_number else [HostGrant(host=one) for one in LISTED]
    answers = case.get("dns") or [["127.0.0.1"] if by_number else ["192.0.2.1"]]
    monkeypatch.setattr("sandbox.egress.reached", unreached)
    async with proxy(*listed, names={host: answers[-1]}) as it:
        answer = await it.ask(connect(f"{named}:443"))

    expected = {"not_public"} if Grants(listed).matching(host, 443) else {"not_allowed", "bad_host", "bad_request"}
    assert answer[9:12] in (b"403", b"400", b"502")
    assert it.records[0].reason in ({"unreachable"} if case["technique"] == "dns" else expected)


async def unreached(*_: object) -> None:
    """Nobody is at home."""
