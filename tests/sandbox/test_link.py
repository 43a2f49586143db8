"""The host's end of the link to an agent: what a hostile far end may say."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

import sandbox.link
from contracts.sandbox import Command, CommandOutcome
from sandbox.commands import Commands
from sandbox.driver import Attached
from sandbox.exchange import Exchange, LinkBroken
from sandbox.files import AgentFiles
from sandbox.inside.wire import (
    CREDIT,
    DATA,
    HEAD,
    LARGEST,
    MAGIC,
    MORE,
    NONCE_BYTES,
    OPEN,
    REPLY,
    REQUEST,
    WINDOW,
    Hearing,
    frame,
    packed,
    pieces,
)
from sandbox.limits import Limits
from sandbox.link import Link

FIRST = 3
"""The number of a link's first request."""
ENDED = {
    "code": 0, "signal": None, "timed_out": False, "seconds": 0.1, "joined": False, "limit": None,
    "streams": [[2, 0, 2, 2, None], [0, 0, 0, 0, None]],
}  # fmt: skip


class FarEnd:
    """Whoever is at the other end of the socket."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self.heard = b""

    async def hear(self, enough: Callable[[bytes], bool]) -> None:
        while not enough(self.heard):
            piece = await asyncio.get_running_loop().sock_recv(self._stream, 65_536)
            assert piece
            self.heard += piece

    async def say(self, words: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self._stream, words)

    async def begin(self) -> None:
        await self.hear(lambda heard: len(heard) >= len(MAGIC) + NONCE_BYTES)
        await self.say(b"what came before" + self.heard + frame(REPLY, 0, packed(b"{}")))

    def hang_up(self) -> None:
        self._stream.close()


async def nobody(_reader: Exchange, _writer: Exchange) -> None:
    """Serves nothing."""


@asynccontextmanager
async def linked(framed: bool = False) -> AsyncIterator[tuple[Link, FarEnd]]:
    ours, theirs = socket.socketpair()
    for one in (ours, theirs):
        one.setblocking(False)
    far = FarEnd(theirs)
    link, _ = await asyncio.gather(Link.opened(Attached(ours, framed), nobody), far.begin())
    try:
        yield link, far
    finally:
        await link.close()
        far.hang_up()


def ended(**changes: object) -> bytes:
    return frame(REPLY, FIRST, packed(json.dumps(ENDED | changes).encode(), b"ok"))


async def run(link: Link) -> CommandOutcome:
    return await Commands(link, Limits()).run(Command(script="true"), "key", None)


async def test_an_honest_answer_is_taken() -> None:
    async with linked() as (link, far):
        await far.say(ended())

        outcome = await run(link)

    assert (outcome.exit_code, outcome.stdout.head, outcome.stdout.total_bytes) == (0, b"ok", 2)


@pytest.mark.parametrize(
    "words",
    [
        b"garbage without any sense",
        MAGIC + b"0" * NONCE_BYTES,
        HEAD.pack(0, REPLY, FIRST, LARGEST + 1),
        HEAD.pack(0, 77, FIRST, 0),
        frame(REQUEST, FIRST, b"do this"),
        frame(MORE, FIRST, b"do this"),
        frame(OPEN, 3),
        frame(OPEN, 2) * 2,
        b"".join(frame(OPEN, number) for number in range(2, 2_000, 2)),
        frame(DATA, FIRST, b"x" * 65_536) * (2 * WINDOW // 65_536 + 1),
        frame(REPLY, FIRST, b""),
        frame(REPLY, FIRST, b"\xff\xff\xff\xff{}"),
        frame(REPLY, FIRST, packed(b"not json")),
        frame(REPLY, FIRST, packed(b"[" * 100_000)),
        frame(REPLY, FIRST, packed(b"[]")),
        frame(REPLY, FIRST, packed(b"{}")),
        ended(code="zero"),
        ended(code=-1),
        ended(signal=65),
        ended(seconds=float("nan")),
        ended(seconds=-1.0),
        ended(extra=1),
        ended(limit="patience"),
        ended(streams=[]),
        ended(streams=[[9, 0, 9, 9, None], [0, 0, 0, 0, None]]),
        ended(streams=[[2**40, 0, 2, 2, None], [0, 0, 0, 0, None]]),
        ended(streams=[[2, 0, -2, 2, None], [0, 0, 0, 0, None]]),
        ended(streams=[[2, 0, 2, 2, "x" * 10_000], [0, 0, 0, 0, None]]),
    ],
    ids=range(28),
)
async def test_what_no_agent_says_ends_the_link_and_nothing_else(words: bytes) -> None:
    async with linked() as (link, far):
        running = asyncio.create_task(run(link))
        await far.hear(lambda heard: b"run" in heard)
        with suppress(ConnectionError):
            await far.say(words)

        with pytest.raises(LinkBroken):
            await running
        assert link.lost


async def test_complaints_are_cut_and_printable() -> None:
    async with linked() as (link, far):
        await far.say(frame(REPLY, FIRST, packed(json.dumps({"error": "\udc80" + "x" * 100_000}).encode())))

        outcome = await run(link)

    assert outcome.exit_code == 126
    assert outcome.stderr.head == b"?" + b"x" * 499 + b"\n"


@pytest.mark.parametrize(
    "answer",
    [
        frame(DATA, FIRST, b"x" * 101),
        frame(REPLY, FIRST, packed(b'{"size":7}')),
        frame(DATA, FIRST, b"x" * 10) + frame(REPLY, FIRST, packed(b'{"size":11}')),
    ],
)
async def test_a_file_of_another_length_than_was_said_is_refused(answer: bytes) -> None:
    async with linked() as (link, far):
        await far.say(answer)

        with pytest.raises(LinkBroken):
            await AgentFiles(link).read("x", 100)


@pytest.mark.parametrize("line", [b'["a","device",1,1]', b'["a","file",-1,1]', b"[]", b"null", b"\xff", b'{"a":1}'])
async def test_a_list_that_is_none_is_refused(line: bytes) -> None:
    async with linked() as (link, far):
        await far.say(frame(DATA, FIRST, line) + frame(REPLY, FIRST, packed(b"{}")))

        with pytest.raises(LinkBroken):
            await AgentFiles(link).list(".")


async def test_a_far_end_that_takes_nothing_is_sent_no_more_than_it_may() -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65_536

    async with linked() as (link, far):
        storing = asyncio.create_task(AgentFiles(link).store("x", endless(), 10**12))
        await far.hear(lambda heard: len(heard) > WINDOW)
        for _ in range(100):
            await asyncio.sleep(0)
        assert len(far.heard) < WINDOW + 65_536
        await far.say(frame(CREDIT, FIRST, WINDOW.to_bytes(4, "big")))
        await far.hear(lambda heard: len(heard) > 2 * WINDOW)
        storing.cancel()

        with pytest.raises(asyncio.CancelledError):
            await storing


async def test_a_far_end_that_says_nothing_is_given_up_unless_it_is_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.link, "PING_SECONDS", 0.01)
    monkeypatch.setattr(sandbox.link, "SILENT_SECONDS", 0.05)
    async with linked() as (link, far):
        link.frozen = True
        running = asyncio.create_task(run(link))
        await far.hear(lambda heard: b"run" in heard)
        await asyncio.sleep(0.3)
        assert not running.done()

        link.thaw()

        with pytest.raises(LinkBroken, match="nothing for"):
            await running
        await far.hear(lambda heard: b"ping" in heard)


@pytest.mark.parametrize("words", [b"", b"no agent here", MAGIC + b"1" * NONCE_BYTES + frame(REPLY, 0, packed(b"{}"))])
async def test_a_stream_without_an_agent_is_said_to_be_that(words: bytes) -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.sendall(words)
    theirs.shutdown(socket.SHUT_WR)

    with pytest.raises(LinkBroken, match="does not answer"):
        await Link.opened(Attached(ours), nobody)
    theirs.close()


async def test_an_engines_headers_are_taken_out_and_errors_are_shown() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.sendall(b"\2\0\0\0\0\0\0\7no room" + b"\1\0\0\0\0\0\0\3abc")
    theirs.shutdown(socket.SHUT_WR)

    with pytest.raises(LinkBroken, match="no room"):
        await Link.opened(Attached(ours, framed=True), nobody)
    theirs.close()


@pytest.mark.parametrize("size", [1, 7, 50, 100_000])
def test_a_conversation_begins_anew_in_the_middle_of_any_word(size: int) -> None:
    nonce = b"n" * NONCE_BYTES
    stream = b"junk" + frame(REQUEST, 5, b"x" * 500)[:-100] + MAGIC + nonce + frame(REQUEST, 7, b"new\xff")
    hearing, begun, heard = Hearing(), [], []

    for at in range(0, len(stream), size):
        one, frames = hearing.feed(stream[at : at + size])
        begun += [one] if one is not None else []
        heard += frames

    assert begun == [nonce]
    assert heard == [(REQUEST, 7, b"new\xff")]


@pytest.mark.parametrize("content", [b"", b"x", MAGIC, MAGIC * 3, b"x" * 65_530 + MAGIC, b"\xff" * 200_000])
def test_no_content_is_taken_for_the_beginning_of_a_conversation(content: bytes) -> None:
    hearing = Hearing()
    hearing.feed(MAGIC + b"n" * NONCE_BYTES)

    parts = pieces(content)
    begun, heard = hearing.feed(b"".join(frame(DATA, 3, part) for part in parts))

    assert begun is None
    assert b"".join(payload for _, _, payload in heard) == content
