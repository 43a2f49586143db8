"""Who may have a sandbox now: places of the host and of each person, given first come first served."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from contracts.language import Language
from contracts.sandbox import HostFull
from contracts.texts import hosting, sandbox
from sandbox.records import Register
from sandbox.warm import Ready, WarmPool


@dataclass(eq=False)
class Ticket:
    """One who waits for a place, or has been given one."""

    user_id: str
    take: Callable[[], Ready | None]
    """Gives a warm sandbox that fits, if there is one."""
    ready: Ready | None = None
    """The warm sandbox that comes with the place."""
    given: asyncio.Event = field(default_factory=asyncio.Event)


class Admission:
    """Every row of the register takes a place until its sandbox has been removed."""

    def __init__(
        self,
        register: Register,
        pool: WarmPool,
        *,
        most: int,
        most_per_user: int,
        wait_seconds: float,
        language: Language,
    ) -> None:
        self._register = register
        self._pool = pool
        self._most = most
        self._most_per_user = most_per_user
        self._wait_seconds = wait_seconds
        self._language: Language = language
        self._waiting: list[Ticket] = []
        self._given: list[Ticket] = []

    @asynccontextmanager
    async def place(self, user_id: str, take: Callable[[], Ready | None]) -> AsyncIterator[Ready | None]:
        """A place, with a warm sandbox in it if `take` has one; the row that fills it is written inside the block.

        Raises: HostFull.
        """
        ticket = Ticket(user_id, take)
        self._waiting.append(ticket)
        try:
            await self._until_given(ticket)
            yield ticket.ready
            ticket.ready = None
        finally:
            tickets = self._given if ticket.given.is_set() else self._waiting
            tickets.remove(ticket)
            if ticket.ready is not None:
                self._pool.put_back(ticket.ready)
            self.serve()

    def serve(self) -> None:
        """Give what is free to those who wait; called whenever a place has become free."""
        for ticket in list(self._waiting):
            if not self._user_may(ticket.user_id):
                continue
            ticket.ready = ticket.take()
            if ticket.ready is None and self._taken() >= self._most:
                self._make_room()
                return
            self._waiting.remove(ticket)
            self._given.append(ticket)
            ticket.given.set()

    @property
    def spare(self) -> bool:
        """True if a place is free that nobody waits for."""
        return not self._waiting and self._taken() < self._most

    async def _until_given(self, ticket: Ticket) -> None:
        self.serve()
        try:
            async with asyncio.timeout(self._wait_seconds):
                await ticket.given.wait()
        except TimeoutError:
            if not ticket.given.is_set():
                raise self._full(ticket.user_id) from None

    def _taken(self) -> int:
        return len(self._register.rows) + sum(ticket.ready is None for ticket in self._given)

    def _user_may(self, user_id: str) -> bool:
        """A warm sandbox is nobody's; one that is being removed still is somebody's."""
        rows = sum(row.user_id == user_id and row.state != "warm" for row in self._register.rows)
        return rows + sum(ticket.user_id == user_id for ticket in self._given) < self._most_per_user

    def _make_room(self) -> None:
        """What is kept ready gives way to what is needed, unless enough is on its way out already."""
        leaving = sum(row.state == "leaving" for row in self._register.rows)
        wanted = sum(self._user_may(ticket.user_id) for ticket in self._waiting)
        for _ in range(wanted - leaving):
            if not self._pool.give_way():
                return

    def _full(self, user_id: str) -> HostFull:
        if not self._user_may(user_id):
            return HostFull(hosting.USER_FULL.say(self._language, count=self._most_per_user))
        return HostFull(sandbox.HOST_FULL.say(self._language, count=self._most))
