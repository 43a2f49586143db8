"""When things go wrong: a clear word to the person, a truthful state, and nothing lost."""

import pytest

from tests.e2e.stack import Installation

pytestmark = pytest.mark.timeout(400)


def test_an_empty_request_is_a_usage_error(running: Installation) -> None:
    said = running.asos("ask", "   ")

    assert said.code == 2
    assert "empty" in said.err


def test_ten_megabytes_are_refused_with_the_limit_and_the_remedy(running: Installation) -> None:
    said = running.asos("ask", "-", text="x" * 10_000_000)

    assert said.code == 2
    assert "262144" in said.err
    assert "--file" in said.err


def test_binary_junk_is_answered_and_breaks_nothing(running: Installation) -> None:
    junk = "".join(chr(number) for number in range(1, 32)) + "\ufffe\udce2\u202e" + "\x7f" * 50

    said = running.asos("ask", "-", "--json", text=junk.encode("utf-8", "replace").decode())

    assert said.code == 1
    assert said.json["outcome"] == "failed"


@pytest.mark.parametrize("text", ["/nosuch thing", "flurb the grommets", "/run", "/browse not a url", "/plan nowhere"])
def test_what_is_not_understood_is_said_and_ends_as_failed(running: Installation, text: str) -> None:
    said = running.asos("ask", text, "--json")

    assert said.code == 1
    assert said.json["answer"]
    assert "Traceback" not in said.out + said.err


def test_a_long_request_reaches_the_planner_whole(running: Installation) -> None:
    said = running.asos("ask", "-", "--json", text=f"/run echo {'a' * 20_000}; echo the end")

    assert said.code == 0, said.err
    assert "the end" in said.json["answer"]


def test_a_command_that_never_ends_is_stopped_at_its_limit(running: Installation) -> None:
    plan = "/plan\nsteps:\n  - id: wait\n    tool: shell\n    args: {script: 'sleep 900', timeout_seconds: 2}\n"

    said = running.asos("ask", "-", "--json", text=plan)

    assert said.code == 1
    assert said.json["outcome"] == "failed"
    assert "2" in said.json["answer"]


def test_a_hundred_megabytes_of_output_are_bounded_and_the_end_is_kept(running: Installation) -> None:
    said = running.asos("ask", "/run head -c 100000000 /dev/zero | tr '\\0' 'x'; echo; echo the very end", "--json")

    assert said.code == 0, said.err
    assert "the very end" in said.json["answer"]
    assert len(said.json["answer"]) < 200_000


@pytest.mark.chromium
def test_a_page_that_does_not_exist_is_a_truthful_failure(running: Installation, site: str) -> None:
    said = running.asos("ask", "/browse http://site.test/missing", "--json", "--allow-host", site)

    assert "404" in said.json["answer"]


def test_a_host_that_was_not_named_by_the_person_is_not_reached(running: Installation) -> None:
    said = running.asos("ask", "/read https://127.0.0.1:9/", "--json", "--no-wait")

    assert said.code in (1, 3)


def test_a_tool_that_does_not_exist_is_named(running: Installation) -> None:
    said = running.asos("ask", "-", "--json", text="/plan\nsteps:\n  - id: a\n    tool: teleport\n    args: {}\n")

    assert said.code == 1
    assert "teleport" in said.json["answer"]


def test_a_host_grant_that_is_none_is_a_usage_error(running: Installation) -> None:
    said = running.asos("ask", "hello", "--allow-host", "ht tp://x")

    assert said.code == 2
    assert "ht tp://x" in said.err
