"""Playbooks: what is refused and where, what runs beside what, and what a failure stops."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from activities.planners.rules import Rules
from activities.planners.shelf import SHIPPED, shipped
from activities.playbook.load import load
from activities.playbook.references import Known
from activities.playbook.refusal import BadPlaybook
from activities.playbook.scripts import UnsafeScript, check, fill_script
from contracts.messages import Attachment
from tests.planner.tools import Desk, tools_of
from tests.planner.world import Task, task_of

TOOLS = tuple(tool.spec for tool in tools_of(Desk()).values())
PAGES = {"https://a.com/": ("A", "Apples are red. They grow on trees."), "https://b.com/": ("B", "Bees make honey.")}


def task() -> Task:
    return task_of(lambda blobs: Rules(blobs=blobs), Desk(PAGES))


def step(step_id: str, *more: str, tool: str = "shell", args: str = "{script: echo x}") -> str:
    return "\n".join(
        [f"  - id: {step_id}", f"    tool: {tool}", f"    args: {args}", *(f"    {line}" for line in more)]
    )


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "nothing in it"),
        ("just words", 1, "names with values"),
        ("steps: [", 1, "not valid YAML"),
        ("name: x\nsteps:\n  - id: a\n   tool: shell", 4, "not valid YAML"),
        ("name: x", 1, "`steps` is missing"),
        ("steps: []", 1, "at least one step"),
        ("step: 1\nsteps: []", 1, "unknown key 'step'"),
        (f"steps:\n{step('a')}\n{step('a')}", 5, "already on line 2"),
        (f"steps:\n{step('a', 'after: [b]')}", 5, "no step 'b'"),
        (f"steps:\n{step('a', 'after: [b]')}\n{step('b', 'after: [a]')}", 2, "wait for each other"),
        (f"steps:\n{step('a', 'after: [a]')}", 2, "wait for each other"),
        (f"steps:\n{step('a', tool='rocket')}", 3, "no tool 'rocket'"),
        (f"steps:\n{step('a', args='{command: x}')}", 4, "no argument 'command'"),
        (f"steps:\n{step('a', args='{}')}", 4, "needs the argument 'script'"),
        (f"steps:\n{step('a', 'shout: 1')}", 5, "unknown key 'shout'"),
        (f"steps:\n{step('a', 'approve: maybe')}", 5, "true or false"),
        (f"steps:\n{step('a', 'when: steps.b.text == 1')}", 5, "no `steps.b`"),
        (f"steps:\n{step('a', 'when: 1 < 2')}", 5, "cannot read the condition"),
        ("steps:\n  - tool: shell", 2, "`id` is missing"),
        ("steps:\n  - id: a b\n    tool: shell", 2, "no step id"),
        ("steps: [&a {id: x}, *a]", 1, "alias *a"),
        ("steps: !!python/object:os.system []", 1, ""),
        ("name: a\nname: b\nsteps: []", 2, "occurs twice"),
        ('steps:\n  - id: a\n    tool: shell\n    args:\n      script: echo "{{ steps.zz.text }}"', 5, "no `steps.zz`"),
        (
            'steps:\n  - id: a\n    tool: shell\n    args:\n      script: echo "{{ step.a }}"',
            5,
            "cannot read the reference",
        ),
        ('inputs: [x]\nsteps:\n  - id: a\n    tool: shell\n    args:\n      script: eval "{{ inputs.x }}"', 6, "eval"),
        ("[" * 5_000, 1, ""),
        ("a: " + "x" * 70_000, 1, "at most"),
        ("steps:\n" + "\n".join(step(f"s{number}") for number in range(101)), 2, "more than 100"),
    ],
)
def test_a_bad_playbook_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(BadPlaybook) as raised:
        load(text, TOOLS)

    assert raised.value.line == line
    assert words in str(raised.value)
    assert raised.value.say("zh") != raised.value.say("en")


@pytest.mark.parametrize("name", shipped())
def test_what_is_shipped_loads(name: str) -> None:
    playbook = load((SHIPPED / f"{name}.yaml").read_text(), TOOLS)

    assert playbook.name == name
    assert playbook.description


async def test_the_shipped_report_does_the_seed_task() -> None:
    report = task()

    reply = await report.run("/plan report url=https://a.com/ path=out/a.md")

    assert reply.outcome == "done"
    assert report.desk.sent == ["out/a.md"]
    assert "Apples are red." in report.desk.files["out/a.md"]


async def test_independent_steps_run_side_by_side_and_the_rest_waits_for_what_it_uses() -> None:
    compare = task()

    reply = await compare.run("/plan compare first=https://a.com/ second=https://b.com/")

    assert [[tool for tool, _ in batch] for batch in compare.batches] == [["read", "read"], ["files"], ["files"]]
    assert "Bees make honey." in compare.desk.files["compared.md"]
    assert reply.outcome == "done"


async def test_a_failed_step_stops_what_depends_on_it_and_nothing_else() -> None:
    broken = task()
    bad = step("bad", args='{script: "false"}')
    text = "\n".join(["/plan\nsteps:", bad, step("next", "after: bad"), step("last", "after: next"), step("free")])

    reply = await broken.run(text)

    assert broken.desk.ran == ["false", "echo x"]
    assert reply.outcome == "partly_failed"
    assert "✗ bad failed: exit code 1" in reply.text
    assert "next was not done, because bad did not succeed" in reply.text
    assert "last was not done, because bad did not succeed" in reply.text
    assert "✓ free" in reply.text


@pytest.mark.parametrize(
    ("when", "runs"),
    [
        ("steps.look.exit_code == 0", True),
        ("steps.look.exit_code != 0", False),
        ("'{{ steps.look.stdout }} == \"red\"'", True),
        ("steps.look.stdout == blue", False),
        ("not steps.look.stderr", True),
        ("steps.look.stderr", False),
    ],
)
async def test_a_condition_decides_whether_a_step_and_its_followers_run(when: str, runs: bool) -> None:
    choosing = task()
    look = step("look", args="{script: echo red}")
    text = f"/plan\nsteps:\n{look}\n{step('go', f'when: {when}')}\n{step('then', 'after: go')}"

    reply = await choosing.run(text)

    assert choosing.desk.ran == (["echo red", "echo x", "echo x"] if runs else ["echo red"])
    assert reply.outcome == "done"


@pytest.mark.parametrize(
    ("answer", "ran", "outcome"), [("Yes", ["echo x"], "done"), ("No", [], "failed"), ("hm", [], "failed")]
)
async def test_a_step_that_wants_consent_runs_only_after_a_yes(answer: str, ran: list[str], outcome: str) -> None:
    asking = task()

    reply = await asking.run(f"/plan\nsteps:\n{step('risky', 'approve: true')}", answer)

    assert asking.desk.ran == ran
    assert reply.outcome == outcome
    assert "echo x" in asking.asked[0].question


async def test_the_answer_to_a_question_can_be_used_by_later_steps() -> None:
    asking = task()
    ask = step("who", tool="ask_user", args="{question: Who is it, choices: [Ada, Bob]}")
    write = step("note", tool="files", args='{operation: write, path: who.txt, content: "Hello {{ steps.who.text }}"}')

    reply = await asking.run(f"/plan\nsteps:\n{ask}\n{write}", "Ada")

    assert asking.desk.files == {"who.txt": "Hello Ada"}
    assert asking.asked[0].choices == ("Ada", "Bob")
    assert reply.outcome == "done"


async def test_a_playbook_can_be_attached() -> None:
    attached = task()
    blob = await attached.blobs.put(f"inputs: {{word: x}}\nsteps:\n{step('a')}".encode())
    files = (Attachment(name="my.yaml", size=blob.size, blob=blob),)

    reply = await attached.run("/plan my.yaml word=y", attachments=files)

    assert attached.desk.ran == ["echo x"]
    assert reply.outcome == "done"


async def test_a_playbook_can_lie_in_the_sandbox() -> None:
    inside = task()
    inside.desk.files["plans/a.yaml"] = f"steps:\n{step('a')}"

    reply = await inside.run("/plan plans/a.yaml")

    assert inside.desk.ran == ["echo x"]
    assert reply.outcome == "done"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/plan nowhere.yaml", "nowhere.yaml does not exist"),
        ("/plan", "report"),
        ("/plan report", "url=…"),
        ("/plan report url=x colour=red", "no input colour"),
        ("/plan\nsteps:\n  - id: a\n    tool: rocket", "Line 3"),
        ("/plan\n```yaml\nsteps: 3\n```", "Line 1"),
    ],
)
async def test_a_playbook_that_cannot_start_says_why(text: str, words: str) -> None:
    refused = task()

    reply = await refused.run(text)

    assert reply.outcome == "failed"
    assert words in reply.text
    assert refused.desk.ran == []


HOSTILE = [
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "a[$(touch pwned)]",
    "\n touch pwned\n",
    "; touch pwned #",
    "${IFS}$(touch${IFS}pwned)",
    "\\'; touch pwned; \\'",
    "x' $(touch pwned) 'y",
    "\0touch pwned",
    "-- > pwned",
]


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize(
    "script",
    [
        "printf %s {{ inputs.x }}",
        'printf %s "{{ inputs.x }}"',
        'printf %s "before {{inputs.x}} after" {{ inputs.x }}',
        'case "{{ inputs.x }}" in (*) printf %s {{ inputs.x }};; esac',
        'y={{ inputs.x }}; printf %s "$y"',
        "echo it\\'s; printf %s {{ inputs.x }}",
        'test "{{ inputs.x }}" = a || printf %s {{ inputs.x }}',
    ],
)
def test_a_value_never_runs_as_a_command(script: str, value: str, tmp_path: Path) -> None:
    filled, values = fill_script(script, Known(inputs={"x": value}))

    done = subprocess.run(
        ["bash", "-c", filled], cwd=tmp_path, env=os.environ | values, capture_output=True, timeout=10, check=False
    )

    assert list(tmp_path.iterdir()) == []
    assert value.replace("\0", "").encode() in done.stdout


@pytest.mark.parametrize(
    "script",
    [
        "eval {{ inputs.x }}",
        "bash -c {{ inputs.x }}",
        "sh -ec {{ inputs.x }}",
        "echo {{ inputs.x }} | bash",
        "echo {{ inputs.x }} | sh",
        "echo {{ inputs.x }} | /bin/sh -s",
        "echo {{ inputs.x }} | python3",
        "python3 -c {{ inputs.x }}",
        "bash <<< {{ inputs.x }}",
        "cat <<EOF | sh\n{{ inputs.x }}\nEOF",
        "echo $(( {{ inputs.x }} ))",
        "(( {{ inputs.x }} ))",
        "[[ {{ inputs.x }} -eq 1 ]]",
        "let y={{ inputs.x }}",
        "a[{{ inputs.x }}]=1",
        "echo ${a[{{ inputs.x }}]}",
        "[ -v {{ inputs.x }} ]",
        "printf -v {{ inputs.x }} y",
        "read {{ inputs.x }}",
        "trap {{ inputs.x }} EXIT",
        "source {{ inputs.x }}",
        ". {{ inputs.x }}",
        "sed {{ inputs.x }} f",
        "awk {{ inputs.x }} f",
        "find . -exec {{ inputs.x }} \\;",
        "xargs {{ inputs.x }}",
        "ssh host {{ inputs.x }}",
        "{{ inputs.x }}",
        "true; {{ inputs.x }} -rf",
        "true && {{ inputs.x }}",
        "if {{ inputs.x }}; then true; fi",
        "echo $({{ inputs.x }})",
        "exec {{ inputs.x }}",
        "echo '{{ inputs.x }}'",
        "echo \\{{ inputs.x }}",
        "echo `cat {{ inputs.x }}`",
    ],
)
def test_a_value_is_refused_where_it_would_be_read_as_code(script: str) -> None:
    with pytest.raises(UnsafeScript):
        check(script)


def test_scripts_without_references_are_left_alone() -> None:
    script = "docker ps --format '{{.Names}}' | sed s/a/b/ && eval true"

    assert fill_script(script, Known()) == (script, {})


def test_bash_is_there_to_try_scripts_on() -> None:
    assert shutil.which("bash")
