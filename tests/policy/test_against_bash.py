"""What policy allows is tried in a real bash, in which no program can be found: it must not go for a forbidden one."""

import contextlib
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.verdicts import CommandAction
from tests.policy.cases_file import ask_policy, reference_policy

POLICY = reference_policy()
RECORD = 'command_not_found_handle(){ printf "%s\\n" "$1" >> "$LOG"; return 0; }\n'
SPELLINGS = (
    *("sudo", "s\\udo", "'sudo'", 'su""do', "$'\\x73udo'", "\\s\\u\\d\\o"),
    *("x=sudo", "$x", '"$x"', "${x}", "${x:-sudo}", "\n sudo id\n", ";sudo id"),
)
GRAMMAR = (
    *("id", "echo", "ls", "true", "false", ":", "(", ")", "{", "}", ";", "&&", "||", "|", "&", "!", "if", "then", "fi"),
    *(
        "else",
        "while",
        "do",
        "done",
        "for",
        "in",
        "case",
        "esac",
        ";;",
        "a)",
        "<<E",
        "<<'E'",
        "<<-E",
        "\nE\n",
        "\n",
        "#",
    ),
    *(
        "#x",
        "'",
        '"',
        "`",
        "$(",
        "$((",
        "))",
        "[[",
        "]]",
        "<(",
        ">a",
        "<<<",
        "f()",
        "f",
        "function",
        "eval",
        "exec",
        "}",
    ),
    *(
        "command",
        "time",
        "*",
        "?",
        "\\",
        "\\ ",
        "\\;",
        "\\\n",
        "\t",
        "set",
        "--",
        '"$@"',
        "local",
        "export",
        "trap",
        "EXIT",
    ),
    *("break", "printf", "read", "alias", "\\'", "coproc", "${", "#x}", "$'", "\\#", "a#b", "=", "2>&1", "&>a"),
)


def programs_that_bash_wants(script: str, folder: Path) -> list[str]:
    """Runs the script with builtins alone; every other program is written down instead of started."""
    log, setup = folder / "log", folder / "setup"
    log.write_text("")
    setup.write_text(RECORD)
    surroundings = {"PATH": "/nonexistent", "LOG": str(log), "HOME": str(folder), "BASH_ENV": str(setup)}
    command = ["/bin/bash", "-c", script]
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            command,
            cwd=folder,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=5,
            check=False,
        )
    return log.read_text(errors="replace").splitlines()


@pytest.mark.parametrize(
    "script",
    [
        "sudo id",
        "ls\n\\s\\u\\d\\o id\nls",
        "x=sudo; $x id",
        "cat <<A;sudo id\nA\nA;sudo\n",
        "echo $(sudo id)",
        "f() { sudo id; }; f",
        "trap 'sudo id' EXIT",
        "eval 'su''do id'",
        "echo `sudo id`",
        "echo foo;# << cat\nsudo id\ncat",
        "echo ${y:=`sudo id`}",
        "true \\ #x ;sudo id",
    ],
)
def test_bash_does_go_for_the_program_where_policy_refuses(script: str, tmp_path: Path) -> None:
    assert "sudo" in programs_that_bash_wants(script, tmp_path)
    assert ask_policy(CommandAction(script=script), policy=POLICY).kind != "allow"


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.sampled_from((*SPELLINGS, *SPELLINGS, *GRAMMAR)), max_size=12), st.sampled_from(["", " "]))
def test_bash_never_goes_for_a_forbidden_program_where_policy_allows(
    tmp_path: Path, pieces: list[str], between: str
) -> None:
    script = between.join(pieces)

    if ask_policy(CommandAction(script=script), policy=POLICY).kind == "allow":
        assert "sudo" not in programs_that_bash_wants(script, tmp_path)
