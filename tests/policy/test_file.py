"""The policy file: the shape that is accepted, and what is said of mistakes."""

import json

import pytest

from contracts.egress import EgressRules
from contracts.provenance import Effect
from contracts.verdicts import Actor, Allow, Ask, Question
from policy.document import PolicyError
from policy.file import parse
from policy.roles import Rate
from policy.sandboxes import Wanted, wanted
from policy.shipped import NAME, default_text

FULL = """
role: researcher
permissions:
  browser:
    read: ["*.wikipedia.org", github.com]
    write: [github.com/issues]
    execute: []
    blocked: [bank.example/transfer]
  cli:
    read: [/workspace/**, ~/docs]
    write: [/workspace]
    execute: [python3, npm run, ./scripts]
    blocked: ["rm -rf", /workspace/private]
  api:
    budget_daily: 12.5
    rate_limit: 60/min
    scopes: [gmail.read]
approval_rules:
  spending_over: 50
  data_deletion: true
  external_communication: never
  credential_access: deny
"""


def test_the_published_shape_is_accepted_as_it_stands() -> None:
    role = parse(FULL, "p.yaml").roles["researcher"]

    assert role.browser is not None
    assert role.cli is not None
    assert role.api is not None
    assert [pattern.text for pattern in role.browser.read] == ["*.wikipedia.org", "github.com"]
    assert [pattern.text for pattern in role.cli.blocked] == ["rm -rf"]
    assert [pattern.text for pattern in role.cli.blocked_paths] == ["/workspace/private"]
    assert role.api.budget_daily == 12.5
    assert role.api.rate_limit == Rate(60, 60)
    assert role.approvals.spending_over == 50
    assert (role.approvals.data_deletion, role.approvals.external_communication) == ("ask", "allow")
    assert role.approvals.credential_access == "deny"


def test_json_is_accepted_too_with_tabs_as_well() -> None:
    document = {"role": "r", "permissions": {"cli": {"read": ["/workspace"], "write": []}}}

    for indent in (None, 2, "\t"):
        assert parse(json.dumps(document, indent=indent), "p.json").roles["r"].cli is not None


def test_several_roles_and_their_senders_stand_in_one_file() -> None:
    policy = parse(
        "roles: [{role: owner, senders: ['cli:*', 'telegram:1']}, {role: guest, senders: ['telegram:*']}]", "p"
    )

    assert list(policy.roles) == ["owner", "guest"]
    assert policy.role_of("cli:me") == "owner"
    assert policy.role_of("telegram:1") == "owner"
    assert policy.role_of("telegram:12") == "guest"
    assert policy.role_of("email:x") is None


def test_the_version_is_the_digest_of_the_text() -> None:
    assert parse(FULL, "a").version == parse(FULL, "b").version
    assert parse(FULL, "a").version != parse(FULL + "# note\n", "a").version


def test_what_is_left_out_is_asked() -> None:
    approvals = parse("role: r", "p").roles["r"].approvals

    assert (approvals.data_deletion, approvals.external_communication, approvals.credential_access) == ("ask",) * 3
    assert approvals.spending_over == 0


def test_the_shipped_policy_gives_the_owner_more_than_further_people() -> None:
    owner, member = parse(default_text(), NAME).roles.values()

    assert (owner.name, member.name) == ("owner", "member")
    assert member.approvals.credential_access == "deny"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "empty"),
        ("- a", 1, "known keys"),
        ("role: r\nrole: s", 2, "twice"),
        ("role: r\npermission: {}", 2, "unknown key 'permission'"),
        ("role: r\npermissions:\n  cli:\n    reed: [a]", 4, "'reed'"),
        ("role: r\npermissions:\n  browser:\n    read:\n      - github.com\n      - '*.com'", 6, "everybody"),
        ("role: r\npermissions:\n  browser:\n    read: ['ftp://x']", 4, "ftp"),
        ("role: r\npermissions:\n  browser:\n    read: ['a b']", 4, "not a host"),
        ("role: r\npermissions:\n  browser:\n    read: ['a*.example.com']", 4, "stand alone"),
        ("role: r\npermissions:\n  browser:\n    unlisted: allow", 4, "ask or deny"),
        ("role: r\npermissions:\n  cli:\n    read: ['~bob/x']", 4, "another user"),
        ("role: r\npermissions:\n  cli:\n    execute: ['']", 4, "empty"),
        ("role: r\npermissions:\n  cli:\n    execute: [[a]]", 4, "a list"),
        ("role: r\npermissions:\n  api:\n    budget_daily: lots", 4, "'lots'"),
        ("role: r\npermissions:\n  api:\n    rate_limit: often", 4, "60/min"),
        ("role: r\napproval_rules:\n  data_deletion: perhaps", 3, "'perhaps'"),
        ("permissions: {}", 1, "role"),
        ("roles: []", 1, "at least one"),
        ("roles:\n- role: a\n- role: a", 3, "twice"),
        ("role: a\nroles: []", 1, "either"),
        ("role: &x a\nsenders: [*x]", 2, "alias"),
        ("role: [", 1, "not YAML"),
        ("role: r\n\tx: y", 2, "not YAML"),
        ("role: r\npermissions: 3", 2, "permissions"),
        ("role: \x00", 1, "not YAML"),
    ],
)
def test_a_mistake_is_named_with_its_line_its_value_and_the_remedy(text: str, line: int, said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse(text, "mine.yaml")

    assert caught.value.line == line
    assert str(caught.value).startswith(f"mine.yaml:{line}: ")
    assert said in str(caught.value)


def test_a_file_that_nests_without_end_is_refused_and_does_not_crash() -> None:
    for text in ("[" * 5_000, "{a: " * 5_000, "x" * 2_000_000):
        with pytest.raises(PolicyError):
            parse(text, "p")


EGRESS = """
egress:
  allowed:
    - pypi.example
    - "*.files.example"
    - http://plain.example
    - {host: api.example, ports: [443, 8443], methods: [get, POST]}
  blocked: [bad.example, "*.worse.example", "*"]
  methods: [GET, head, CONNECT]
  ports: [80, 443]
  upload_limit: 500 MB
  download_limit: 1.5GiB
  request_rate: 10/s
  speed_limit: 2 MB/s
  inspect: [github.com]
  authorities: /etc/company.pem
role: owner
"""


def test_the_way_out_of_sandboxes_is_described_in_a_section_of_its_own() -> None:
    egress = parse(EGRESS, "p.yaml").egress

    assert [(one.host, one.port, one.methods) for one in egress.allowed] == [
        ("pypi.example", 443, ()),
        ("*.files.example", 443, ()),
        ("plain.example", 80, ()),
        ("api.example", 443, ("GET", "POST")),
        ("api.example", 8443, ("GET", "POST")),
    ]
    assert egress.blocked == ("bad.example", "*.worse.example", "*")
    assert (egress.methods, egress.ports) == (("GET", "HEAD", "CONNECT"), (80, 443))
    assert (egress.bytes_up, egress.bytes_down) == (500_000_000, 1_610_612_736)
    assert (egress.requests_per_minute, egress.bytes_per_second) == (600, 2_000_000)
    assert (egress.inspect, egress.authorities) == (("github.com",), "/etc/company.pem")


@pytest.mark.parametrize("text", ["role: owner", "role: owner\negress:", default_text()])
def test_a_file_that_says_nothing_of_it_limits_nothing_and_inspects_nothing(text: str) -> None:
    assert parse(text, NAME).egress == EgressRules()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("blocked: [a.example/path]", "'a.example/path' has a path"),
        ("blocked: ['a b.example']", "is not a host"),
        ("allowed: ['*.com']", "everybody's sites"),
        ("allowed: [{ports: [443]}]", "no `host`"),
        ("allowed: [{host: a.example, port: 443}]", "unknown key 'port'"),
        ("methods: ['GET /']", "is not a method"),
        ("ports: [https]", "'https' is not a port"),
        ("ports: [70000]", "'70000' is not a port"),
        ("upload_limit: much", "is not an amount of data"),
        ("speed_limit: 0", "is not a speed"),
        ("request_rate: 0/min", "lets no request pass"),
        ("request_rate: often", "is not a rate"),
        ("limits: 5", "unknown key 'limits'"),
    ],
)
def test_a_mistake_in_the_section_is_shown_where_it_stands(line: str, said: str) -> None:
    with pytest.raises(PolicyError) as raised:
        parse(f"role: owner\negress:\n  {line}\n", "p.yaml")

    assert str(raised.value).startswith("p.yaml:3: egress")
    assert said in str(raised.value)


def test_the_section_belongs_to_the_file_and_not_to_a_role() -> None:
    with pytest.raises(PolicyError, match="unknown key 'egress'"):
        parse("roles:\n  - role: owner\n    egress:\n      blocked: [a.example]\n", "p.yaml")


SANDBOX = """
sandbox: {snapshot_before: [approval], retention_days: 14}
roles:
  - role: owner
    permissions: {cli: {read: [/workspace], write: [/workspace]}}
    sandbox:
      runtime: gvisor
      runtime_for: [egress, "tool:browse"]
      users:
        - {user: "telegram:7", runtime: kata-fc, snapshot_before: [step], retention_days: 0.5}
  - role: member
    permissions: {cli: {read: [/workspace], write: [/workspace]}}
    sandbox: {runtime: gvisor}
  - role: plain
"""


@pytest.mark.parametrize(
    ("role", "user", "tool", "effects", "asks", "expected"),
    [
        ("owner", "cli:me", "shell", ("read",), False, Wanted(None, False, 14)),
        ("owner", "cli:me", "shell", ("read",), True, Wanted(None, True, 14)),
        ("owner", "cli:me", "shell", ("execute", "egress"), False, Wanted("runsc", False, 14)),
        ("owner", "cli:me", "browse", ("read",), False, Wanted("runsc", False, 14)),
        ("owner", "telegram:7", "shell", ("read",), False, Wanted("kata-fc", True, 0.5)),
        ("member", "telegram:8", "shell", (), False, Wanted("runsc", False, 14)),
        ("plain", "telegram:8", "shell", (), True, Wanted(None, True, 14)),
        ("nobody", "telegram:8", "shell", (), True, Wanted()),
    ],
)
def test_what_a_policy_wants_of_sandboxes(
    role: str, user: str, tool: str, effects: tuple[Effect, ...], asks: bool, expected: Wanted
) -> None:
    actor = Actor(user_id=user, role=role, channel="cli")
    question = Question(actor=actor, tool=tool, args={}, actions=())
    verdict = Ask(reasons=(), effects=effects) if asks else Allow(effects=effects)

    assert wanted(question, verdict, parse(SANDBOX, "p")) == expected


@pytest.mark.parametrize(
    ("section", "line", "words"),
    [
        ("runtime: gvisor!", 3, "is no runtime"),
        ("runtime_for: [fly]", 3, "write tool:NAME"),
        ("snapshot_before: [approval, aproval]", 3, "'aproval' is not known"),
        ("retention_days: soon", 3, "is no number of days"),
        ("retention_days: 0", 3, "is no number of days"),
        ("users: [{runtime: gvisor}]", 3, "no `user`"),
        ("runtimes: gvisor", 3, "unknown key"),
    ],
)
def test_a_mistake_about_sandboxes_is_shown_where_it_stands(section: str, line: int, words: str) -> None:
    with pytest.raises(PolicyError, match=words) as raised:
        parse(f"role: r\nsandbox:\n  {section}\n", "p")

    assert raised.value.line == line
