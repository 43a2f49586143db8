"""The last look before an effect: may this very call run now, and which hosts may it reach?"""

from dataclasses import dataclass
from datetime import datetime

from activities.binding import differences
from contracts.approvals import Bound, joint_digest
from contracts.language import Language
from contracts.messages import HostGrant
from contracts.task import Approval, Covered
from contracts.texts import approvals as approval_texts
from contracts.texts import tools as texts
from contracts.texts.sentence import Sentence
from contracts.verdicts import Allow, Ask, Deny, Verdict


@dataclass(frozen=True)
class Granted:
    """The call may run, and reach these hosts; `approval` is the one that it uses up."""

    egress: tuple[HostGrant, ...]
    approval: Approval | None = None


@dataclass(frozen=True)
class Refused:
    """The call may not run; `rules` are the ids of the rules that say so."""

    why: Sentence
    rules: tuple[str, ...] = ()
    ask_again: bool = False
    """True if a new question to the person may help: what they said yes to is not what would happen now."""
    then: Bound | None = None
    now: Bound | None = None

    def say(self, language: Language) -> str:
        what = differences(self.then, self.now, language) if self.then and self.now else ""
        return self.why.say(language, rules=", ".join(self.rules), what=what)


def grant(
    verdict: Verdict, approval: Approval | None, call_id: str, bound: Bound, now: datetime, *, confirmed: bool = False
) -> Granted | Refused:
    """An approval counts for the calls that the person saw, while everything is as they saw it, until it expires, and
    where it needs a second factor only if that is `confirmed`."""
    if isinstance(verdict, Deny):
        return Refused(texts.DENIED_BY_POLICY, _rules(verdict))
    if isinstance(verdict, Allow):
        return Granted(verdict.egress)
    if approval is None:
        return Refused(texts.DENIED_WITHOUT_APPROVAL, _rules(verdict), ask_again=True)
    covered = next((each for each in approval.covers if each.call_id == call_id), None)
    if covered is None or (covered.tool, covered.args_sha256) != (bound.tool, bound.args_sha256):
        return Refused(approval_texts.NOT_FOR_THIS, _rules(verdict))
    if not _is_whole(approval, covered):
        return Refused(approval_texts.EDITED, _rules(verdict))
    if approval.expires_at <= now:
        return Refused(texts.DENIED_EXPIRED, _rules(verdict), ask_again=True)
    if covered.digest != bound.digest():
        return Refused(approval_texts.DIFFERENT, _rules(verdict), ask_again=True, then=covered.bound, now=bound)
    if (verdict.step_up or approval.step_up) and not confirmed:
        return Refused(approval_texts.NEEDS_FACTOR, _rules(verdict))
    return Granted(tuple(each for each in verdict.egress if each in approval.egress), approval)


def _is_whole(approval: Approval, covered: Covered) -> bool:
    """Whether the digest that the person decided on is that of the calls which the approval lists."""
    bound = covered.bound
    first = approval.covers[0]
    shown = (first.call_id, first.tool, first.args_sha256) == (approval.call_id, approval.tool, approval.args_sha256)
    joint = joint_digest(each.digest for each in approval.covers)
    return shown and bound is not None and bound.digest() == covered.digest and joint == approval.digest


def _rules(verdict: Ask | Deny) -> tuple[str, ...]:
    return tuple(reason.rule for reason in verdict.reasons)
