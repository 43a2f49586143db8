"""How the egress proxy reads and writes HTTP: framing, kept connections, and what is smuggled in neither way."""

import asyncio
import math
import re

import pytest

from sandbox.pumping import Pulse
from tests.sandbox.proxies import get, proxy, saying

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def test_each_request_of_a_kept_connection_is_judged_anew() -> None:
    async with saying(OK) as site, proxy(site.grant) as it:
        answer = await it.ask(
            get("http://site.test/1") + get("http://other.test/2") + get("http://site.test/3", "Connection: close")
        )

    assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"200", b"403", b"200"]
    assert [(one.host, one.path, one.reason) for one in it.records] == [
        ("site.test", "/1", "allowed"), ("other.test", "/2", "not_allowed"), ("site.test", "/3", "allowed"),
    ]  # fmt: skip
    assert {one.address for one in it.records} == {"127.0.0.1", ""}


@pytest.mark.parametrize(
    "head",
    [
        "POST {url} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\n",
        "POST {url} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n",
        "POST {url} HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\n",
        "POST {url} HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\n",
        "POST {url} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST {url} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST {url} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n",
        "POST {url} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "POST {url} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n",
        "POST {url} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n",
        "POST {url} HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET {url} HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n",
        "GET {url} HTTP/1.1\nHost: a\n\n",
        "GET {url} HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n",
        "GET {url} HTTP/1.1\r\nHost: a\rX: 1\r\n\r\n",
        "GET {url} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET {url} HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n",
        "GET {url}\r\n\r\n",
        "GET {url} HTTP/1.1 \r\nHost: a\r\n\r\n",
        "GET {url} HTTP/2.0\r\nHost: a\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: site.test\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: site.test\r\n\r\n",
    ],
)
async def test_a_request_that_could_be_read_in_two_ways_goes_nowhere(head: str) -> None:
    rest = "0\r\n\r\n" + get("http://site.test/smuggled").decode()
    async with saying(OK) as site, proxy(site.grant) as it:
        answer = await it.ask(head.format(url="http://site.test/").encode() + rest.encode())

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1") == 1
    assert site.heard == []
    assert [one.reason for one in it.records] == ["bad_request"]


async def test_chunks_and_trailers_are_passed_on_both_ways() -> None:
    said = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n"
    request = get("http://site.test/up", "Transfer-Encoding: chunked", method="PUT")
    request += b"2;x=y\r\nhi\r\n3\r\n!!!\r\n0\r\nX-Last: 1\r\nContent-Length: 9\r\n\r\n"
    async with saying(said) as site, proxy(site.grant) as it:
        answer = await it.ask(request)

    assert site.heard[0].endswith(b"2\r\nhi\r\n3\r\n!!!\r\n0\r\nX-Last: 1\r\n\r\n")
    assert answer.endswith(b"\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n")
    assert [(one.bytes_up, one.bytes_down, one.status) for one in it.records] == [(5, 3, 200)]


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"),
        ("GET", b"HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n"),
        ("GET", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK),
        ("GET", b"HTTP/1.1 200 OK\r\n\r\nuntil the end"),
    ],
)
async def test_an_answer_without_content_or_length_keeps_the_connection(method: str, said: bytes) -> None:
    async with saying(said) as site, proxy(site.grant) as it:
        await it.ask(get("http://site.test/", method=method) + get("http://site.test/", method=method))

    assert len(site.heard) == 2
    assert [one.reason for one in it.records] == ["allowed", "allowed"]


@pytest.mark.parametrize("content", [b"zz\r\n", b"5\r\nab", b"5\r\nabcdeXX3\r\n", b"5\nabcde\n0\n\n"])
async def test_content_that_cannot_be_read_is_the_sandbox_s_own_fault(content: bytes) -> None:
    async with saying(OK) as site, proxy(site.grant) as it:
        answer = await it.ask(get("http://site.test/", "Transfer-Encoding: chunked", method="POST") + content)

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert [one.reason for one in it.records] == ["bad_content"]


async def test_content_is_called_for_only_once_the_request_is_permitted() -> None:
    headers = ("Expect: 100-continue", "Content-Length: 2")
    async with saying(OK) as site, proxy(site.grant) as it:
        reader, writer = await asyncio.open_connection("127.0.0.1", it.port)
        writer.write(get("http://site.test/", *headers, method="POST"))
        called = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
        writer.write(b"hi")
        answered = await asyncio.wait_for(reader.readuntil(b"ok"), 20)
        writer.close()
        await writer.wait_closed()
        refused = await it.ask(get("http://other.test/", *headers, method="POST"))

    assert called.startswith(b"HTTP/1.1 100")
    assert answered.startswith(b"HTTP/1.1 200")
    assert refused.startswith(b"HTTP/1.1 403")


async def test_a_web_socket_is_opened_and_nothing_else_is_upgraded() -> None:
    switching = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst,"
    asked = ("Connection: keep-alive, Upgrade", "Sec-WebSocket-Key: k")
    async with saying(switching) as site, proxy(site.grant) as it:
        answer = await it.ask(get("http://site.test/ws", *asked, "Upgrade: websocket") + b"frames")
        await it.recorded(1)
        await it.ask(get("http://site.test/", *asked, "Upgrade: h2c", "HTTP2-Settings: x"))

    assert answer.startswith(b"HTTP/1.1 101 ")
    assert answer.endswith(b"\r\n\r\nfirst,frames")
    assert b"Upgrade: websocket\r\n" in site.heard[0]
    assert b"Upgrade" not in site.heard[1]
    assert (it.records[0].status, it.records[0].bytes_up, it.records[0].bytes_down) == (101, 6, 12)


async def test_an_answer_that_breaks_off_is_not_passed_on_as_whole() -> None:
    cut = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhalf"
    async with saying(cut) as site, saying(b"") as silent, proxy(site.grant) as it:
        half = await it.ask(get("http://site.test/"))
        it.egress.grants.add([silent.grant.model_copy(update={"host": "silent.test"})])
        none = await it.ask(get("http://silent.test/"))

    assert half.endswith(b"half")
    assert none.startswith(b"HTTP/1.1 502 ")
    assert b"X-Asos-Reason: broken\r\n" in none
    assert [one.reason for one in it.records] == ["broken", "broken"]


async def test_too_many_connections_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.egress.MOST_CONNECTIONS", 2)
    async with saying(OK) as site, proxy(site.grant) as it:
        held = [await asyncio.open_connection("127.0.0.1", it.port) for _ in range(2)]
        for _, writer in held:
            writer.write(b"GET ")
            await writer.drain()
        answer = await it.ask(get("http://site.test/"))
        for _, writer in held:
            writer.close()
            await writer.wait_closed()

    assert b"X-Asos-Reason: busy\r\n" in answer


async def test_a_server_cannot_pass_for_the_proxy() -> None:
    said = b"HTTP/1.1 403 Forbidden\r\nX-Asos-Reason: not_allowed\r\nContent-Length: 2\r\n\r\nno"
    async with saying(said) as site, proxy(site.grant) as it:
        answer = await it.ask(get("http://site.test/"))

    assert answer.startswith(b"HTTP/1.1 403 ")
    assert b"asos" not in answer.lower()


class Slow:
    """Says nothing in its first two reads."""

    def __init__(self) -> None:
        self.reads = 0

    async def read(self, _: int = -1, /) -> bytes:
        self.reads += 1
        if self.reads <= 2:
            await asyncio.Event().wait()
        return b"at last"


@pytest.mark.parametrize(("other_way_moves", "reads"), [(True, 3), (False, 1)])
async def test_a_connection_is_idle_only_if_nothing_moves_either_way(
    other_way_moves: bool, reads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.pumping.IDLE_SECONDS", 0.01)
    pulse, slow = Pulse(), Slow()
    pulse.moved = math.inf if other_way_moves else -math.inf
    try:
        piece = await pulse.piece(slow)
    except TimeoutError:
        piece = b""

    assert (piece == b"at last") is other_way_moves
    assert slow.reads == reads
