"""`asos policy explain` and `test`: what was recorded is shown and put to a draft, and nothing is touched."""

import base64
import hashlib
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from contracts.values import JsonObject
from contracts.verdicts import Action, Actor, CommandAction, FileAction, Question, VisitAction
from policy.file import parse
from policy.judge import judge
from policy.shipped import NAME, default_text
from runtime.confidential import PLACE
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.settings import Settings
from workers.commands.policy import app
from workers.policy_in_force import policy_of

SHIPPED = str(Path(__file__).parents[2] / "policy" / "default.yaml")
TASK, OTHER = "01KB0000000000000000000AAA", "01KB0000000000000000000BBB"
NOW = datetime.now(UTC)


class Log:
    """An audit log with the records that judging writes, in their stored form."""

    def __init__(self, folder: Path) -> None:
        self.paths = DataPaths(folder)
        self.paths.prepare()
        self._keyring = Keyring.load(folder)
        self._count = 0
        self._policy = parse(default_text(), NAME)
        with closing(sqlite3.connect(self.paths.audit_log)) as connection:
            connection.execute("CREATE TABLE records (sequence INTEGER PRIMARY KEY, body TEXT, task_id TEXT)")

    def judged(self, task_id: str, call_id: str, action: Action, at: datetime = NOW) -> None:
        actor = Actor(user_id="telegram:7", role="owner", channel="telegram")
        question = Question(actor=actor, tool="shell", args={}, actions=(action,), at=at)
        said = judge(question, self._policy)
        data: JsonObject = {
            "verdict": said.kind,
            "reasons": [{"rule": reason.rule} for reason in said.reasons],
            "rules": list(said.rules),
            "risk": said.risk,
            "risk_parts": {"effect": said.risk},
        }
        reasons = [reason.model_dump(mode="json") for reason in said.reasons]
        words = {"question": question.model_dump(mode="json"), "reasons": reasons}
        self.write("verdict", task_id, call_id, data, json.dumps(words), at)

    def write(self, kind: str, task_id: str, call_id: str, data: JsonObject, words: str, at: datetime) -> None:
        self._count += 1
        sealed = base64.b64encode(self._keyring.seal(words.encode(), PLACE)).decode() if words else ""
        body = {
            "sequence": self._count,
            "at": at.isoformat(),
            "kind": kind,
            "task_id": task_id,
            "actor": "telegram:7",
            "data": data,
            "call_id": call_id,
            "policy_version": self._policy.version,
            "words": sealed,
            "previous": "",
        }
        with closing(sqlite3.connect(self.paths.audit_log)) as connection, connection:
            connection.execute("INSERT INTO records VALUES (?, ?, ?)", (self._count, json.dumps(body), task_id))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    found = Log(tmp_path_factory.mktemp("recorded"))
    found.judged(OTHER, "1.0-a", CommandAction(script="pip install x"), NOW - timedelta(days=60))
    found.judged(TASK, "1.0-a", CommandAction(script="ls -l"))
    found.judged(TASK, "2.0-b", VisitAction(url="https://new.example/page"))
    found.judged(TASK, "2.1-c", FileAction(operation="delete", path="a.txt"))
    found.write("effect.begun", TASK, "2.1-c", {"place": "local"}, "", NOW)
    found.write("verdict", TASK, "3.0-d", {"verdict": "deny", "reasons": [{"rule": "unknown_tool"}]}, "{}", NOW)
    return found


def run(log: Log, arguments: Sequence[str]) -> Result:
    return CliRunner().invoke(app, arguments, env={"ASOS_DATA_DIR": str(log.paths.root), "COLUMNS": "200"})


def digest_of(log: Log) -> dict[str, str]:
    files = [path for path in log.paths.root.rglob("*") if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_step_is_explained_with_each_reason_as_a_sentence_the_rules_and_the_risk(log: Log) -> None:
    told = run(log, ["explain", TASK[-6:], "2"])

    assert told.exit_code == 0, told.stderr
    assert "new.example/page" in told.stdout
    assert "Neither your policy nor you have named new.example. [url.unlisted]" in told.stdout
    assert "role/owner/browser.unlisted" in told.stdout
    assert "It deletes data that cannot be brought back: a.txt." in told.stdout
    assert "risk" in told.stdout


def test_a_call_can_be_named_and_programs_get_json(log: Log) -> None:
    told = run(log, ["explain", "last", "2.1-c", "--json"])

    (line,) = json.loads(told.stdout)
    assert (line["verdict"], line["call_id"], line["question"]["tool"]) == ("ask", "2.1-c", "shell")


def test_a_call_that_policy_was_not_asked_about_is_shown_too(log: Log) -> None:
    told = run(log, ["explain", TASK, "3"])

    assert "policy was not asked" in told.stdout
    assert "unknown_tool" in told.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explain", TASK, "9"], "there are: 1, 2, 3"),
        (["explain", "nothing", "1"], "knows no task 'nothing'"),
        (["explain", "01KB", "1"], "fits 2 tasks"),
        (["test", "draft.yaml"], "draft.yaml: cannot be read"),
        (["test", SHIPPED, "--since", "soon"], "30d"),
    ],
)
def test_what_cannot_be_found_is_said_in_one_line(log: Log, arguments: list[str], said: str) -> None:
    told = run(log, arguments)

    assert told.exit_code in (1, 2)
    assert said in told.stderr
    assert told.stderr.count("\n") == 1


def test_a_draft_is_given_the_recorded_questions_and_what_flips_is_listed_and_nothing_touched(
    log: Log, tmp_path: Path
) -> None:
    draft = tmp_path / "draft.yaml"
    text = default_text().replace("data_deletion: ask", "data_deletion: allow", 1)
    draft.write_text(text.replace("unlisted: ask", "unlisted: deny", 1))
    before = digest_of(log)

    told = run(log, ["test", str(draft), "--json"])

    found = json.loads(told.stdout)
    flips = {flip["call"]: (flip["before"], flip["after"]) for flip in found["flipped"]}
    assert flips == {"2.0-b": ("ask", "deny"), "2.1-c": ("ask", "allow")}
    assert (found["replayed"], found["unreadable"]) == (3, 1)
    assert found["flipped"][0]["reasons"][0]["rule"] == "url.unlisted"
    assert digest_of(log) == before


def test_people_get_a_table_and_the_same_policy_flips_nothing(log: Log, tmp_path: Path) -> None:
    overlay = tmp_path / "asos.policy.yaml"
    overlay.write_text("permissions: {cli: {blocked: [ls], write: [/srv]}}\n")

    same = run(log, ["test", SHIPPED, "--since", "90d"])
    other = run(log, ["test", SHIPPED, "--overlay", str(overlay)])

    assert "4 recorded questions were put to the draft: 0 would be decided otherwise" in same.stdout
    assert "Your policy blocks commands like this: ls" in other.stdout
    assert "does not permit /srv" in other.stdout


def test_without_any_record_it_says_so(tmp_path: Path) -> None:
    DataPaths(tmp_path).prepare()

    told = CliRunner().invoke(app, ["explain", "last", "1"], env={"ASOS_DATA_DIR": str(tmp_path)})

    assert told.exit_code == 1
    assert "nothing has been recorded yet" in told.stderr


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASOS_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    DataPaths(tmp_path / "data").prepare()
    return tmp_path


def test_a_check_without_a_name_is_about_the_file_in_force_and_all_over_it(installation: Path) -> None:
    (installation / "asos.policy.yaml").write_text(
        'cedar: |\n  @id("late") @answer("ask") forbid(principal, action, resource) when { context.hour > 22 };\n'
        "  permit(principal, action, resource);\n"
    )
    settings = Settings()
    source = policy_of(settings, DataPaths(settings.data_dir))

    told = CliRunner().invoke(app, ["check"])
    facts = json.loads(CliRunner().invoke(app, ["check", "--json"]).stdout)

    assert told.exit_code == 0
    assert "overlay/1/cedar/late asks" in told.stdout
    assert "not taken: " in told.stdout
    assert f"policy {source.current().version[:12]} is in force" in told.stdout
    assert (facts["in_force"], len(facts["ignored"])) == (True, 1)


def test_a_check_of_a_broken_file_in_force_says_which_one_stays(installation: Path) -> None:
    settings = Settings()
    paths = DataPaths(settings.data_dir)
    version = policy_of(settings, paths).current().version
    paths.policy.write_text("role: owner\nmistake: 1\n")

    told = CliRunner().invoke(app, ["check"])
    facts = json.loads(CliRunner().invoke(app, ["check", "--json"]).stdout)

    assert told.exit_code == 1
    assert "policy.yaml:2: unknown key 'mistake'" in told.stderr
    assert f"policy {version[:12]}, the former one, stays in force" in told.stderr
    assert (facts["line"], facts["stays"]) == (2, version)
