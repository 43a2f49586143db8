"""Promises about a person's yes and the second factor, and how each is broken."""

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from activities import acting, examining, preparing, preview
from activities.binding import bound_of
from activities.granting import grant
from audit.ledger import Ledger
from audit.standing import Standing
from contracts.activities import Fingerprint
from contracts.approvals import StandingRule, StepUp
from contracts.sandbox import Files
from contracts.task import Approval, Decision
from contracts.verdicts import Ask
from gateway import approvals_page, reception
from gateway.channel import Incoming
from gateway.deciding import Deciding
from gateway.pairing import Person
from policy import concluding, shapes
from policy.rules import Rule
from policy.shapes import fits
from runtime import second_factor
from runtime.second_factor import SecondFactor
from tests.invariants.switch import Switch, all_of, always, always_soon, replaced
from workflows import messages
from workflows.approving import Approving
from workflows.messages import check_decision
from workflows.state import TaskState

AGES_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def _at_any_time(state: TaskState, decision: Decision, _: datetime) -> None:
    check_decision(state, decision, AGES_AGO)


def _whatever_was_shown(state: TaskState, decision: Decision, now: datetime) -> None:
    open_ = state.approval
    if open_ is not None:
        shown = {"call_id": open_.call_id, "args_sha256": open_.args_sha256, "digest": open_.digest}
        decision = decision.model_copy(update=shown)
    check_decision(state, decision, now)


def _whatever_is_open(state: TaskState, decision: Decision, now: datetime) -> None:
    if state.approval is not None:
        decision = decision.model_copy(update={"approval_id": state.approval.approval_id})
    _whatever_was_shown(state, decision, now)


_check_decider = messages._check_decider


def _for_good_from_anybody(state: TaskState, approval: Approval, decision: Decision) -> None:
    _check_decider(state, approval, decision.model_copy(update={"always": ""}))


def _never_expires(verdict: Any, given: Approval | None, call_id: str, bound: Any, _: datetime, **more: Any) -> object:
    return grant(verdict, given, call_id, bound, AGES_AGO, **more)


def _as_it_was(verdict: Any, given: Approval | None, call_id: str, bound: Any, now: datetime, **more: Any) -> object:
    """What the person saw, in place of what would happen now."""
    covers = given.covers if given is not None else ()
    seen = next((each.bound for each in covers if each.call_id == call_id and each.bound is not None), bound)
    return grant(verdict, given, call_id, seen, now, **more)


async def _unchanged(_: Files, __: Sequence[str]) -> Fingerprint:
    """Of every script."""
    return Fingerprint(real={}, content={})


def _of_no_policy(tool: str, args: str, actions: Any, _: str, **more: Any) -> object:
    return bound_of(tool, args, actions, "", **more)


_looked_at = second_factor._looked_at


def _forgets_the_last(stored: Any, code: str, now: datetime) -> Any:
    return _looked_at(stored.model_copy(update={"last_step": 0}), code, now)


def _for_any_purpose(factor: SecondFactor, step_up: StepUp | None, _: str, now: datetime) -> bool:
    return step_up is not None and _verify(factor, step_up, step_up.purpose, now)


_verify = SecondFactor.verify


def _without_a_factor(**said: Any) -> Ask:
    return Ask(**(said | {"step_up": False}))


def _all_the_same(rules: Standing, rule_id: str, user_id: str | None, by: str, now: datetime) -> Awaitable[bool]:
    """Whoever asks."""
    return _revoke(rules, rule_id, None, by, now)


_revoke = Standing.revoke


_add = Standing.add


async def _added_anew(rules: Standing, rule: StandingRule) -> None:
    place = (rule.rule_id, rule.user_id)
    await rules._database.write(
        lambda connection: connection.execute("DELETE FROM standing WHERE rule_id = ? AND user_id = ?", place)
    )
    await _add(rules, rule)


def _for_everybody(rule: Any, shape: Any, question: Any) -> bool:
    return fits(rule.model_copy(update={"user_id": question.actor.user_id}), shape, question)


_serve = reception.Reception._serve


async def _as_their_own(desk: reception.Reception, incoming: Incoming, person: Person) -> None:
    await _serve(desk, replace(incoming, forwarded_from=None), person)


ABUSE = "tests/workflows/test_approval_abuse.py::test_no_abuse_of_a_kind_is_honoured"
BINDING = "tests/tools/test_binding.py"
FACTOR = "tests/runtime/test_second_factor.py"
SHAPES = "tests/policy/test_shapes.py"
DECIDING = "tests/gateway/test_deciding.py"

CONSENTS = (
    Switch(
        "a decision that comes late does not count",
        f"{ABUSE}[late]",
        replaced(messages, "check_decision", _at_any_time),
    ),
    Switch(
        "a decision counts for what was shown alone",
        f"{ABUSE}[edited]",
        replaced(messages, "check_decision", _whatever_was_shown),
    ),
    Switch(
        "a decision counts for the question that it names",
        f"{ABUSE}[replayed]",
        replaced(messages, "check_decision", _whatever_is_open),
    ),
    Switch(
        "nobody else decides",
        f"{ABUSE}[foreign]",
        replaced(messages, "_check_decider", always(None)),
    ),
    Switch(
        "whom the policy lets decide does so once, and not for good",
        f"{ABUSE}[approver_for_good]",
        replaced(messages, "_check_decider", _for_good_from_anybody),
    ),
    Switch(
        "a yes that needs a second factor is none without it, says the workflow",
        f"{ABUSE}[without_second_factor]",
        replaced(messages, "_check_step_up", always(None)),
    ),
    Switch(
        "a task that has ended takes no decision",
        f"{ABUSE}[after_the_end]",
        replaced(messages, "check_open", always(None)),
    ),
    Switch(
        "an approval expires, says the worker",
        "tests/tools/test_acting.py::test_a_call_that_asks_runs_with_no_other_approval_than_its_own[change7-changed]",
        replaced(acting, "grant", _never_expires),
    ),
    Switch(
        "a yes of before the task read foreign content does not count",
        f"{BINDING}::test_a_yes_of_before_the_task_read_foreign_content_does_not_count",
        replaced(acting, "grant", _as_it_was),
    ),
    Switch(
        "a yes to a script does not count once the script is another",
        f"{BINDING}::test_a_script_that_appears_after_the_yes_does_not_run",
        replaced(preparing, "fingerprint_of", _unchanged),
    ),
    Switch(
        "a yes under another policy does not count",
        f"{BINDING}::test_a_yes_under_another_policy_does_not_count",
        replaced(examining, "bound_of", _of_no_policy),
    ),
    Switch(
        "an approval is used up, says the worker",
        f"{BINDING}::test_an_approval_is_used_up_by_its_call",
        replaced(acting.Acting, "_used", always_soon(True)),
    ),
    Switch(
        "an approval is used up, says the ledger",
        "tests/audit/test_ledger.py::test_an_approval_is_used_once_for_each_call_it_covers",
        replaced(Ledger, "use_approval", always_soon(True)),
    ),
    Switch(
        "a proof of another installation does not count",
        f"{BINDING}::test_only_a_proof_of_this_installation_for_this_approval_lets_a_call_run_that_needs_one",
        replaced(SecondFactor, "verify", lambda _, step_up, purpose, now: step_up is not None),
    ),
    Switch(
        "a proof is made with the installation's key",
        f"{FACTOR}::test_another_installation_cannot_make_a_proof",
        replaced(SecondFactor, "_proof", lambda _, purpose, by, at: f"{purpose} {by} {at}"),
    ),
    Switch(
        "a proof is for one purpose",
        f"{FACTOR}::test_a_code_proves_one_purpose_and_no_other",
        replaced(SecondFactor, "verify", _for_any_purpose),
    ),
    Switch(
        "a code counts once",
        f"{FACTOR}::test_after_a_later_code_an_earlier_one_counts_no_more",
        replaced(second_factor, "_looked_at", _forgets_the_last),
    ),
    Switch(
        "wrong codes lock",
        f"{FACTOR}::test_five_wrong_codes_lock_it_and_the_wait_grows",
        replaced(second_factor, "WRONG_ALLOWED", 1_000),
    ),
    Switch(
        "some effects are asked every time",
        f"{SHAPES}::test_some_calls_are_asked_every_time",
        all_of(replaced(shapes, "NEVER_STANDING", frozenset()), replaced(shapes, "MAY_STAND", frozenset(Rule))),
    ),
    Switch(
        "what a person allowed for good holds for that kind of call alone",
        f"{SHAPES}::test_another_kind_of_call_is_asked",
        replaced(concluding, "fits", always(True)),
    ),
    Switch(
        "what a person allowed for good holds for that person alone",
        f"{SHAPES}::test_a_rule_counts_for_its_person_in_their_role_and_for_their_own_words",
        replaced(concluding, "fits", _for_everybody),
    ),
    Switch(
        "money and credentials want a second factor",
        f"{SHAPES}::test_money_and_credentials_need_a_second_factor",
        replaced(concluding, "Ask", _without_a_factor),
    ),
    Switch(
        "what was allowed for good and taken back does not come back",
        "tests/audit/test_standing.py::test_a_revoked_rule_is_gone_for_every_process_and_no_retry_brings_it_back",
        replaced(Standing, "add", _added_anew),
    ),
    Switch(
        "nobody takes back what another person allowed",
        "tests/audit/test_standing.py::test_nobody_revokes_the_rule_of_another_but_the_owner",
        replaced(Standing, "revoke", _all_the_same),
    ),
    Switch(
        "what was denied twice is not tried in another way",
        "tests/workflows/test_approvals.py::test_after_two_denials_of_one_aim_no_way_to_it_is_asked_or_tried",
        replaced(Approving, "given_up", always("")),
    ),
    Switch(
        "forwarded words decide nothing",
        f"{DECIDING}::test_a_forwarded_yes_in_reply_to_the_card_decides_nothing",
        replaced(reception.Reception, "_serve", _as_their_own),
    ),
    Switch(
        "words from before the question stood there decide nothing",
        f"{DECIDING}::test_a_word_that_was_written_before_the_question_stood_there_decides_nothing",
        replaced(reception, "SEEN_AFTER", timedelta(days=-9_999)),
    ),
    Switch(
        "a yes that needs a code is none without it, says the gateway",
        f"{DECIDING}::test_a_yes_that_needs_a_code_is_told_how_and_a_code_makes_it_count_once",
        replaced(Deciding, "_stepped_up", always_soon(None)),
    ),
    Switch(
        "no other page decides",
        f"{DECIDING}::test_the_page_takes_no_decision_that_is_not_of_its_own_form",
        replaced(approvals_page, "is_own_page", always(True)),
    ),
    Switch(
        "a card shows what there is",
        "tests/tools/test_preview.py::test_what_cannot_be_seen_is_shown_as_its_code",
        replaced(preview, "_visible", lambda character: character),
    ),
)
