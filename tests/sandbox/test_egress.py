"""The egress proxy, spoken to over plain sockets and from inside sandboxes."""

import asyncio
import ipaddress

import pytest

from contracts.messages import HostGrant
from contracts.sandbox import Command
from sandbox.egress import EgressProxy, EgressRecord
from sandbox.grants import Grants
from sandbox.session import OpenSandbox
from tests.sandbox.proxies import connect, get, origin, proxy


@pytest.mark.parametrize(
    "request_",
    [connect("other.example:443"), connect("a.example:80"), b"GET http://a.example:443/ HTTP/1.1\r\nHost: b\r\n\r\n",
     b"GET http://other.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n"],
)  # fmt: skip
async def test_what_was_not_granted_is_refused_with_host_and_remedy(request_: bytes) -> None:
    async with proxy(HostGrant(host="a.example"), names={"a.example": ["127.0.0.1"]}) as it:
        answer = await it.ask(request_)

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 403 ")
    assert b".example" in body
    assert body.count(b"\n") == 1
    assert [record.allowed for record in it.records] == [False]


@pytest.mark.parametrize(
    ("place", "addresses"),
    [
        ("rebound.example:443", ["127.0.0.1"]),
        ("rebound.example:443", ["8.8.8.8", "10.0.0.1"]),
        ("rebound.example:443", ["::ffff:169.254.169.254"]),
        ("127.0.0.1:443", ["127.0.0.1"]),
        ("169.254.169.254:443", ["169.254.169.254"]),
        ("[::1]:443", ["::1"]),
        ("[::ffff:7f00:1]:443", ["::ffff:127.0.0.1"]),
        ("0x7f.1:443", ["127.0.0.1"]),
        ("2130706433:443", ["127.0.0.1"]),
        ("0:443", ["0.0.0.0"]),  # noqa: S104  an address to refuse
    ],
)
async def test_no_name_and_no_spelling_leads_to_a_private_address(place: str, addresses: list[str]) -> None:
    known = {"rebound.example", "127.0.0.1", "169.254.169.254", "::1", "::ffff:7f00:1", "0.0.0.0"}  # noqa: S104  a name
    async with proxy(HostGrant(host="*"), names=dict.fromkeys(known, addresses)) as it:
        answer = await it.ask(connect(place))

    assert answer.startswith(b"HTTP/1.1 403 ")
    assert it.records[0].reason == "not_public"


async def test_a_name_that_changes_its_answer_is_refused_on_the_same_connection() -> None:
    async with proxy(HostGrant(host="a.example", port=80), names={"a.example": ["192.0.2.1"]}) as it:
        answers = []
        for addresses in (["127.0.0.1"], ["8.8.8.8", "169.254.169.254"], ["fd00:ec2::254"]):
            it.names["a.example"] = addresses
            answers.append(await it.ask(get("http://a.example/")))

    assert [one[:12] for one in answers] == [b"HTTP/1.1 403"] * 3
    assert [one.reason for one in it.records] == ["not_public"] * 3
    assert it.asked == ["a.example"] * 3


async def test_the_public_address_of_this_machine_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.resolving.own_addresses", lambda: {ipaddress.ip_address("8.8.4.4")})
    async with proxy(HostGrant(host="*"), names={"me.example": ["8.8.4.4"], "8.8.4.4": ["::ffff:8.8.4.4"]}) as it:
        answers = [await it.ask(connect("me.example:443")), await it.ask(connect("8.8.4.4:443"))]

    assert [one[:12] for one in answers] == [b"HTTP/1.1 403"] * 2
    assert [one.reason for one in it.records] == ["not_public"] * 2


async def test_a_real_name_that_resolves_to_loopback_is_refused() -> None:
    records: list[EgressRecord] = []
    egress = EgressProxy(Grants([HostGrant(host="localhost")]), records.append)
    async with await asyncio.start_server(egress.serve, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
        writer.write(connect("localhost:443"))
        answer = await reader.read(-1)
        writer.close()
        await writer.wait_closed()

    assert answer.startswith(b"HTTP/1.1 403 ")
    assert b"not a public address" in answer


async def test_a_name_is_resolved_once_and_the_checked_address_is_used() -> None:
    async with proxy(HostGrant(host="a.example"), names={"a.example": ["192.0.2.1"]}) as it:
        await it.ask(connect("a.example:443"))

    assert it.asked == ["a.example"]


async def test_a_pinned_host_is_tunnelled_without_resolving() -> None:
    async with origin() as port:
        pinned = HostGrant(host="site.test", port=443, address=f"127.0.0.1:{port}")
        async with proxy(pinned) as it:
            answer = await it.ask(connect("SITE.test:443") + b"echo\nhello")
            await it.recorded(1)

    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\nhello"
    assert it.asked == []
    assert [(one.host, one.method, one.allowed, one.bytes_up, one.bytes_down) for one in it.records] == [
        ("site.test", "CONNECT", True, 10, 5)
    ]


async def test_a_plain_request_is_passed_on_anew() -> None:
    request = (
        b"POST http://site.test/p/q?r=1 HTTP/1.1\r\nHost: other.test\r\nProxy-Authorization: secret\r\n"
        b"Connection: X-Hop\r\nX-Hop: 1\r\nX-Kept: yes\r\nContent-Length: 3\r\n\r\nabc"
        b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"
    )
    async with origin() as port, proxy(HostGrant(host="site.test", port=80, address=f"127.0.0.1:{port}")) as it:
        answer = await it.ask(request)

    first, _, second = answer.partition(b"HTTP/1.1 403")
    assert first.count(b"HTTP/1.1 200") == 1
    assert b"POST /p/q?r=1 HTTP/1.1\r\nHost: site.test\r\n" in first
    assert first.endswith(b"abc")
    assert b"X-Kept: yes" in first
    for never in (b"secret", b"X-Hop", b"evil.test", b"other.test"):
        assert never not in first
    assert b"may not reach evil.test:80" in second
    assert [(one.method, one.path, one.status, one.bytes_up, one.reason) for one in it.records] == [
        ("POST", "/p/q", 200, 3, "allowed"),
        ("GET", "/", 0, 0, "not_allowed"),
    ]


@pytest.mark.parametrize(
    "request_",
    [b"\x16\x03\x01\x02\x00\x01\x00\xff\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", connect("a.example"),
     connect("a.example:0"), connect("a.example:99999"), connect("a@b:443"),
     b"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
     b"GET http://u:p@a.example/ HTTP/1.1\r\nHost: a\r\n\r\n",
     b"GET http://a/ HTTP/1.1\r\nX: " + b"x" * 200_000, b"GET"],
)  # fmt: skip
async def test_junk_is_answered_and_recorded(request_: bytes) -> None:
    async with proxy(HostGrant(host="*"), HostGrant(host="*", port=80)) as it:
        try:
            answer = await it.ask(request_)
        except ConnectionResetError:
            answer = b""

    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
    assert [record.allowed for record in it.records] == [False]


async def test_a_dead_server_is_named() -> None:
    async with origin() as port:
        pass
    async with proxy(HostGrant(host="site.test", address=f"127.0.0.1:{port}")) as it:
        answer = await it.ask(connect("site.test:443"))

    assert answer.startswith(b"HTTP/1.1 502 ")
    assert b"site.test:443" in answer


@pytest.mark.asyncio(loop_scope="module")
async def test_a_sandbox_reaches_what_was_granted_and_nothing_else(box: OpenSandbox) -> None:
    async with origin() as port:
        box.permit([HostGrant(host="site.test", port=80, address=f"127.0.0.1:{port}")])

        granted = await box.run(Command(script="curl -sS -m 20 http://site.test/page"))
        refused = await box.run(Command(script="curl -sS -m 20 http://example.com/"))
        direct = await box.run(Command(script=f"curl -sS -m 5 --noproxy '*' http://127.0.0.1:{port}/; echo $?"))
        outside = await box.run(
            Command(script="curl -sS -m 5 --noproxy '*' http://1.1.1.1/; echo $?; cat /proc/net/dev")
        )

    assert granted.stdout.head.startswith(b"GET /page HTTP/1.1\r\n")
    assert b"may not reach example.com:80" in refused.stdout.head
    assert direct.stdout.head == b"7\n"
    assert outside.stdout.head.startswith(b"7\n")
    assert b"eth" not in outside.stdout.head


@pytest.mark.asyncio(loop_scope="module")
async def test_a_port_of_the_sandbox_is_reached_by_a_forward(box: OpenSandbox) -> None:
    serve = "echo hello > index.html; nohup python3 -m http.server -b 127.0.0.1 8123 >/dev/null 2>&1 &"
    wait = "until curl -s --noproxy '*' 127.0.0.1:8123 >/dev/null; do sleep 0.2; done"
    started = await box.run(Command(script=f"{serve}\n{wait}"))
    assert started.exit_code == 0

    async with box.forward(8123) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /index.html HTTP/1.0\r\n\r\n")
        answer = await asyncio.wait_for(reader.read(-1), 20)
        writer.close()
        await writer.wait_closed()

    assert answer.endswith(b"hello\n")
    with pytest.raises(OSError):  # noqa: PT011  any refusal will do
        await asyncio.open_connection("127.0.0.1", port)
