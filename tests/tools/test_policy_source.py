"""The policy file in force with the files over it: each change is told once, and a broken one changes nothing."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from activities.policy_source import PolicyFile
from contracts.verdicts import Actor, Allow, Question, Verdict
from runtime.paths import DataPaths
from runtime.policy_state import PolicyState, overlays_of, read_policy_state
from runtime.policy_view import show_policy
from runtime.process import CannotStart
from runtime.settings import Settings
from workers.policy_in_force import policy_of

QUESTION = Question(actor=Actor(user_id="u", role="r", channel="c"), tool="shell", args={}, actions=())

OWNER = "role: owner\npermissions: {cli: {read: [/workspace], write: [/workspace]}}\n"
Told = list[tuple[str, str, str]]


def parse(text: str) -> str:
    if "broken" in text:
        raise ValueError(f"{text!r} is broken")
    return text


def judge(question: Question, policy: str) -> Verdict:
    return Allow(policy_version=policy)


def file_with(path: Path, told: Told, *overlays: Path) -> PolicyFile[str]:
    return PolicyFile(
        path,
        parse,
        judge,
        overlays=overlays,
        tighten=lambda policy, text, _path: parse(f"{policy}+{text}"),
        version=lambda policy: policy,
        on_change=lambda kind, version, problem: told.append((kind, version, problem)),
    )


def test_a_file_that_tightens_lies_over_the_persons_own_and_is_read_again_too(tmp_path: Path) -> None:
    mine, theirs, told = tmp_path / "mine", tmp_path / "theirs", Told()
    mine.write_text("a")
    theirs.write_text("b")
    source = file_with(mine, told, theirs)
    before = source.judge(QUESTION).policy_version

    theirs.write_text("bb")

    assert (before, source.judge(QUESTION).policy_version) == ("a+b", "a+bb")
    assert told == [("policy.changed", "a+bb", "")]


@pytest.mark.parametrize("which", ["mine", "theirs"])
def test_a_refused_change_is_told_once_with_the_version_that_stays(tmp_path: Path, which: str) -> None:
    mine, theirs, told = tmp_path / "mine", tmp_path / "theirs", Told()
    mine.write_text("a")
    theirs.write_text("b")
    source = file_with(mine, told, theirs)

    (tmp_path / which).write_text("broken")
    versions = [source.judge(QUESTION).policy_version for _ in range(3)]

    assert versions == ["a+b"] * 3
    ((kind, version, problem),) = told
    assert (kind, version) == ("policy.refused", "a+b")
    assert "is broken" in problem
    assert source.problem() == problem


def test_a_file_that_is_gone_is_a_problem_until_it_is_back(tmp_path: Path) -> None:
    mine, told = tmp_path / "mine", Told()
    mine.write_text("a")
    source = file_with(mine, told)

    aside = mine.rename(tmp_path / "aside")
    gone = source.problem()
    source.problem()
    aside.rename(mine)

    assert "No such file" in gone
    assert source.problem() == ""
    assert [kind for kind, _, _ in told] == ["policy.refused", "policy.changed"]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(OWNER)
    return Settings(data_dir=tmp_path / "data", policy_file=tmp_path / "mine.yaml")


def test_which_policy_is_in_force_and_why_a_change_is_not_can_be_seen_from_outside(settings: Settings) -> None:
    paths = DataPaths(settings.data_dir)
    source = policy_of(settings, paths)
    first = read_policy_state(paths.policy_state)

    assert settings.policy_file is not None
    settings.policy_file.write_text(OWNER + "mistake: 1\n")
    source.problem()
    second = read_policy_state(paths.policy_state)

    assert first is not None
    assert second is not None
    assert (first.problem, second.version) == ("", first.version)
    assert "mine.yaml:3: unknown key 'mistake'" in second.problem


def test_the_files_over_it_come_from_the_settings_and_from_the_folder_we_start_in(
    settings: Settings, tmp_path: Path
) -> None:
    skill, project = tmp_path / "skill.yaml", tmp_path / "asos.policy.yaml"
    skill.write_text("permissions: {cli: {blocked: [rm]}}")
    project.write_text("permissions: {cli: {blocked: [cp], write: [/srv]}}")
    settings = Settings(
        data_dir=settings.data_dir, policy_file=settings.policy_file, policy_overlays=(Path("skill.yaml"),)
    )

    policy = policy_of(settings, DataPaths(settings.data_dir)).current()

    assert overlays_of(settings) == (skill, project)
    cli = policy.roles["owner"].cli
    assert cli is not None
    assert [pattern.text for pattern in cli.blocked] == ["rm", "cp"]
    (ignored,) = policy.ignored
    assert ignored.startswith("asos.policy.yaml:1: permissions.cli.write: the person's own file does not permit /srv")


def test_without_a_file_over_it_that_is_named_nothing_starts(settings: Settings) -> None:
    missing = Settings(data_dir=settings.data_dir, policy_file=settings.policy_file, policy_overlays=(Path("no.yaml"),))

    with pytest.raises(CannotStart, match=r"no\.yaml"):
        policy_of(missing, DataPaths(settings.data_dir))


def test_a_refused_change_stands_in_red_below_the_policy_in_force() -> None:
    state = PolicyState(file="/x/policy.yaml", version="a" * 64, at=datetime.now(UTC), problem="policy.yaml:3: no")
    console = Console(record=True, width=200)

    show_policy(console, state, "en")

    first, second = console.export_text().splitlines()
    assert first == "policy aaaaaaaaaaaa is in force (/x/policy.yaml)"
    assert "policy.yaml:3: no" in second
