"""The last look before an effect: may this very call run now, and which hosts may it reach?"""

from dataclasses import dataclass
from datetime import datetime

from contracts.messages import HostGrant
from contracts.task import Approval
from contracts.texts import tools as texts
from contracts.texts.sentence import Sentence
from contracts.tools import args_digest
from contracts.values import JsonObject
from contracts.verdicts import Allow, Deny, Verdict


@dataclass(frozen=True)
class Granted:
    """The call may run, and reach these hosts."""

    egress: tuple[HostGrant, ...]


@dataclass(frozen=True)
class Refused:
    """The call may not run; `rules` are the ids of the rules that say so."""

    why: Sentence
    rules: tuple[str, ...] = ()


def grant(
    verdict: Verdict, approval: Approval | None, call_id: str, tool: str, args: JsonObject, now: datetime
) -> Granted | Refused:
    """An approval counts for the call, the tool and the exact arguments that the person saw, and until it expires."""
    if isinstance(verdict, Deny):
        return Refused(texts.DENIED_BY_POLICY, tuple(reason.rule for reason in verdict.reasons))
    if isinstance(verdict, Allow):
        return Granted(verdict.egress)
    if approval is None or not _is_for(approval, call_id, tool, args):
        return Refused(texts.DENIED_WITHOUT_APPROVAL, tuple(reason.rule for reason in verdict.reasons))
    if approval.expires_at <= now:
        return Refused(texts.DENIED_EXPIRED)
    return Granted(approval.egress)


def _is_for(approval: Approval, call_id: str, tool: str, args: JsonObject) -> bool:
    asked = (approval.call_id, approval.tool, approval.args_sha256)
    return asked == (call_id, tool, args_digest(tool, args))
