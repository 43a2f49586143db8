"""Whatever a sandbox sends, the proxy answers or closes; it never falls over, and nothing goes out unjudged."""

import asyncio
from collections.abc import Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.messages import HostGrant
from sandbox.egress import EgressProxy, EgressRecord
from sandbox.grants import Grants

WORDS = (
    "GET |POST |CONNECT |OPTIONS * |http://|HTTP://|https://|a.example|127.0.0.1|[::1]|[::ffff:127.0.0.1]|0x7f.1|a..b|.a"
    "|xn--|xn--a|%00|%2e|*|@|:|:443|:99999|/|?|#|\\| |\t| HTTP/1.1| HTTP/1.0| HTTP/3.0|\r\n|\r\n\r\n|\n|\r|Host: "
    "|Content-Length: |Transfer-Encoding: chunked|Connection: upgrade|Upgrade: websocket|Expect: 100-continue|-1|5|0|;x"
    "|99999999999999999999|\0|例"
)
PIECES = [*(word.encode() for word in WORDS.split("|")), b"\xff", b"a" * 70]
LINES = st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join)
SENT = st.one_of(st.binary(max_size=300), LINES, LINES.map(lambda line: line + b"\r\n\r\n"))


class Said:
    """A reader of these bytes."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    async def read(self, n: int = -1, /) -> bytes:
        piece, self._content = self._content[:n], self._content[n:]
        return piece


class Heard:
    """A writer that keeps what it is given."""

    def __init__(self) -> None:
        self.content = b""
        self.closed = False

    def write(self, data: bytes, /) -> None:
        self.content += data

    async def drain(self) -> None:
        """It takes everything."""

    def write_eof(self) -> None:
        """It never minds."""

    def close(self) -> None:
        self.closed = True


async def nowhere(_host: str, _port: int) -> Sequence[str]:
    return ["10.0.0.1"]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SENT)
def test_nothing_that_is_sent_makes_the_proxy_fall_over(sent: bytes) -> None:
    records: list[EgressRecord] = []
    grants = Grants([HostGrant(host="*", port=port) for port in (80, 443)])
    heard = Heard()

    asyncio.run(EgressProxy(grants, records.append, resolve=nowhere).serve(Said(sent), heard))

    assert heard.closed
    assert not any(record.allowed for record in records)
    assert heard.content == b"" or heard.content.startswith(b"HTTP/1.1 4")
    assert heard.content.count(b"X-Asos-Reason: ") == len(records)
