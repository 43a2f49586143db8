"""Makes the card that a person is shown: one for one call, or for all calls of a step that ask."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from contracts.activities import JudgeOutcome
from contracts.approvals import Bound, joint_digest
from contracts.language import Language
from contracts.messages import HostGrant
from contracts.task import Approval, Covered
from contracts.texts import approvals as texts
from contracts.tools import HEADLINE_CHARACTERS, ToolCall
from contracts.verdicts import Ask

MOST_ON_A_CARD = 8
MOST_CHARACTERS = 2_400
"""Of the arguments on one card: more would not fit into a message, and nobody can say yes to what they do not see."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class Put:
    """One call that a person is asked about, as it was judged."""

    call: ToolCall
    judged: JudgeOutcome
    verdict: Ask
    bound: Bound
    hosts: tuple[HostGrant, ...]
    """What the person had opened when it was judged: a yes to the card must not change the question under it."""


def cards(puts: Sequence[Put]) -> list[list[Put]]:
    """Which calls share a card."""
    found: list[list[Put]] = []
    room = 0
    for put in puts:
        size = len(put.judged.preview) + len(put.call.summary)
        if not found or size > room or len(found[-1]) == MOST_ON_A_CARD:
            found.append([])
            room = MOST_CHARACTERS
        found[-1].append(put)
        room -= size
    return found


def card(puts: Sequence[Put], approval_id: str, now: datetime, expires_at: datetime, language: Language) -> Approval:
    """Everything that the person must see, and the digest of exactly that."""
    first, alone = puts[0], len(puts) == 1
    verdicts = [put.verdict for put in puts]
    worst = max(verdicts, key=lambda verdict: verdict.risk)
    covers = tuple(map(_covered, puts))
    plan = texts.PLAN.say(language, count=len(puts), first=first.call.summary)[:HEADLINE_CHARACTERS]
    return Approval(
        approval_id=approval_id,
        call_id=first.call.call_id,
        tool=first.call.tool,
        args_sha256=first.call.args_sha256,
        summary=first.call.summary if alone else plan,
        preview=first.judged.preview if alone else "\n\n".join(_numbered(puts)),
        reasons=_each(reason for verdict in verdicts for reason in verdict.reasons),
        effects=_each(effect for verdict in verdicts for effect in verdict.effects),
        risk=worst.risk,
        egress=_each(host for verdict in verdicts for host in verdict.egress),
        digest=joint_digest(each.digest for each in covers),
        covers=covers,
        destinations=_each(place for verdict in verdicts for place in verdict.destinations),
        risk_parts=worst.risk_parts,
        step_up=any(verdict.step_up for verdict in verdicts),
        shape=first.verdict.shape if alone else None,
        aim="\n".join(_each(aim for verdict in verdicts for aim in verdict.aim.splitlines())),
        approvers=_shared([verdict.approvers for verdict in verdicts]),
        policy_version=first.verdict.policy_version,
        asked_at=now,
        expires_at=expires_at,
    )


def free_at(puts: Sequence[Put]) -> datetime | None:
    """When none of the calls needs to be asked about any more, by time alone."""
    times = [put.verdict.free_at for put in puts]
    known = [at for at in times if at is not None]
    return max(known) if known and len(known) == len(times) else None


def _covered(put: Put) -> Covered:
    return Covered(
        call_id=put.call.call_id,
        tool=put.call.tool,
        args_sha256=put.call.args_sha256,
        digest=put.bound.digest(),
        summary=put.call.summary,
        preview=put.judged.preview,
        bound=put.bound,
    )


def _numbered(puts: Sequence[Put]) -> Iterator[str]:
    for number, put in enumerate(puts, 1):
        yield f"{number}. {put.call.summary}\n{put.judged.preview}"


def _each(items: Iterator[Item]) -> tuple[Item, ...]:
    return tuple(dict.fromkeys(items))


def _shared(approvers: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Who may decide about all of them."""
    return tuple(each for each in approvers[0] if all(each in others for others in approvers))
