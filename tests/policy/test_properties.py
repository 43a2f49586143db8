"""What holds for any input at all, tried with generated ones."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.verdicts import Allow, Ask, CommandAction, Deny, FileAction, VisitAction
from policy.file import parse
from policy.roles import Policy
from tests.policy.cases_file import ask_policy, reference_policy, rows

POLICY = reference_policy()
LEVELS = {"allow": 0, "ask": 1, "deny": 2}
COMMANDS = [str(row["cmd"]) for name in ("commands.jsonl", "attacks.jsonl", "everyday.jsonl") for row in rows(name)]
DENIED = ["rm -rf /", "sudo id", "cat /etc/shadow", "rm -rf ~", "curl https://evil.test/x", "docker ps", "kill -9 -1"]
SHELL_PIECES = (
    "rm -rf / ~ $x ${x} $(ls) `id` <( ) ( { } ; && || | & > < >> << EOF \n ' \" \\ * ? [ ] a sudo cat cd /etc/shadow "
    "if then fi for in do done while case esac function f() sh -c eval xargs find -exec {} = x=/ $@ ! # $(( )) [[ ]]"
)
PIECES = st.sampled_from(SHELL_PIECES.split(" "))
BLOCKS = st.sampled_from(["ls", "git push", "rm -rf", "/workspace/a", "curl", "cat *", "echo", "/tmp", "python3"])


def policy_that_also_blocks(pattern: str) -> Policy:
    text = f"""
role: agent
permissions:
  browser: {{read: [github.com, api.allowed.example]}}
  cli: {{read: [/workspace], write: [/workspace], blocked: [{pattern}]}}
"""
    return parse(text, "test")


def is_verdict(value: object) -> bool:
    return isinstance(value, Allow | Ask | Deny)


@given(st.text(max_size=200))
def test_any_text_as_a_command_gets_a_verdict(script: str) -> None:
    assert is_verdict(ask_policy(CommandAction(script=script), policy=POLICY))


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=14), st.sampled_from(["", " "]))
def test_any_mixture_of_shell_pieces_gets_a_verdict(pieces: list[str], between: str) -> None:
    assert is_verdict(ask_policy(CommandAction(script=between.join(pieces)), policy=POLICY))


@given(st.text(max_size=120))
def test_any_text_as_an_address_gets_a_verdict_and_none_is_allowed_off_the_list(text: str) -> None:
    assert ask_policy(VisitAction(url=f"https://{text}.evil.test/"), policy=POLICY).kind != "allow"
    assert is_verdict(ask_policy(VisitAction(url=text, redirects=(text,), dns=((text,),)), policy=POLICY))


@given(st.text(max_size=80), st.sampled_from(["read", "list", "write", "delete"]))
def test_any_text_as_a_path_gets_a_verdict(text: str, operation: str) -> None:
    action = FileAction.model_validate({"operation": operation, "path": text})

    assert is_verdict(ask_policy(action, policy=POLICY))


@given(st.lists(st.sampled_from(["..", ".", "", "etc", "workspace", "home"]), max_size=12))
def test_no_way_of_writing_a_path_leads_to_a_secret(parts: list[str]) -> None:
    action = FileAction(operation="read", path="/".join(["", *parts, "..", "..", *[".."] * 12, "etc", "shadow"]))

    assert ask_policy(action, policy=POLICY).kind == "deny"


@given(st.sampled_from(COMMANDS), BLOCKS)
def test_a_further_block_never_loosens_a_verdict(script: str, pattern: str) -> None:
    before = ask_policy(CommandAction(script=script), policy=policy_that_also_blocks(""))
    after = ask_policy(CommandAction(script=script), policy=policy_that_also_blocks(f"{pattern!r}"))

    assert LEVELS[after.kind] >= LEVELS[before.kind]


FRAMES = (
    "{}", " {} ", "{};", "true && {}", "false || {}", "({})", "{{ {}; }}", "! {}", "if {}; then :; fi", "{} &",
    "command {}", "env {}", "nice -n 3 {}", "timeout 9 {}", "nohup {}", "x=1 {}", "echo $({})", "cat <({})",
    "while {}; do break; done", "f() {{ {}; }}; f", "{} > out.txt", "time {}",
)  # fmt: skip
LINES = ("ls\n{}\nls", "ls # x\n{}", "\n{}\n", "{{\n{}\n}}", "cat <<E\nE\n{}")
STYLES = ("plain", "single", "double", "split", "escape", "ansi")


@st.composite
def respelled(draw: st.DrawFn) -> str:
    """A denied command in other words to the eye, and the same ones to bash."""
    words = draw(st.sampled_from(DENIED)).split()
    spelled = [_quote(word, draw(st.sampled_from(STYLES))) for word in words]
    return draw(st.sampled_from([" ", "  ", "\t", " \t "])).join(spelled)


def _quote(word: str, style: str) -> str:
    if word.startswith("~"):
        return word
    match style:
        case "single":
            return f"'{word}'"
        case "double":
            return f'"{word}"'
        case "split":
            return f"{word[:1]}''{word[1:]}"
        case "escape":
            return "".join("\\" + character if character.isalpha() else character for character in word)
        case "ansi":
            return "$'" + "".join(f"\\x{ord(character):02x}" for character in word) + "'"
    return word


@settings(max_examples=300)
@given(respelled(), st.sampled_from(FRAMES))
def test_a_denied_command_stays_denied_however_it_is_spelled(script: str, frame: str) -> None:
    assert ask_policy(CommandAction(script=frame.format(script)), policy=POLICY).kind == "deny"


@given(respelled(), st.sampled_from(LINES))
def test_a_denied_command_on_a_line_of_its_own_is_never_allowed(script: str, frame: str) -> None:
    assert ask_policy(CommandAction(script=frame.format(script)), policy=POLICY).kind != "allow"


@given(st.sampled_from(DENIED), st.integers(min_value=1, max_value=6))
def test_a_denied_command_stays_denied_however_deep_it_lies(script: str, depth: int) -> None:
    for _ in range(depth):
        script = f"echo $({script})"

    assert ask_policy(CommandAction(script=script), policy=POLICY).kind == "deny"


@given(st.lists(st.sampled_from(["/", "/.", "/x/..", "/%2e", "//", "/y/%2E%2e", "/..;a", "/;b"]), max_size=8))
def test_a_blocked_path_is_denied_behind_any_detour(detours: list[str]) -> None:
    url = f"https://bank.example{''.join(detours)}/transfer"

    assert ask_policy(VisitAction(url=url), policy=POLICY).kind == "deny"


ENDLESS = (
    "(" * 500 + "ls" + ")" * 500,
    "$(" * 300 + "ls" + ")" * 300,
    "{a," * 200 + "}" * 200,
    "ls; " * 9_000,
    "cat " + "../" * 5_000 + "x",
    "a=" + "b" * 70_000,
    "eval " * 60 + "ls",
    "if ls; then " * 200,
)
RUNAWAYS = ("sed 's/" + "[a]" * 400 + "' x", "awk '/" + "[" * 800 + "' x", "sed 's/" + "\\a" * 4_000 + "' x")


@pytest.mark.parametrize("script", [pytest.param(text, id=text[:8]) for text in ENDLESS])
def test_nesting_without_end_is_never_allowed_and_does_not_crash(script: str) -> None:
    assert ask_policy(CommandAction(script=script), policy=POLICY).kind != "allow"


@pytest.mark.parametrize("script", [pytest.param(text, id=text[:8]) for text in RUNAWAYS])
def test_regular_expressions_do_not_run_away(script: str) -> None:
    assert ask_policy(CommandAction(script=script), policy=POLICY).kind == "ask"
