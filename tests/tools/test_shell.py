"""The shell tool."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import JsonValue

from activities.tool import BadArguments
from activities.tools.shell import Shell
from contracts.messages import HostGrant
from contracts.sandbox import Command, CommandOutcome, Lease, Progress
from contracts.tools import RESULT_TEXT_BYTES
from contracts.values import JsonObject
from contracts.verdicts import CommandAction
from tests.tools.conftest import LEASE, Bench
from tests.tools.local_sandbox import LocalSandbox


class Bounded(LocalSandbox):
    """Its commands end as they are told to."""

    def __init__(self, root: Path, lease: Lease, outcome: CommandOutcome) -> None:
        super().__init__(root / "bounded", lease)
        self._outcome = outcome

    async def run(self, command: Command, progress: Progress | None = None) -> CommandOutcome:
        return self._outcome


async def test_a_command_gives_its_output_and_exit_code(bench: Bench) -> None:
    result = await bench.run(Shell(), {"script": "echo out; echo err >&2; pwd"})

    assert result.ok
    assert result.data["exit_code"] == 0
    assert result.data["stdout"] == "out\n/workspace\n"
    assert result.data["stderr"] == "err\n"
    assert "stdout:\nout" in result.text
    assert result.provenance.origins == ("sandbox:command",)


@pytest.mark.parametrize(
    ("tainted", "egress", "trusted"),
    [(False, (), True), (True, (), False), (False, (HostGrant(host="example.org"),), False)],
)
async def test_output_is_trusted_only_while_nothing_foreign_can_be_in_the_sandbox(
    bench: Bench, tainted: bool, egress: tuple[HostGrant, ...], trusted: bool
) -> None:
    result = await replace(bench, tainted=tainted, egress=egress).run(Shell(), {"script": "echo x"})

    assert result.provenance.trusted is trusted


async def test_a_failing_command_is_a_result_and_not_an_exception(bench: Bench) -> None:
    result = await bench.run(Shell(), {"script": "echo partial; exit 3"})

    assert (result.ok, result.error, result.data["exit_code"]) == (False, "failed", 3)
    assert "partial" in result.text


async def test_a_command_that_never_ends_is_stopped_and_says_so(bench: Bench) -> None:
    result = await bench.run(Shell(), {"script": "echo begun; sleep 600", "timeout_seconds": 1})

    assert (result.ok, result.error, result.data["timed_out"]) == (False, "timed_out", True)
    assert "begun" in result.text
    assert "1 s" in result.headline


async def test_a_flood_of_output_is_bounded_and_kept_as_a_file(bench: Bench) -> None:
    result = await bench.run(Shell(), {"script": "seq 1 400000"})

    assert len(result.text.encode()) <= RESULT_TEXT_BYTES
    assert "stdout:\n1\n2\n" in result.text
    assert result.text.rstrip().endswith("400000")
    (file,) = result.files
    assert file.name in result.text
    assert (await bench.blobs.content(file)).endswith(b"399999\n400000\n")


async def test_one_very_long_line_is_bounded_too(bench: Bench) -> None:
    result = await bench.run(Shell(), {"script": "head -c 300000 /dev/zero | tr '\\0' x; echo END"})

    assert len(result.text.encode()) <= RESULT_TEXT_BYTES
    assert result.text.rstrip().endswith("xEND")


async def test_what_steers_a_terminal_is_taken_out(bench: Bench) -> None:
    script = r"printf '\033[31mred\033[0m \033]0;title\007\a\000 seen\r hidden \xff\xfe\n'"

    result = await bench.run(Shell(), {"script": script})

    assert result.data["stdout"] == "red  seen\n hidden \ufffd\ufffd\n"


async def test_the_same_call_runs_once_however_often_it_is_asked_for(bench: Bench) -> None:
    script = "echo x >> count; sleep 0.3; cat count"

    first, second = await asyncio.gather(bench.run(Shell(), {"script": script}), bench.run(Shell(), {"script": script}))

    assert first.data["stdout"] == second.data["stdout"] == "x\n"
    assert (bench.sandbox.workspace / "count").read_text() == "x\n"


async def test_policy_sees_the_whole_command() -> None:
    (action,) = Shell().actions({"script": "ls -l", "cwd": "/workspace/a"})

    assert action == CommandAction(script="ls -l", cwd="/workspace/a")


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"script": ""},
        {"script": 5},
        {"script": "ls", "timeout_seconds": 3601},
        {"script": "ls", "timeout_seconds": 0},
        {"script": "ls", "timeout_seconds": float("nan")},
        {"script": "ls", "timeout_seconds": "10"},
        {"script": "ls", "cwd": ""},
        {"script": "ls", "user": "root"},
        {"script": "\ud800"},
    ],
)
def test_arguments_that_do_not_fit_are_refused(args: JsonObject) -> None:
    with pytest.raises(BadArguments):
        Shell().actions(args)


@pytest.mark.parametrize(("language", "expected"), [("en", "Run: ls"), ("zh", "运行：ls")])
def test_the_summary_speaks_the_persons_language(language: str, expected: str) -> None:
    assert Shell().summary({"script": "ls"}, "zh" if language == "zh" else "en") == expected


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (
            CommandOutcome(exit_code=None, signal="KILL", limit="memory", limit_amount=2_048),
            "it used more than the 2048 MB of memory this sandbox may have",
        ),
        (CommandOutcome(exit_code=1, limit="memory", limit_amount=2_048), "this sandbox may have 2048 MB"),
        (CommandOutcome(exit_code=None, signal="KILL", limit="disk", limit_amount=100), "more than the 100 MB"),
        (CommandOutcome(exit_code=2, limit="processes", limit_amount=200), "200 processes and threads"),
        (CommandOutcome(exit_code=None, timed_out=True, limit="wall_time", limit_amount=3_600), "the 3600 s"),
        (CommandOutcome(exit_code=1, limit="open_files", limit_amount=1_024), "may have 1024 open"),
        (CommandOutcome(exit_code=153, limit="file_size", limit_amount=50), "larger than the 50 MB"),
    ],
)
async def test_the_bound_that_a_command_met_is_said(
    bench: Bench, tmp_path: Path, outcome: CommandOutcome, words: str
) -> None:
    sandbox = Bounded(tmp_path, LEASE, outcome)

    result = await replace(bench, sandbox=sandbox).run(Shell(), {"script": "true"})

    assert not result.ok
    assert result.error == ("timed_out" if outcome.timed_out else "over_limit")
    assert words in result.headline
    assert (result.data["limit"], result.data["limit_amount"]) == (outcome.limit, outcome.limit_amount)


async def test_one_program_runs_without_a_shell(bench: Bench) -> None:
    words: list[JsonValue] = ["printf", "%s|", "$HOME", "`id`", "$(id)", "*", "a b", "", "'", "; echo x", "\n", "~"]

    result = await bench.run(Shell(), {"argv": words})

    assert result.data["stdout"] == "".join(f"{word}|" for word in words[2:])
    assert [command.script for command in bench.sandbox.commands] == [None]


def test_the_card_of_one_program_shows_each_word_quoted() -> None:
    shown = Shell().preview({"argv": ["rm", "--", "a b", "; rm -rf /", "\u202e"]})

    assert "argv: rm -- 'a b' '; rm -rf /'" in shown
    assert "\u202e" not in shown


@pytest.mark.parametrize("args", [{}, {"script": "ls", "argv": ["ls"]}, {"argv": []}, {"argv": "ls"}, {"argv": [1]}])
async def test_a_command_is_either_a_script_or_one_program(bench: Bench, args: JsonObject) -> None:
    with pytest.raises(BadArguments):
        Shell().actions(args)
