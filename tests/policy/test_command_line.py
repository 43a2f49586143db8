"""`asos policy`: questions on standard input, answers line by line."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.policy.cases_file import CASES, rows

PROGRAM = (sys.executable, "-c", "from workers.commands.policy import app; app()")
ROOT = Path(__file__).parents[2]


def run(arguments: Sequence[str], given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*PROGRAM, *arguments], input=given, capture_output=True, cwd=ROOT, timeout=60, check=False)


def answers(outcome: subprocess.CompletedProcess[bytes]) -> list[dict[str, object]]:
    return [json.loads(line) for line in outcome.stdout.splitlines()]


def test_one_line_of_json_is_printed_for_each_question() -> None:
    cases = [*rows("commands.jsonl"), *rows("urls.jsonl")]
    given = "\n".join(json.dumps(case) for case in cases).encode()

    outcome = run(["judge", "--policy", str(CASES / "reference.yaml"), "--json"], given)

    verdicts = [answer["verdict"] for answer in answers(outcome)]
    assert outcome.returncode == 0
    assert len(verdicts) == len(cases)
    assert all(verdict in case["accept"] for verdict, case in zip(verdicts, cases, strict=True))  # type: ignore[operator]  # JSON


def test_a_malformed_line_is_denied_with_its_problem_and_the_next_is_still_answered() -> None:
    lines = [
        b"junk",
        b"[]",
        b'{"cmd": 3}',
        b"{}",
        b'{"cmd": "ls", "url": "x"}',
        b"\xff\xfe",
        b'{"url": "https://x", "dns": 3}',
    ]

    outcome = run(["judge", "--json"], b"\n".join([*lines, b'{"cmd": "ls"}']))

    found = answers(outcome)
    assert outcome.returncode == 0
    assert all(answer["verdict"] == "deny" and answer["error"] for answer in found[:-1])
    assert found[-1] == {"verdict": "allow", "reasons": []}


def test_each_answer_is_there_before_the_next_question_is_asked() -> None:
    with subprocess.Popen(
        [*PROGRAM, "judge", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for command, verdict in (("ls", "allow"), ("sudo id", "deny"), ("pip install x", "ask")):
            process.stdin.write(json.dumps({"cmd": command}).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["verdict"] == verdict


def test_people_read_the_reasons_as_sentences() -> None:
    english = run(["judge"], b'{"cmd": "sudo id"}')
    chinese = run(["judge", "--language", "zh"], b'{"cmd": "sudo id"}')

    assert b"It gains rights or leaves the sandbox: sudo id." in english.stdout
    assert "它会提升权限或脱离沙箱".encode() in chinese.stdout


def test_check_accepts_a_good_file_and_names_the_line_of_a_bad_one(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("role: r\npermissions:\n  cli:\n    reed: [a]\n")

    good = run(["check", str(CASES / "reference.yaml")])
    refused = run(["check", str(bad)])
    as_json = run(["check", "--json", str(bad)])

    assert good.returncode == 0
    assert refused.returncode == 1
    assert b"bad.yaml:4: " in refused.stderr
    assert json.loads(as_json.stdout)["line"] == 4


def test_a_missing_file_a_binary_one_and_an_unknown_role_are_a_usage_error(tmp_path: Path) -> None:
    binary = tmp_path / "policy.yaml"
    binary.write_bytes(b"\xff\xfe\x00")

    for arguments in (
        ["check", str(tmp_path / "none")],
        ["check", str(binary)],
        ["judge", "--role", "nobody"],
        ["frob"],
    ):
        assert run(arguments).returncode == 2
