"""The switches: each breaks one promise at the one place that keeps it, and names the test that must notice."""

import sqlite3

from temporalio.api.common.v1 import Payload

from activities import acting, granting, preparing
from audit.ledger import Ledger
from contracts.activities import JudgeOutcome
from contracts.delivery import DeliverRequest
from contracts.ledger import Begun
from contracts.messages import HostGrant
from contracts.sandbox import Lease
from contracts.tools import ToolResult
from contracts.verdicts import Allow, Deny
from gateway import outbox
from runtime.codec import EncryptionCodec
from runtime.redact import Redactor
from sandbox.grants import Grants
from sandbox.host import SandboxHost
from sandbox.rules import Laws
from tests.invariants.consents import CONSENTS
from tests.invariants.hosts import HOSTS
from tests.invariants.limits import LIMITS
from tests.invariants.lives import LIVES
from tests.invariants.origins import ORIGINS
from tests.invariants.records import RECORDS
from tests.invariants.rules import RULES
from tests.invariants.stops import STOPS
from tests.invariants.switch import Switch, all_of, always, always_soon, in_vain, replaced
from tests.invariants.vaults import VAULTS
from workflows import calls, messages
from workflows.calls import Calls
from workflows.conversation import ConversationWorkflow
from workflows.workplace import Workplace


class Nothing:
    """No value is one of these."""


async def _placed_at_once(of: Calls, judged: JudgeOutcome) -> Lease | None:
    return await of._workplace.lease(judged.demands) if judged.needs_sandbox else None


def _forgets_whose_turn(connection: sqlite3.Connection, request: DeliverRequest, run_id: str) -> str:
    return f"task/{request.status.record.task_id}/0"


def _in_clear(_: EncryptionCodec, payload: Payload) -> Payload:
    return payload


def _as_it_is(result: ToolResult, _: object) -> ToolResult:
    return result


def _matches_all(_: Grants, host: str, port: int) -> list[HostGrant]:
    return [HostGrant(host=host, port=port, address="127.0.0.1:9")]


TASK = "tests/workflows/test_task.py"
CHAT = "tests/workflows/test_conversation.py"
ACTING = "tests/tools/test_acting.py"

SWITCHES = (
    Switch(
        "a denied call never runs, says the workflow",
        f"{TASK}::test_a_denied_call_never_runs_and_the_planner_learns_why",
        # What is denied then goes the way of what is allowed.
        all_of(replaced(calls, "Deny", Nothing), replaced(calls, "Allow", (Allow, Deny))),
    ),
    Switch(
        "a denied call never runs, says the worker",
        f"{ACTING}::test_a_denied_call_does_not_run",
        replaced(preparing, "grant", always(granting.Granted(egress=()))),
    ),
    Switch(
        "an approval is for one call and its arguments, says the workflow",
        f"{TASK}::test_a_stale_changed_or_foreign_decision_is_refused",
        replaced(messages, "check_decision", always(None)),
    ),
    Switch(
        "an approval is for one call and its arguments, says the worker",
        f"{ACTING}::test_a_call_that_asks_runs_with_no_other_approval_than_its_own[change4-denied]",
        replaced(granting, "_is_whole", always(True)),
    ),
    Switch(
        "a decision counts once",
        f"{TASK}::test_a_decision_counts_once",
        replaced(messages, "check_decision", always(None)),
    ),
    Switch(
        "the same message starts one task",
        f"{CHAT}::test_the_same_message_five_times_starts_one_task",
        replaced(ConversationWorkflow, "_remember", always(None)),
    ),
    Switch(
        "no call starts while the task is paused",
        f"{TASK}::test_a_paused_task_starts_no_call_until_it_is_resumed",
        replaced(Calls, "_place", _placed_at_once),
    ),
    Switch(
        "an effect begins once, says the ledger",
        "tests/audit/test_ledger.py::test_of_many_at_once_one_begins",
        replaced(Ledger, "begin", always_soon(Begun())),
    ),
    Switch(
        "an effect in doubt is not caused again, says the worker",
        f"{ACTING}::test_a_command_in_doubt_is_not_run_in_another_sandbox",
        replaced(acting, "_may_run_again", always(True)),
    ),
    Switch(
        "an older view never takes the place of a newer one",
        "tests/gateway/test_delivering.py::test_an_older_status_and_one_after_the_end_change_nothing",
        replaced(outbox, "_admit", _forgets_whose_turn),
    ),
    Switch(
        "the server sees ciphertext",
        "tests/workflows/test_sealed.py::test_nothing_of_a_task_is_readable_on_the_server",
        replaced(EncryptionCodec, "_seal", _in_clear),
    ),
    Switch(
        "a sandbox reaches no host that was not granted",
        "tests/sandbox/test_egress.py::test_what_was_not_granted_is_refused_with_host_and_remedy",
        replaced(Grants, "matching", _matches_all),
    ),
    Switch(
        "what the policy file blocks is closed whatever was granted",
        "tests/sandbox/test_egress_rules.py::test_a_block_takes_in_all_below_the_name_and_wins_over_every_grant",
        replaced(Laws, "closed", always(None)),
    ),
    Switch(
        "a known secret is masked",
        "tests/runtime/test_redact.py::test_a_value_is_masked_from_its_registration_on",
        replaced(Redactor, "register", always(None)),
    ),
    Switch(
        "what a tool gives is masked before it is kept",
        f"{ACTING}::test_secrets_are_taken_out_of_all_that_is_kept",
        replaced(acting, "redacted", _as_it_is),
    ),
    Switch(
        "a sandbox ends with its task, says the workflow",
        f"{TASK}::test_calls_run_in_one_sandbox_that_sleeps_once_the_task_has_ended",
        replaced(Workplace, "leave", in_vain),
    ),
    Switch(
        "a sandbox ends with its task, says its host",
        "tests/sandbox/test_host.py::test_nothing_is_left_after_release[bubblewrap]",
        replaced(SandboxHost, "release", in_vain),
    ),
    *RULES,
    *ORIGINS,
    *LIMITS,
    *CONSENTS,
    *STOPS,
    *RECORDS,
    *LIVES,
    *HOSTS,
    *VAULTS,
)
