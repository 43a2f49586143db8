"""Tells the owners when a change to the policy was refused, and when it is in force again."""

import asyncio
import logging
from collections.abc import Mapping
from datetime import UTC, datetime

from contracts.delivery import Notice
from contracts.language import Language
from contracts.messages import Address
from contracts.texts import gateway as texts
from gateway.access import Access
from gateway.channel import ChannelBusy, ChannelUnreachable
from gateway.pairing import OWNER, Pairing
from gateway.speaking import Speaker
from gateway.store import StoreUnusable

CHECK_SECONDS = 2.0

_log = logging.getLogger(__name__)


class Tidings:
    """Looks every few seconds; each problem is told once to each owner, on the channel where they were paired."""

    def __init__(
        self, access: Access, pairing: Pairing, speakers: Mapping[str, Speaker], language: Language = "en"
    ) -> None:
        self._access = access
        self._pairing = pairing
        self._speakers = speakers
        self._language = language
        self._told = ""
        self._found = ("", "")
        """The latest problem, and the key under which it is told; the same key is sent to nobody twice."""

    async def refresh(self) -> None:
        """Raises: StoreUnusable, ChannelUnreachable, ChannelBusy; then it is not told, and tried again."""
        problem = await asyncio.to_thread(self._access.problem)
        if problem == self._told:
            return
        if self._found[0] != problem or not self._found[1]:
            self._found = (problem, f"policy/{datetime.now(UTC).isoformat()}")
        refused = texts.POLICY_REFUSED.say(self._language, problem=problem)
        await self._tell(refused if problem else texts.POLICY_IN_FORCE.say(self._language), self._found[1])
        self._told = problem

    async def _tell(self, text: str, key: str) -> None:
        for person in await self._pairing.people():
            speaker = self._speakers.get(person.channel)
            if person.role == OWNER and speaker is not None and speaker.channel.capabilities.pushes:
                address = Address(channel=person.channel, chat_id=person.user_id)
                await speaker.notify(Notice(address=address, text=text, key=f"{key}/{person.user_id}", kind="error"))

    async def keep(self) -> None:
        """Runs until it is cancelled."""
        while True:
            try:
                await self.refresh()
            except (StoreUnusable, ChannelUnreachable, ChannelBusy) as error:
                _log.warning("the owners cannot be told of the policy: %s", error)
            await asyncio.sleep(CHECK_SECONDS)
