"""What is in no file: work left for later, ignores without a reason, and names of foreign machines."""

import re
from pathlib import Path

from runtime.settings import Settings
from tests.project.files import PACKAGES, ROOT, at, lines_of, text_of, tracked
from workers.asos import command_line

IGNORE = re.compile(r"# (?:type: ignore\[[a-z, -]+\]|noqa: [A-Z0-9]+(?:, ?[A-Z0-9]+)*)(?P<reason>.*)$")
BARE_IGNORE = re.compile(r"# (?:type: ignore(?!\[)|noqa(?!:))")

LATER = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")

ELSEWHERE = re.compile(
    r"/(?:root|home/(?!agent\b|\*|name\b)[a-z]+|Users|workspaces)/[\w.]|\bpypi\.org|pythonhosted|\bquay\.io|\bghcr\.io"
    r"|registry-1\.docker|registry\.npmjs|deb\.debian\.org|archive\.ubuntu"
)

ADDRESS = re.compile(r"\b(?:https?|wss?)://([a-z0-9-]+(?:\.[a-z0-9-]+)+)")
RESERVED = re.compile(r"(?:^|\.)(?:example|test|localhost|invalid|example\.(?:com|org|net))$|^127\.|^0\.0\.0\.0$")
NAMED = {"api.telegram.org", "github.com", "localhost"}
"""The one service that the program itself calls, and where a comment points to."""

RECORDED = "tests/policy/provenance/agentdojo.jsonl:"
"""Somebody else's words, as they were recorded: one of its tasks speaks of a list of things to do."""

THIS = Path(__file__)


def findings(pattern: re.Pattern[str], *endings: str) -> list[str]:
    """Where a pattern stands in a file of ours."""
    files = [path for path in tracked(*endings) if path != THIS]
    return [
        f"{at(path, number)}: {line.strip()}"
        for path in files
        for number, line in enumerate(lines_of(path), 1)
        if pattern.search(line)
    ]


def test_an_ignore_has_its_reason_on_the_line() -> None:
    unexplained = [
        at(path, number)
        for path in tracked(".py")
        for number, line in enumerate(lines_of(path), 1)
        if path != THIS
        and (BARE_IGNORE.search(line) or ((found := IGNORE.search(line)) and len(found["reason"].strip(" #")) < 4))
    ]

    assert unexplained == []


def test_nothing_is_left_for_later() -> None:
    assert [found for found in findings(LATER) if not found.startswith(RECORDED)] == []


def test_no_file_names_somebody_s_machine_or_a_package_host() -> None:
    assert (
        findings(ELSEWHERE, ".py", ".sh", ".md", ".toml", ".yml", ".yaml", ".service", "Makefile", "Dockerfile") == []
    )


def test_code_names_no_host_but_reserved_ones() -> None:
    code = [path for path in tracked(".py", ".sh") if path.relative_to(ROOT).parts[0] in (*PACKAGES, "deploy", "bench")]
    foreign = [
        f"{at(path, number)}: {host}"
        for path in code
        for number, line in enumerate(lines_of(path), 1)
        for host in ADDRESS.findall(line.lower())
        if host not in NAMED and not RESERVED.search(host)
    ]

    assert foreign == []


def test_the_make_targets_name_what_exists() -> None:
    makefile = text_of(ROOT / "Makefile")
    named = re.findall(r"(?<![\w./$)])((?:deploy|tests|bench)/[\w/.-]+)", makefile)

    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_command_that_people_are_told_of_exists() -> None:
    told = [*tracked(".md"), *(path for path in tracked(".py") if path.parent.name == "texts")]
    text = "\n".join(text_of(path) for path in told)
    targets = set(re.findall(r"^([a-z]+):", text_of(ROOT / "Makefile"), re.MULTILINE))

    assert set(re.findall(r"`(?:[A-Z]+=\S+ )?make ([a-z]+)", text)) <= targets
    assert set(re.findall(r"`asos ([a-z]+)", text)) <= commands()


def test_every_setting_that_people_are_told_of_exists() -> None:
    text = "\n".join(text_of(path) for path in tracked(".md"))
    told = {name.lower() for name in re.findall(r"\bASOS_([A-Z0-9_]*[A-Z0-9])\b", text)}

    assert told
    assert told - set(Settings.model_fields) == set()


def commands() -> set[str]:
    """The sub-commands of `asos`."""
    app = command_line(Settings())
    named = [each.name or getattr(each.callback, "__name__", "") for each in app.registered_commands]
    return {*named, *(group.name or "" for group in app.registered_groups)}
