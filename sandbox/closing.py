"""Keeps a sandbox from what its role never may, host by host and, where traffic is seen, path by path."""

import asyncio

from contracts.language import Language
from contracts.texts import visits as texts
from sandbox.house import HouseRules
from sandbox.rules import Refused
from sandbox.targets import Target


async def closed_to_role(
    house: HouseRules, role: str, host: str, target: Target, language: Language, opens: bool
) -> Refused | None:
    """Encrypted traffic that nobody looks into shows no path: a host of which a part is blocked is then closed whole.
    A tunnel that `opens` is judged by the requests in it, and here only by its host."""
    goal = "/" if opens else target.goal
    rule = await asyncio.to_thread(house.closes, role, host, goal)
    if rule is None:
        return None
    if goal is None and await asyncio.to_thread(house.closes, role, host, "/") is None:
        return Refused("blocked_part", texts.EGRESS_PART_BLOCKED.say(language, host=host, rule=rule))
    return Refused("blocked", texts.EGRESS_ROLE_BLOCKED.say(language, host=host, rule=rule))
