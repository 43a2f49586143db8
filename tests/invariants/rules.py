"""Promises that policy keeps: who may do what, and what a command, a link or a page would reach; and how each is
broken."""

from dataclasses import replace

from activities import acting, resolving
from activities.policy_source import PolicyFile
from gateway.access import Standing
from gateway.pairing import Pairing
from policy import effects, judge, permissions, tightening
from policy.cedar.ruleset import Answer, CedarRule, Request, RuleSet
from policy.cedar.statements import own_rules
from policy.commands import analysis, scene, walk
from policy.commands.scene import Scene
from policy.document import Entry
from policy.findings import Findings, Level
from policy.hosts import HostPattern
from policy.passage import Passage
from policy.permissions import requests_of
from policy.roles import CommandRules, Policy, Role
from policy.sections import command_rules
from policy.urls import KnownHosts
from sandbox import egress
from tests.invariants.switch import Switch, always, always_soon, replaced

_answer = RuleSet._answer


def _hears_no_prohibition(rules: RuleSet, indexes: tuple[int, ...], request: Request) -> Answer:
    return _answer(rules, tuple(index for index in indexes if not rules.rules[index].forbids), request)


def _hears_no_problem(rules: RuleSet, indexes: tuple[int, ...], request: Request) -> Answer:
    return replace(_answer(rules, indexes, request), problem="")


def _about_the_tool_alone(*given: object) -> list[Request]:
    return list(requests_of(*given))[:1]  # type: ignore[arg-type]  # passed on as they came


def _theirs_in_place_of_mine(_: Role, entry: Entry, __: object) -> tuple[CommandRules, CommandRules]:
    theirs = command_rules(entry)
    return theirs, theirs


def _permissions_too(entry: Entry, roles: tuple[str, ...], _: object) -> list[CedarRule]:
    return list(own_rules(entry, roles, "overlay/cedar"))


def _least(findings: Findings) -> Level:
    return min((finding.level for finding in findings.found), default=Level.ALLOW)


def _at_any_port(known: KnownHosts, host: str, _: int) -> object:
    return next((grant for grant in known.grants if grant.host == host), None)


def _unread(source: PolicyFile[str]) -> str:
    return source._path.read_text("utf-8")


POLICY = "tests/policy"
TIGHTER = f"{POLICY}/test_tightening.py"
LINKS = "tests/tools/test_links.py"

RULES = (
    Switch(
        "what no rule permits is denied",
        f"{POLICY}/test_permissions.py::test_without_any_rule_nothing_is_permitted",
        replaced(judge, "authorise", always(None)),
    ),
    Switch(
        "each effect is granted by a rule, and not the tool alone",
        f"{POLICY}/test_permissions.py::test_an_effect_that_nothing_permits_is_denied_whatever_it_is",
        replaced(permissions, "requests_of", _about_the_tool_alone),
    ),
    Switch(
        "a prohibition wins over every permission",
        f"{POLICY}/test_own_rules.py::test_a_prohibition_wins_over_every_permission_and_over_a_question",
        replaced(RuleSet, "_answer", _hears_no_prohibition),
    ),
    Switch(
        "a rule that cannot be evaluated permits nothing",
        f"{POLICY}/test_own_rules.py::test_the_persons_own_rules_decide_by_the_facts_of_the_question",
        replaced(RuleSet, "_answer", _hears_no_problem),
    ),
    Switch(
        "the strictest of all findings decides",
        f"{POLICY}/test_judge.py::test_the_strictest_of_all_actions_decides",
        replaced(Findings, "level", property(_least)),
    ),
    Switch(
        "who is blocked may do nothing, says policy",
        f"{POLICY}/test_permissions.py::test_a_blocked_sender_may_do_nothing_and_a_listed_one_has_the_role_of_the_file",
        replaced(Policy, "blocks", always(False)),
    ),
    Switch(
        "who is blocked is nobody, says the gateway",
        "tests/gateway/test_access.py::test_a_sender_who_is_blocked_is_nobody_at_once_and_no_code_helps",
        replaced(Pairing, "_standing", always_soon(Standing())),
    ),
    Switch(
        "a project's file permits only what the person's own permits",
        f"{TIGHTER}::test_what_a_projects_file_changes",
        replaced(tightening, "_cli", _theirs_in_place_of_mine),
    ),
    Switch(
        "rules in a project's file only forbid",
        f"{TIGHTER}::test_no_permission_of_a_projects_file_opens_what_the_person_left_closed",
        replaced(tightening, "_prohibitions", _permissions_too),
    ),
    Switch(
        "a project's file only lowers limits",
        f"{TIGHTER}::test_lower_limits_and_a_runtime_are_taken",
        replaced(tightening, "lower_ceilings", lambda mine, theirs: theirs or mine),
    ),
    Switch(
        "what cannot be taken back is asked by the approval rules",
        f"{POLICY}/test_file_sections.py::test_what_cannot_be_taken_back_is_asked_by_the_shipped_policy",
        replaced(judge, "judge_effects", always(None)),
    ),
    Switch(
        "an amount that nobody knows is not small",
        f"{POLICY}/test_permissions.py::test_what_foreign_services_do_is_asked_by_the_approval_rules",
        replaced(effects, "_is_small", lambda amount, most: amount is None or amount <= most),
    ),
    Switch(
        "a changed policy file is in force at once",
        "tests/tools/test_judging.py::test_a_changed_policy_file_is_in_force_at_once",
        replaced(PolicyFile, "current", lambda source: source._policy),
    ),
    Switch(
        "a broken policy file leaves the former one in force",
        "tests/tools/test_policy_source.py::test_a_refused_change_is_told_once_with_the_version_that_stays",
        replaced(PolicyFile, "_read", _unread),
    ),
    Switch(
        "a grant opens one host at one port",
        f"{POLICY}/test_judge.py::test_a_grant_of_the_owner_opens_one_host_at_one_port_in_clear_text_too",
        replaced(KnownHosts, "grant", _at_any_port),
    ),
    Switch(
        "a block wins over a grant, a list and the person's words",
        f"{POLICY}/test_judge.py::test_a_block_wins_over_a_grant_a_list_and_the_persons_words",
        replaced(HostPattern, "catches", always(False)),
    ),
    Switch(
        "a script that cannot be shown honestly is denied",
        f"{POLICY}/test_judge.py::test_a_reason_shows_control_characters_escaped_and_stays_short",
        replaced(walk, "screen", always(True)),
    ),
    Switch(
        "a word that cannot be shown honestly does not run without a shell either",
        f"{POLICY}/test_further_cases.py::test_words_of_a_command_without_a_shell_stand_for_themselves",
        replaced(analysis, "screen", always(True)),
    ),
    Switch(
        "what policy cannot follow in a command is asked",
        f"{POLICY}/test_judge.py::test_the_folder_and_the_environment_of_a_command_count",
        replaced(analysis, "judge_assignment", always(None)),
    ),
    Switch(
        "what a word stands for is known or asked",
        f"{POLICY}/test_further_cases.py::test_no_dangerous_command_of_a_kind_runs_unasked[nesting]",
        replaced(Scene, "unresolved", always(None)),
    ),
    Switch(
        "where a known link leads is judged as well",
        f"{LINKS}::test_the_verdict_on_a_call_counts_links_that_are_known",
        replaced(scene, "leads", always(())),
    ),
    Switch(
        "links are followed right before the effect",
        f"{LINKS}::test_a_link_cannot_take_the_file_tool_elsewhere[read]",
        replaced(acting, "led_elsewhere", always_soon(None)),
    ),
    Switch(
        "an approval does not cover what a link adds",
        f"{LINKS}::test_an_approval_does_not_cover_what_a_link_adds",
        replaced(resolving, "is_stricter", always(False)),
    ),
    Switch(
        "a page fetches only what is open to its call and not closed to its role",
        f"{POLICY}/test_passage.py::test_a_visit_fetches_what_is_open_to_its_call_and_not_closed_to_its_role",
        replaced(Passage, "closed", always(None)),
    ),
    Switch(
        "the way out is closed where the role's rules close it",
        "tests/sandbox/test_egress_rules.py::test_the_way_out_holds_to_what_a_role_never_may",
        replaced(egress, "closed_to_role", always_soon(None)),
    ),
)
