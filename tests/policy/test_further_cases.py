"""Further tables, by kind and with the reason of each line, and mutations of what they say is dangerous."""

import re
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.verdicts import CommandAction
from tests.policy.cases_file import Case, ask_policy, parameters, reference_policy, rows

POLICY = reference_policy()
COMMANDS = rows("further_commands.jsonl")
EVERYDAY = [str(row["cmd"]) for row in COMMANDS if row["kind"] == "everyday"]
DANGEROUS = [str(row["cmd"]) for row in COMMANDS if row["expected"] != "allow"]
PLAIN = [script for script in DANGEROUS if re.fullmatch(r"[\w ./:@,+-]+", script) and "=" not in script.split()[0]]
"""Without quotes and operators: their words can be spelled in other ways."""


@pytest.mark.parametrize("kind", sorted({str(row["kind"]) for row in COMMANDS} - {"everyday"}))
def test_no_dangerous_command_of_a_kind_runs_unasked(kind: str) -> None:
    table = [row for row in COMMANDS if row["kind"] == kind]

    assert {str(row["cmd"]) for row in table if verdict_on(str(row["cmd"])) not in row["accept"]} == set()  # type: ignore[operator]  # JSON


def test_at_most_one_everyday_command_in_twenty_is_asked() -> None:
    asked = [script for script in EVERYDAY if verdict_on(script) != "allow"]

    assert len(asked) <= len(EVERYDAY) / 20, asked


@pytest.mark.parametrize("case", parameters("further_urls.jsonl"))
def test_each_further_address_gets_an_accepted_verdict(case: Case) -> None:
    assert ask_policy(case.action, policy=POLICY).kind in case.accept


def test_the_further_tables_are_as_large_as_they_claim() -> None:
    assert len(DANGEROUS) >= 450
    assert len(EVERYDAY) >= 200
    assert len(rows("further_urls.jsonl")) >= 220
    assert all(row["why"] for row in (*COMMANDS, *rows("further_urls.jsonl")))


WRAPPERS = (
    "{}", "env {}", "env -i {}", "nice {}", "timeout 5 {}", "setsid {}", "stdbuf -o0 {}", "xargs {}", "command {}",
    "echo $({})", "cat <({})", "eval {}", "bash -c '{}'", "sh -c \"{}\"", "f() {{ {}; }}; f", "trap '{}' EXIT",
    "find . -exec {} \\;", "busybox sh -c '{}'", "true && {}", "if {}; then ls; fi", "{} | cat", "echo x | {}",
    "bash <<X\n{}\nX", "for i in 1; do {}; done", "ls\n{}\nls", "( {} )", "coproc {}", "exec {}", "time -p {}",
    "watch '{}'", "parallel ::: '{}'", "ssh host.test '{}'", "nohup {} &", "X=1 {}", "! {}",
    "awk 'BEGIN{{system(\"{}\")}}'",
)  # fmt: skip
SPELLINGS = ("plain", "single", "double", "empty", "backslash", "ansi", "nothing", "unset")


@st.composite
def respelled(draw: st.DrawFn) -> str:
    words = draw(st.sampled_from(PLAIN)).split()
    return " ".join(_spelled(word, draw(st.sampled_from(SPELLINGS))) for word in words)


def _spelled(word: str, style: str) -> str:
    match style:
        case "single":
            return f"'{word}'"
        case "double":
            return f'"{word}"'
        case "empty":
            return f"{word[:1]}''{word[1:]}"
        case "backslash":
            return f"{word[:1]}\\{word[1:]}" if word[1:2].isalpha() else word
        case "ansi":
            return f"$'\\x{ord(word[0]):02x}'{word[1:]}" if word[0] != "~" else word
        case "nothing":
            return f"{word[:1]}$@{word[1:]}"
        case "unset":
            return f"{word[:1]}${{never_set}}{word[1:]}"
    return word


@settings(max_examples=500, deadline=None)
@given(respelled())
def test_a_dangerous_command_is_never_allowed_however_it_is_spelled(script: str) -> None:
    assert verdict_on(script) != "allow"


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(PLAIN), st.sampled_from(WRAPPERS), st.sampled_from(WRAPPERS[:9]))
def test_a_dangerous_command_is_never_allowed_whatever_runs_it(script: str, outer: str, inner: str) -> None:
    assert verdict_on(outer.format(inner.format(script))) != "allow"


@pytest.mark.parametrize("script", PLAIN)
def test_a_command_without_a_shell_is_judged_like_one_with_it(script: str) -> None:
    without = ask_policy(CommandAction(argv=tuple(shlex.split(script))), policy=POLICY)

    assert without.kind == verdict_on(script)


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("echo", "$(sudo id)", "; rm -rf /", "`id`"), "allow"),
        (("cat", "notes.txt"), "allow"),
        (("cat", "/etc/shadow"), "deny"),
        (("bash", "-c", "sudo id"), "deny"),
        (("rm", "-rf", "--", "/"), "deny"),
        (("echo", "a\x1b[31m"), "deny"),
        (("cat", "\ufffc"), "ask"),
        (("",), "ask"),
    ],
)
def test_words_of_a_command_without_a_shell_stand_for_themselves(argv: tuple[str, ...], expected: str) -> None:
    assert ask_policy(CommandAction(argv=argv), policy=POLICY).kind == expected


def verdict_on(script: str) -> str:
    return ask_policy(CommandAction(script=script), policy=POLICY).kind
