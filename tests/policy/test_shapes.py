"""What a person allows for good passes without a question, and nothing else does."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.approvals import Shape, StandingRule
from contracts.messages import HostGrant
from contracts.provenance import Provenance, Traced
from contracts.verdicts import (
    Action,
    Actor,
    Allow,
    Ask,
    CommandAction,
    Deny,
    EffectAction,
    FileAction,
    Question,
    SendAction,
    Verdict,
    VisitAction,
)
from policy.file import parse
from policy.judge import judge
from policy.roles import Policy

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
WHO = Actor(user_id="telegram:7", role="owner", channel="telegram")


def policy_of(blocked: str = "") -> Policy:
    permissions = f"""
    permissions:
      browser: {{read: [listed.test], blocked: [{blocked}], unlisted: ask}}
      cli: {{read: [/workspace], write: [/workspace]}}
      api: {{scopes: ["*"]}}"""
    return parse(f"roles:\n  - role: owner{permissions}\n  - role: guest{permissions}\n", "policy.yaml")


POLICY = policy_of()


def ask(
    *actions: Action,
    standing: tuple[StandingRule, ...] = (),
    policy: Policy = POLICY,
    changes: dict[str, object] | None = None,
) -> Verdict:
    question = Question(
        actor=WHO,
        tool="shell",
        args={},
        actions=actions,
        provenance=Provenance(trusted=True, origins=("user",)),
        standing=standing,
        at=NOW,
    )
    return judge(question.model_copy(update=changes), policy)


def shell(script: str, cwd: str = "/workspace") -> CommandAction:
    return CommandAction(script=script, cwd=cwd)


def shape(*actions: Action) -> Shape | None:
    verdict = ask(*actions)
    assert isinstance(verdict, Ask), verdict
    return verdict.shape


def always(*actions: Action) -> StandingRule:
    """The rule that a person makes by saying always to this."""
    kind = shape(*actions)
    assert kind is not None
    return StandingRule(rule_id="r1", user_id=WHO.user_id, shape=kind, by=WHO.user_id, at=NOW, role=WHO.role)


SAME = [
    (shell("curl https://x.test/a"), shell("curl 'https://x.test/b?c=d'")),
    (shell("pip install requests"), shell("pip install requests")),
    (shell("mystery --fast ./in/a.txt"), shell("mystery --fast in/b.txt")),
    (shell("cat /data/one"), shell("cat /data/two")),
    (VisitAction(url="https://x.test/a"), VisitAction(url="https://x.test/b")),
    (FileAction(operation="read", path="/data/one"), FileAction(operation="read", path="/data/two")),
    (SendAction(recipient="anna@x.test", what="a"), SendAction(recipient="anna@x.test", what="b")),
]

DIFFERENT = [
    (shell("curl https://x.test/a"), shell("curl https://y.test/a")),
    (shell("curl https://x.test/a"), shell("curl --insecure https://x.test/a")),
    (shell("curl https://x.test/a"), shell("wget https://x.test/a")),
    (shell("curl https://x.test/a"), shell("curl https://x.test/a; mystery")),
    (shell("curl https://x.test/a"), shell("curl https://x.test:8443/a")),
    (shell("pip install requests"), shell("pip install reqeusts")),
    (shell("mystery --fast ./in/a.txt"), shell("mystery --fast out/a.txt")),
    (shell("mystery a"), shell("mystery a", cwd="/workspace/b")),
    (shell("cat /data/one"), shell("cat /other/one")),
    (VisitAction(url="https://x.test/a"), VisitAction(url="https://x.test/a", write=True)),
    (VisitAction(url="https://x.test/a"), VisitAction(url="https://y.test/a")),
    (FileAction(operation="read", path="/data/one"), FileAction(operation="read", path="/data/in/one")),
    (FileAction(operation="read", path="/data/one"), FileAction(operation="write", path="/data/one")),
    (SendAction(recipient="anna@x.test", what="a"), SendAction(recipient="bob@x.test", what="a")),
]


@pytest.mark.parametrize(("first", "second"), SAME)
def test_the_same_kind_of_call_is_not_asked_again(first: Action, second: Action) -> None:
    verdict = ask(second, standing=(always(first),))

    assert isinstance(verdict, Allow)
    assert verdict.standing == "r1"


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_another_kind_of_call_is_asked(first: Action, second: Action) -> None:
    assert not isinstance(ask(second, standing=(always(first),)), Allow)


def test_what_passes_by_a_rule_reaches_the_hosts_that_were_approved() -> None:
    verdict = ask(shell("curl https://x.test/a"), standing=(always(shell("curl https://x.test/b")),))

    assert isinstance(verdict, Allow)
    assert verdict.egress == (HostGrant(host="x.test"),)
    assert verdict.destinations == ("x.test",)


@pytest.mark.parametrize(
    "action",
    [
        shell("rm -rf /workspace"),
        shell("curl https://x.test/$(date)"),
        shell("curl https://x.test/$PLACE"),
        shell("echo 'x' > a.sh; bash a.sh"),
        shell("mystery *"),
        shell("cat ~/.netrc"),
        shell("a; b; c; d; e"),
        CommandAction(script="mystery", env={"PATH": "/workspace"}),
        EffectAction(effects=("money",), destinations=("IBAN1",), amount=5),
        EffectAction(effects=("account",)),
    ],
)
def test_some_calls_are_asked_every_time(action: Action) -> None:
    verdict = ask(action)

    assert getattr(verdict, "shape", None) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"provenance": Provenance(trusted=False, origins=("web:https://evil.test",))},
        {
            "arguments": (
                Traced(name="url", kind="destination", text="x", how="foreign", provenance=Provenance(trusted=False)),
            )
        },
        {"actor": WHO.model_copy(update={"role": "guest"})},
        {"actor": WHO.model_copy(update={"user_id": "telegram:8"})},
        {"at": NOW + timedelta(days=2)},
    ],
    ids=["untrusted", "steered", "another role", "another person", "expired"],
)
def test_a_rule_counts_for_its_person_in_their_role_and_for_their_own_words(changes: dict[str, object]) -> None:
    rule = always(shell("curl https://x.test/a")).model_copy(update={"expires_at": NOW + timedelta(days=1)})

    assert not isinstance(ask(shell("curl https://x.test/a"), standing=(rule,), changes=changes), Allow)


def test_a_policy_that_has_become_stricter_wins_over_every_rule() -> None:
    rule = always(shell("curl https://x.test/a"))

    verdict = ask(shell("curl https://x.test/a"), standing=(rule,), policy=policy_of(blocked="x.test"))

    assert isinstance(verdict, Deny)


def test_money_and_credentials_need_a_second_factor() -> None:
    paid = ask(EffectAction(effects=("money",)), shell("curl https://x.test/a"))
    key = ask(shell("cat /workspace/.env"))
    plain = ask(shell("curl https://x.test/a"))

    assert [each.step_up for each in (paid, key, plain) if isinstance(each, Ask)] == [True, True, False]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (shell("curl https://x.test/a"), VisitAction(url="https://x.test/b"), True),
        (shell("curl https://x.test/a"), shell("wget https://x.test/c"), True),
        (shell("curl -d @a https://x.test"), shell("curl https://x.test"), True),
        (shell("curl https://x.test/a"), shell("curl https://y.test/a"), False),
        (shell("pip install a"), shell("pip3 install a"), True),
        (shell("pip install a"), shell("pip install b"), False),
        (shell("cat /data/one"), FileAction(operation="read", path="/data/one"), True),
        (SendAction(recipient="Anna@x.test", what="a"), SendAction(recipient="anna@x.test", what="b"), True),
    ],
)
def test_an_aim_is_the_same_whatever_way_is_taken(first: Action, second: Action, same: bool) -> None:
    one, other = ask(first), ask(second)

    assert isinstance(one, Ask)
    assert isinstance(other, Ask)
    assert (not set(one.aim.splitlines()).isdisjoint(other.aim.splitlines())) is same
