"""A request becomes a durable task that thinks, acts in a sandbox, asks, and answers."""

from pathlib import Path

import pytest

from tests.e2e.stack import Installation

pytestmark = pytest.mark.timeout(400)

RISKY = '/run python3 -c \'print("go" + "ne")\''
"""Code that policy cannot read: it asks."""

SEED = "Open http://site.test/ , summarise it, write the summary to report.md, and send it to me"
SEED_ZH = "打开 http://site.test/ ，总结这个网页，把总结写到 report.md，然后发给我"


def test_a_command_runs_in_a_sandbox_and_its_output_is_the_answer(running: Installation) -> None:
    said = running.asos("ask", "/run echo hello from $(whoami)", "--json")

    assert said.code == 0, said.err
    assert "hello from" in said.json["answer"]
    assert said.json["phase"] == "completed"
    assert "/namespaces/default/workflows/task%2F" in said.json["url"]


@pytest.mark.chromium
@pytest.mark.parametrize("request_text", [SEED, SEED_ZH])
def test_the_seed_task_works_by_rules_alone(
    running: Installation, site: str, tmp_path: Path, request_text: str
) -> None:
    said = running.asos("ask", request_text, "--json", "--allow-host", site, "--save-to", str(tmp_path))

    assert said.code == 0, said.out + said.err
    report = (tmp_path / "report.md").read_text()
    assert "lighthouse" in report
    assert "1874" in report
    assert said.json["outcome"] == "done"


@pytest.mark.chromium
def test_the_demonstration_asks_for_one_approval_and_shows_who_gave_it(running: Installation) -> None:
    said = running.asos("demo", "--yes")

    assert said.code == 0, said.out + said.err
    assert said.out.count("approved by --yes") == 1
    assert "http://lighthouse.demo.test/guestbook" in said.out
    assert "1874" in said.out


def test_a_risky_step_waits_for_a_yes_and_then_happens(running: Installation) -> None:
    asked = running.asos("ask", RISKY, "--no-wait", "--json")
    assert asked.code == 3, asked.out + asked.err
    task = asked.json["task_id"]

    wrong = running.asos("approve", task, "zzzzz")
    approved = running.asos("approve", task)
    ended = running.until(lambda status: status["outcome"], task)

    assert wrong.code == 1
    assert approved.code == 0
    assert ended["outcome"] == "done"
    assert "gone" in ended["answer"]


def test_a_no_leaves_things_as_they_are_and_the_answer_says_so(running: Installation) -> None:
    asked = running.asos("ask", RISKY, "--no-wait", "--json")
    task = asked.json["task_id"]

    denied = running.asos("deny", task, "--note", "I need it")
    ended = running.until(lambda status: status["outcome"], task)

    assert denied.code == 0
    assert ended["outcome"] == "failed"
    assert "gone" not in ended["answer"]


def test_what_policy_forbids_never_runs_and_is_not_even_asked(running: Installation) -> None:
    said = running.asos("ask", "/run sudo id", "--json")

    assert said.code == 1
    assert said.json["outcome"] == "failed"
    assert "uid=" not in said.json["answer"]


def test_the_sandbox_reaches_nothing_that_was_not_opened(running: Installation, site: str) -> None:
    address = site.partition("=")[2]
    script = f"python3 - <<'E'\nimport socket\ns=socket.create_connection(('127.0.0.1',{address.split(':')[1]}),3)\nE"

    said = running.asos("ask", f"/run {script}", "--json", "--yes")

    assert said.code == 1
    assert "refused" in said.json["answer"].lower()


def test_a_paused_task_can_go_on_and_a_stopped_one_ends(running: Installation) -> None:
    asked = running.asos("ask", RISKY, "--no-wait", "--json")
    task = asked.json["task_id"]

    assert running.asos("pause", task).code == 0
    assert running.asos("resume", task).code == 0
    assert running.asos("stop", task).code == 0
    assert running.until(lambda status: status["outcome"], task)["phase"] == "cancelled"
    assert running.asos("approve", task).code != 0


def test_a_task_that_failed_can_be_retried_from_before_its_step(running: Installation) -> None:
    first = running.asos("ask", "/run exit 7", "--json")
    task = first.json["task_id"]

    retried = running.asos("retry", task, "--from-step", "1")
    ended = running.until(lambda status: status["outcome"], task)

    assert retried.code == 0, retried.err
    assert ended["outcome"] == "failed"
    assert running.asos("retry", task, "--from-step", "99").code == 1


def test_a_history_replays_against_the_present_code_from_task_and_from_file(
    running: Installation, tmp_path: Path
) -> None:
    task = running.asos("ask", "/run echo one", "--json").json["task_id"]
    out = tmp_path / "history.json"

    assert running.asos("replay", task).code == 0
    assert running.asos("history", task, "--out", str(out)).code == 0
    assert running.asos("replay", str(out)).code == 0

    out.write_text(out.read_text().replace('"plan-1"', '"plan-9"'))
    differs = running.asos("replay", str(out))
    assert differs.code == 1
    assert "plan-1" in differs.err or "plan-9" in differs.err


def test_tasks_and_show_tell_what_there_is(running: Installation) -> None:
    task = running.asos("ask", "/run echo listed", "--json").json["task_id"]

    listed = running.asos("tasks", "--json")
    shown = running.asos("show", task[-8:])

    assert task in [each["task_id"] for each in listed.json]
    assert "listed" in shown.out
    assert running.asos("show", "01NOSUCHTASK0000000000000").code == 2
