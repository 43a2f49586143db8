"""The only way out of a sandbox: an HTTP proxy that opens what is permitted, and refuses all else with a reason."""

import asyncio
import logging
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import h11

from contracts.egress import EgressRules
from contracts.kill import Halted, Kill
from contracts.language import Language
from contracts.messages import HostGrant
from sandbox.answers import linger, refuse
from sandbox.blocklist import Blocklist
from sandbox.braking import braked
from sandbox.closing import closed_to_role
from sandbox.grants import Grants, canonical_host
from sandbox.heads import Asked, BadHead, asked
from sandbox.house import HouseRules, Rewrite, rewritten, unchanged
from sandbox.metering import Counts, LimitReached, Meter
from sandbox.pumping import BadContent, Reader, Writer, relay, send, tunnel
from sandbox.reaching import Far, reached
from sandbox.refusals import Refusals
from sandbox.resolving import Open, Resolve, located, system_resolve
from sandbox.rules import Laws, Refused
from sandbox.served import Exchange, Side
from sandbox.targets import inner_target

MOST_CONNECTIONS = 128
MOST_RESOLVING = 8
MOST_ANSWERED = 2 * MOST_CONNECTIONS
"""Connections beyond it are closed unread; those between the two are told why."""
NOTHING_LISTED = Blocklist()

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EgressRecord:
    """One request for the audit, written when it has ended."""

    host: str
    port: int
    method: str
    allowed: bool
    reason: str
    """`allowed`, or what kept or cut it off, such as `not_allowed`, `blocked`, `not_public`, `method`, `bytes_down`."""
    bytes_up: int
    bytes_down: int
    seconds: float
    path: str = ""
    """Without its query; empty where it cannot be seen."""
    status: int = 0
    """Of the server's answer; 0 where it cannot be seen, or there was none."""
    address: str = ""
    """That the connection was made to; empty if there was none."""
    inspected: bool = False
    """True if it came through a tunnel that was opened."""


class OnRequest(Protocol):
    """Takes the audit record of a request; it must not block."""

    def __call__(self, record: EgressRecord, /) -> None: ...


class EgressProxy:
    """The proxy of one sandbox; `serve` handles one connection, wherever it comes from."""

    def __init__(
        self,
        grants: Grants,
        on_request: OnRequest,
        *,
        resolve: Resolve = system_resolve,
        language: Language = "en",
        house: HouseRules | None = None,
        meter: Meter | None = None,
        rewrite: Rewrite = unchanged,
        halted: Callable[[], Kill | None] = lambda: None,
    ) -> None:
        self.grants = grants
        self._on_request = on_request
        self._resolve = resolve
        self._language: Language = language
        self._refusals = Refusals(language)
        self._house = house or HouseRules()
        self.meter = meter or Meter()
        self._rewrite = rewrite
        self._halted = halted
        self.role = ""
        """Of the task whose sandbox this is; without one the blocks of all roles hold."""
        self._open = 0
        self._resolving = asyncio.Semaphore(MOST_RESOLVING)

    async def serve(self, reader: Reader, writer: Writer) -> None:
        """Requests one after the other until either end has had enough; each is judged anew."""
        self._open += 1
        try:
            if self._open <= MOST_ANSWERED:
                await self._requests(b"", reader, writer, Side())
        except (OSError, TimeoutError, h11.ProtocolError, EOFError, BadContent, LimitReached, Halted) as error:
            log.debug("a connection of the egress proxy broke: %s", error)
        finally:
            self._open -= 1
            writer.close()

    async def _requests(self, held: bytes, reader: Reader, writer: Writer, side: Side) -> None:
        more = True
        while more:
            try:
                one = await asked(reader, held)
            except BadHead as error:
                log.debug("no request: %s", error)
                await self._turn_away(reader, writer, side, "", self._refusals.bad())
                return
            if one is None:
                return
            more = await self._request(one, reader, writer, side)
            held = one.rest if more else b""

    async def _request(self, one: Asked, reader: Reader, writer: Writer, side: Side) -> bool:
        """Serve it; gives whether another one may follow."""
        target = side.target_of(one.request)
        if target is None:
            wrong = self._refusals.misdirected(*side.place) if side.place else self._refusals.bad()
            await self._turn_away(reader, writer, side, one.request.method.decode("ascii"), wrong)
            return False
        laws = await self._laws()
        exchange = Exchange(one, reader, writer, side, target, laws, Counts(self.meter, laws.rules))
        verdict = await self._verdict(exchange)
        if isinstance(verdict, Open):
            exchange.target = replace(target, host=verdict.host)
        return await self._settle(exchange, verdict)

    async def _settle(self, exchange: Exchange, verdict: Open | Refused) -> bool:
        """Act by the verdict, and leave an audit line whatever comes of it."""
        reason = "broken"
        try:
            ended = await self._passed_while_free(exchange, verdict) if isinstance(verdict, Open) else verdict
            reason = ended.code if ended is not None else "allowed"
            if ended is not None:
                return await self._refuse(exchange, ended)
            return exchange.may_be_followed
        except LimitReached as error:
            reason = f"bytes_{error.direction}"
            raise
        except Halted:
            reason = "halted"
            raise
        except ssl.SSLError:
            reason = "handshake"
            raise
        finally:
            self._record(exchange, allowed=isinstance(verdict, Open), reason=reason)
            if (exchange.laws.rules.bytes_up, exchange.laws.rules.bytes_down) != (None, None):
                await self.meter.keep()

    async def _laws(self) -> Laws:
        rules: EgressRules = await asyncio.to_thread(self._house.rules)
        blocklist = await self._house.blocklist.current() if self._house.blocklist else NOTHING_LISTED
        return Laws(rules, self.grants, blocklist, self._language)

    async def _verdict(self, exchange: Exchange) -> Open | Refused:
        kill = self._halted()
        if kill is not None:
            return self._refusals.halted(kill)
        if self._open > MOST_CONNECTIONS:
            return self._refusals.busy(MOST_CONNECTIONS)
        target, laws = exchange.target, exchange.laws
        name = canonical_host(target.host) if exchange.side.place is None else target.host
        if name is None:
            return self._refusals.bad("bad_host")
        opens = target.request is None and laws.inspected(name)
        if (closed := await closed_to_role(self._house, self.role, name, target, self._language, opens)) is not None:
            return closed
        grant = laws.permitted(name, target.port, None if opens else target.method)
        if isinstance(grant, Refused):
            return grant
        # An opened tunnel counts by the requests in it.
        return (None if opens else self._used_up(laws.rules)) or await self._located(laws, grant, name, target.port)

    async def _located(self, laws: Laws, grant: HostGrant, name: str, port: int) -> Open | Refused:
        async with self._resolving:
            return await located(laws, grant, name, port, self._resolve)

    def _used_up(self, rules: EgressRules) -> Refused | None:
        exhausted = self.meter.exhausted(rules)
        if exhausted is not None:
            return self._refusals.used_up(exhausted, rules)
        wait = self.meter.wait_for_request(rules)
        return self._refusals.too_often(wait, rules) if wait else None

    async def _passed_while_free(self, exchange: Exchange, way: Open) -> Refused | None:
        """Cut where it is once the kill switch is pulled; what has not been answered yet is refused."""
        try:
            return await braked(self._passed(exchange, way), self._halted)
        except Halted as error:
            if exchange.asked.client.our_state is not h11.SEND_RESPONSE or exchange.target.request is None:
                raise
            return self._refusals.halted(error.kill)

    async def _passed(self, exchange: Exchange, way: Open) -> Refused | None:
        """None when all has been passed on; a refusal if nothing has been answered yet."""
        if exchange.target.request is not None:
            return await self._relayed(exchange, way)
        if exchange.laws.inspected(way.host):
            return await self._look_into(exchange)
        far = await reached(way.addresses, way.host, None)
        if far is None:
            return self._refusals.unreachable(way.host, exchange.target.port)
        exchange.far = far
        try:
            await send(exchange.writer, b"HTTP/1.1 200 Connection established\r\n\r\n")
            await tunnel(exchange.asked.rest, exchange.reader, exchange.writer, far, exchange.counts)
        finally:
            far.writer.close()
        return None

    async def _look_into(self, exchange: Exchange) -> Refused | None:
        inspection, target = self._house.inspection, exchange.target
        if inspection is None:
            return self._refusals.uninspected(target.host)
        await send(exchange.writer, b"HTTP/1.1 200 Connection established\r\n\r\n")
        opened = await inspection.accepted(target.host, exchange.asked.rest, exchange.reader, exchange.writer)
        place = (target.host, target.port)
        await self._requests(b"", opened, opened, Side(lambda request: inner_target(request, *place), place))
        opened.write_eof()
        return None

    async def _relayed(self, exchange: Exchange, way: Open) -> Refused | None:
        target, inside = exchange.target, exchange.side.place is not None
        try:
            context = await self._far_context(exchange.laws.rules) if inside else None
            far = await reached(way.addresses, way.host, context)
        except (OSError, ValueError) as error:  # the TLS library calls a name that it cannot check a wrong value
            cause = getattr(error, "verify_message", "") or getattr(error, "strerror", "") or str(error)
            return self._refusals.unproven(way.host, target.port, cause)
        if far is None or target.request is None:
            return self._refusals.unreachable(way.host, target.port)
        exchange.far = far
        try:
            return await self._exchanged(exchange, target.request, far)
        finally:
            far.writer.close()

    async def _exchanged(self, exchange: Exchange, request: h11.Request, far: Far) -> Refused | None:
        target, client = exchange.target, exchange.asked.client
        if exchange.side.place is not None:
            request = await rewritten(request, target.host, target.port, self._rewrite)
        try:
            exchange.status, late = await relay(client, request, exchange.reader, exchange.writer, far, exchange.counts)
        except LimitReached as error:
            if client.our_state is not h11.SEND_RESPONSE:
                raise
            return self._refusals.used_up(error.direction, exchange.laws.rules)
        except BadContent:
            if client.our_state is not h11.SEND_RESPONSE:
                raise
            return self._refusals.bad("bad_content")
        except (h11.ProtocolError, OSError, EOFError):
            if client.our_state is not h11.SEND_RESPONSE:
                raise
            return self._refusals.broken(target.host, target.port)
        if exchange.status == 101:
            await tunnel(exchange.asked.rest, exchange.reader, exchange.writer, far, exchange.counts, late)
        return None

    async def _far_context(self, rules: EgressRules) -> ssl.SSLContext | None:
        return await self._house.inspection.far_context(rules.authorities) if self._house.inspection else None

    async def _refuse(self, exchange: Exchange, refused: Refused) -> bool:
        """Answer; a request without content leaves the connection fit for the next one."""
        one = exchange.asked
        keep = exchange.target.request is not None and exchange.far is None and one.ends_here()
        await refuse(exchange.writer, refused, keep=keep, head_only=one.request.method == b"HEAD")
        if not keep:
            await linger(exchange.reader, exchange.writer)
        return keep

    async def _turn_away(self, reader: Reader, writer: Writer, side: Side, method: str, refused: Refused) -> None:
        """Answer what could not be read as a request for somewhere."""
        host, port = side.place or ("", 0)
        self._on_request(EgressRecord(host, port, method, False, refused.code, 0, 0, 0.0, inspected=bool(side.place)))
        await refuse(writer, refused, keep=False)
        await linger(reader, writer)

    def _record(self, exchange: Exchange, *, allowed: bool, reason: str) -> None:
        target = exchange.target
        self._on_request(
            EgressRecord(
                host=target.host,
                port=target.port,
                method=target.method,
                allowed=allowed,
                reason=reason,
                bytes_up=exchange.counts.up,
                bytes_down=exchange.counts.down,
                seconds=time.monotonic() - exchange.began,
                path=target.path,
                status=exchange.status,
                address=exchange.far.address if exchange.far else "",
                inspected=exchange.side.place is not None,
            )
        )
