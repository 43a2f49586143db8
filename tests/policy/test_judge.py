"""One verdict for one call: who asks, what for, and what was opened."""

import pytest

from contracts.messages import HostGrant
from contracts.provenance import Provenance
from contracts.verdicts import (
    Action,
    Allow,
    Ask,
    CommandAction,
    Deny,
    FileAction,
    MemoryAction,
    SendAction,
    TalkAction,
    VisitAction,
)
from policy.file import parse
from policy.roles import Policy
from policy.shipped import NAME, default_text
from tests.policy.cases_file import ask_policy

SHIPPED = parse(default_text(), NAME)
WEB = Provenance(trusted=False, origins=("web:https://evil.test",))


def policy_with(**parts: str) -> Policy:
    """A one-role policy with the given lines in its sections."""
    return parse(
        f"""
role: worker
permissions:
  browser:
    read: [{parts.get("read", "")}]
    write: [{parts.get("submit", "")}]
    blocked: [{parts.get("blocked_hosts", "")}]
    unlisted: {parts.get("unlisted", "ask")}
  cli:
    read: [/workspace]
    write: [/workspace]
    execute: [{parts.get("execute", "")}]
    blocked: [{parts.get("blocked", "")}]
approval_rules: {{{parts.get("approvals", "")}}}
""",
        "test.yaml",
    )


def rules_of(verdict: Allow | Ask | Deny) -> set[str]:
    return {reason.rule for reason in verdict.reasons}


def test_a_role_that_the_policy_does_not_know_is_denied() -> None:
    verdict = ask_policy(TalkAction(), role="stranger")

    assert verdict.kind == "deny"
    assert rules_of(verdict) == {"role.unknown"}


def test_a_tool_that_names_no_actions_is_denied() -> None:
    verdict = ask_policy()

    assert verdict.kind == "deny"
    assert rules_of(verdict) == {"action.none"}


def test_the_strictest_of_all_actions_decides() -> None:
    verdict = ask_policy(TalkAction(), FileAction(operation="write", path="/srv/x"), CommandAction(script="sudo id"))

    assert verdict.kind == "deny"
    assert rules_of(verdict) == {"command.privilege"}


def test_a_section_that_the_role_does_not_have_permits_nothing() -> None:
    policy = parse("role: reader", "test.yaml")

    assert rules_of(ask_policy(CommandAction(script="ls"), policy=policy)) == {"role.no_cli"}
    assert rules_of(ask_policy(FileAction(operation="read", path="a"), policy=policy)) == {"role.no_cli"}
    assert rules_of(ask_policy(VisitAction(url="https://github.com/"), policy=policy)) == {"role.no_browser"}


@pytest.mark.parametrize("action", [TalkAction(), MemoryAction(operation="remember"), MemoryAction(operation="recall")])
def test_talking_and_remembering_need_no_question(action: Action) -> None:
    assert ask_policy(action).kind == "allow"


def test_the_person_gets_files_unasked_and_others_only_with_a_yes() -> None:
    assert ask_policy(SendAction(recipient="self", what="report.md")).kind == "allow"
    assert ask_policy(SendAction(recipient="bob@example.test", what="report.md")).kind == "ask"


@pytest.mark.parametrize(("choice", "kind"), [("allow", "allow"), ("ask", "ask"), ("deny", "deny")])
def test_the_approval_rule_for_others_is_obeyed(choice: str, kind: str) -> None:
    policy = policy_with(approvals=f"external_communication: {choice}")

    assert ask_policy(SendAction(recipient="bob", what="x"), policy=policy).kind == kind


@pytest.mark.parametrize(
    ("operation", "path", "kind"),
    [
        ("read", "notes.md", "allow"),
        ("read", "/workspace/a/b", "allow"),
        ("read", "/workspace/../etc/shadow", "deny"),
        ("read", "/etc/shadow", "deny"),
        ("read", "~/.ssh/id_rsa", "deny"),
        ("read", "/home/agent/notes", "ask"),
        ("read", ".env", "ask"),
        ("read", "/proc/self/environ", "deny"),
        ("read", "", "deny"),
        ("read", "a\0b", "deny"),
        ("read", "a*[b]?.md", "allow"),
        ("list", "/workspace", "allow"),
        ("list", "~/.ssh", "ask"),
        ("write", "report.md", "allow"),
        ("write", "../x", "ask"),
        ("write", "/etc/hosts", "deny"),
        ("write", "~/.bashrc", "deny"),
        ("write", ".git/hooks/pre-commit", "ask"),
        ("write", "/workspace/" + "a/" * 3_000, "deny"),
        ("delete", "a.txt", "ask"),
        ("delete", "/workspace", "ask"),
        ("delete", "/", "deny"),
        ("delete", "~", "deny"),
    ],
)
def test_files_are_judged_by_where_their_path_leads(operation: str, path: str, kind: str) -> None:
    action = FileAction.model_validate({"operation": operation, "path": path})

    assert ask_policy(action).kind == kind


def test_deleting_needs_no_yes_where_the_person_said_so() -> None:
    policy = policy_with(approvals="data_deletion: allow")

    assert ask_policy(FileAction(operation="delete", path="a.txt"), policy=policy).kind == "allow"
    assert ask_policy(FileAction(operation="delete", path="/etc"), policy=policy).kind == "deny"


def test_a_host_that_the_person_named_is_allowed_and_opened() -> None:
    visit = VisitAction(url="https://docs.example.com/guide")

    unnamed = ask_policy(visit, policy=SHIPPED)
    named = ask_policy(visit, policy=SHIPPED, spoken=("Docs.Example.com",))

    assert isinstance(unnamed, Ask)
    assert unnamed.egress == (HostGrant(host="docs.example.com"),)
    assert isinstance(named, Allow)
    assert named.egress == (HostGrant(host="docs.example.com"),)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.docs.example.com/",
        "https://example.com/",
        "http://docs.example.com/",
        "https://docs.example.com:8443/",
        "https://docs.example.com.evil.test/",
    ],
)
def test_naming_a_host_opens_nothing_beside_it(url: str) -> None:
    assert ask_policy(VisitAction(url=url), policy=SHIPPED, spoken=("docs.example.com",)).kind == "ask"


def test_naming_a_host_does_not_widen_a_closed_list() -> None:
    policy = policy_with(read="github.com", unlisted="deny")

    assert ask_policy(VisitAction(url="https://evil.test/"), policy=policy, spoken=("evil.test",)).kind == "deny"


def test_a_grant_of_the_owner_opens_one_host_at_one_port_in_clear_text_too() -> None:
    grant = HostGrant(host="demo.local", port=8080, address="127.0.0.1:8080")

    opened = ask_policy(VisitAction(url="http://demo.local:8080/page"), policy=SHIPPED, approved=(grant,))
    elsewhere = ask_policy(VisitAction(url="http://demo.local:9090/page"), policy=SHIPPED, approved=(grant,))

    assert isinstance(opened, Allow)
    assert opened.egress == (grant,)
    assert elsewhere.kind == "deny"


def test_a_pinned_host_is_not_resolved_and_an_unpinned_one_must_be_public() -> None:
    pinned = HostGrant(host="demo.example", port=443, address="127.0.0.1:8443")
    unpinned = HostGrant(host="demo.example")
    visit = VisitAction(url="https://demo.example/", dns=(("127.0.0.1",),))

    assert ask_policy(visit, policy=SHIPPED, approved=(pinned,)).kind == "allow"
    assert ask_policy(visit, policy=SHIPPED, approved=(unpinned,)).kind == "deny"


def test_a_block_wins_over_a_grant_a_list_and_the_persons_words() -> None:
    policy = policy_with(read="bank.example", blocked_hosts="bank.example/transfer")
    visit = VisitAction(url="https://bank.example/transfer/now")
    grant = HostGrant(host="bank.example")

    verdict = ask_policy(visit, policy=policy, spoken=("bank.example",), approved=(grant,))

    assert rules_of(verdict) == {"url.blocked"}
    assert verdict.kind == "deny"


def test_submitting_to_a_site_is_asked_unless_it_is_listed_for_that() -> None:
    visit = VisitAction(url="https://github.com/issues", write=True)

    assert ask_policy(visit, policy=policy_with(read="github.com")).kind == "ask"
    assert ask_policy(visit, policy=policy_with(submit="github.com")).kind == "allow"


def test_a_command_is_told_which_hosts_it_would_reach() -> None:
    fetch = CommandAction(script="curl -s https://docs.example.com/a.json | jq .")

    asked = ask_policy(fetch, policy=SHIPPED)
    allowed = ask_policy(fetch, policy=SHIPPED, spoken=("docs.example.com",))

    assert isinstance(asked, Ask)
    assert asked.egress == (HostGrant(host="docs.example.com"),)
    assert isinstance(allowed, Allow)
    assert allowed.egress == (HostGrant(host="docs.example.com"),)
    assert "egress" in allowed.effects


def test_a_command_may_use_a_grant_in_clear_text() -> None:
    grant = HostGrant(host="demo.local", port=8080, address="127.0.0.1:8080")

    assert ask_policy(CommandAction(script="curl http://demo.local:8080/"), approved=(grant,)).kind == "allow"


def test_an_argv_is_judged_as_it_stands() -> None:
    assert ask_policy(CommandAction(argv=("cat", "$(sudo id)"))).kind == "allow"
    assert ask_policy(CommandAction(argv=("sudo", "id"))).kind == "deny"
    assert ask_policy(CommandAction(argv=("sh", "-c", "sudo id"))).kind == "deny"
    assert ask_policy(CommandAction()).kind == "deny"
    assert ask_policy(CommandAction(argv=())).kind == "deny"


def test_the_folder_and_the_environment_of_a_command_count() -> None:
    assert ask_policy(CommandAction(script="rm -rf *", cwd="/")).kind == "deny"
    assert ask_policy(CommandAction(script="rm -rf build", cwd="/workspace/app")).kind == "allow"
    assert ask_policy(CommandAction(script="rm -rf $TARGET", env={"TARGET": "/"})).kind == "deny"
    assert ask_policy(CommandAction(script="ls", env={"LD_PRELOAD": "./x.so"})).kind == "ask"


@pytest.mark.parametrize(
    ("pattern", "script", "kind"),
    [
        ("git push", "git push origin main", "deny"),
        ("git push", "cd src && git push", "deny"),
        ("git push --force", "git push -u origin x", "ask"),
        ("git push --force", "git push origin x --force", "deny"),
        ("rm -rf", "rm -r -f build", "deny"),
        ("rm -rf", "rm build.txt", "allow"),
        ("rm -rf", "find . -name x.tmp -exec rm -fr {} +", "deny"),
        ("curl", "ls && $(echo curl) x", "deny"),
        ("curl", "timeout 5 env curl -V", "deny"),
        ("/workspace/private", "cat private/a", "deny"),
        ("/workspace/private", "cat pri*/a", "deny"),
        ("/workspace/private", "cat public/a", "allow"),
        ("/workspace/private", "cd private; ls", "deny"),
    ],
)
def test_blocked_commands_and_folders_are_denied_in_every_spelling(pattern: str, script: str, kind: str) -> None:
    assert ask_policy(CommandAction(script=script), policy=policy_with(blocked=pattern)).kind == kind


@pytest.mark.parametrize(
    ("execute", "script", "kind"),
    [
        ("", "python3 app.py", "ask"),
        ("'*'", "python3 app.py", "ask"),
        ("python3", "python3 app.py", "allow"),
        ("python3", "python3 -c 'print(1)'", "ask"),
        ("python3", "echo x > app.py; python3 app.py", "ask"),
        ("python3", "python3 /tmp/agent/app.py", "ask"),
        ("make", "make -f /tmp/agent/Makefile", "ask"),
        ("/workspace/scripts", "./scripts/build.sh", "allow"),
        ("/workspace/scripts", "bash scripts/build.sh", "allow"),
        ("/workspace/scripts", "bash scripts/../other.sh", "ask"),
        ("/workspace/scripts", "./other.sh", "ask"),
        ("npm run", "npm run build", "allow"),
        ("npm run build", "npm run deploy", "ask"),
        ("npm run", "npm install", "ask"),
    ],
)
def test_unseen_code_runs_unasked_only_where_the_policy_names_it(execute: str, script: str, kind: str) -> None:
    assert ask_policy(CommandAction(script=script), policy=policy_with(execute=execute)).kind == kind


def test_what_a_page_said_becomes_no_command_no_recipient_and_no_destination() -> None:
    for action in (
        CommandAction(script="ls"),
        SendAction(recipient="bob", what="x"),
        VisitAction(url="https://github.com/"),
    ):
        verdict = ask_policy(action, provenance=WEB)
        assert verdict.kind == "ask"
        assert "provenance.untrusted" in rules_of(verdict)


def test_what_a_page_said_may_still_be_shown_to_the_person() -> None:
    assert ask_policy(SendAction(recipient="self", what="x"), provenance=WEB).kind == "allow"
    assert (
        ask_policy(VisitAction(url="https://a.example/"), provenance=WEB, policy=SHIPPED, spoken=("a.example",)).kind
        == "allow"
    )


def test_risk_grows_with_effects_taint_and_strictness() -> None:
    quiet = ask_policy(CommandAction(script="ls"))
    writing = ask_policy(CommandAction(script="touch a"))
    tainted = ask_policy(CommandAction(script="touch a"), tainted=True)
    asked = ask_policy(CommandAction(script="pip install x"))
    denied = ask_policy(CommandAction(script="sudo id"))

    assert quiet.risk < writing.risk < tainted.risk < asked.risk < denied.risk == 100


def test_the_verdict_names_the_version_of_the_policy() -> None:
    assert ask_policy(TalkAction(), policy=SHIPPED).policy_version == SHIPPED.version


def test_a_reason_shows_control_characters_escaped_and_stays_short() -> None:
    verdict = ask_policy(CommandAction(script="ls \x1b[2K"), CommandAction(script="frobnicate " + "x" * 5_000))

    assert all(reason.detail.isprintable() and len(reason.detail) <= 200 for reason in verdict.reasons)
    assert verdict.reasons[0].detail == "\\x1b"
