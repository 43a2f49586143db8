"""A model decides: two settings are enough, and a provider's bad times end in a truth that a person can act on."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.model_cloud import ModelCloud, fakellm, model_cloud
from tests.e2e.stack import Installation, installation
from tests.planner.model_server import Canned, calls, fault, words

pytestmark = pytest.mark.timeout(300)

SEED = "Open http://site.test/ , summarise it, write the summary to report.md, and send it to me"

PLAYED = """
version: 1
rules:
  - name: open
    when: {turn: 1, messages_contain: "summarise", tools_include: browse}
    respond: {tool_calls: [{name: browse, arguments: {url: "http://site.test/"}}]}
  - name: write
    when: {turn: 2, tool_result_contains: "lighthouse"}
    respond:
      tool_calls:
        - {name: files, arguments: {operation: write, path: report.md, content: "A lighthouse of 1874."}}
  - name: send
    when: {turn: 3}
    respond: {tool_calls: [{name: files, arguments: {operation: send, path: report.md}}]}
  - name: answer
    when: {turn: 4}
    respond: {content: "I have written report.md and sent it to you."}
"""

BUDGET_USD = 0.06
"""Bears one call of at most 4,096 tokens of gpt-4o's, and not that after an expensive one."""


@pytest.fixture(scope="module")
def model() -> Iterator[ModelCloud]:
    with model_cloud() as given:
        yield given


@pytest.fixture(scope="module")
def asos(tmp_path_factory: pytest.TempPathFactory, model: ModelCloud) -> Iterator[Installation]:
    settings = {
        "ASOS_MODEL": "openai/gpt-4o",
        "ASOS_MODEL_BASE_URL": model.base_url,
        "ASOS_TASK_BUDGET_USD": str(BUDGET_USD),
    }
    with installation(tmp_path_factory.mktemp("model"), settings) as given:
        yield given


@pytest.mark.chromium
def test_the_seed_task_works_with_nothing_but_a_model_and_its_address(tmp_path: Path, site: str) -> None:
    with fakellm(tmp_path, PLAYED) as base_url:
        settings = {"ASOS_MODEL": "local", "ASOS_MODEL_BASE_URL": base_url}
        with installation(tmp_path, settings) as asos:
            folder = tmp_path / "received"
            said = asos.asos("ask", SEED, "--json", "--yes", "--allow-host", site, "--save-to", str(folder))

    assert said.code == 0, said.out + said.err
    assert said.json["answer"] == "I have written report.md and sent it to you."
    assert (folder / "report.md").read_text() == "A lighthouse of 1874."
    assert said.json["usage"]["calls"] == 4


@pytest.mark.parametrize(
    "bad_times",
    [
        pytest.param([fault(429, "slow down", retry_after="2")], id="asked to wait"),
        pytest.param([fault(500, "oops"), fault(503, "oops")], id="down for a moment"),
        pytest.param([Canned(200, b'{"choices": [{"mess')], id="broken JSON"),
        pytest.param(
            [calls(("shell", '{"script": "ech')), calls(("shell", '{"script": "echo well"}'))],
            id="broken JSON in a call",
        ),
    ],
)
def test_a_provider_that_recovers_costs_nothing_but_time(
    asos: Installation, model: ModelCloud, bad_times: list[Canned]
) -> None:
    model.will_answer(*bad_times, words("All is well."))

    said = asos.asos("ask", "Say that all is well", "--json")

    assert said.code == 0, said.out + said.err
    assert said.json["answer"] == "All is well."
    assert model.asked == len(bad_times) + 1


def test_a_wrong_key_ends_the_task_with_the_remedy_and_a_retry_goes_on(asos: Installation, model: ModelCloud) -> None:
    model.will_answer(fault(401, "Incorrect API key provided"))
    refused = asos.asos("ask", "Say hello", "--json")
    model.will_answer(words("Hello."))

    retried = asos.asos("retry", refused.json["task_id"])
    ended = asos.until(lambda status: status["outcome"] == "done", refused.json["task_id"])

    assert refused.code == 1
    assert "authentication" in refused.json["answer"]
    assert "ASOS_MODEL_API_KEY" in refused.json["answer"]
    assert retried.code == 0, retried.err
    assert ended["answer"] == "Hello."


def test_the_budget_stops_the_task_before_the_next_call_and_a_word_lets_it_go_on(
    asos: Installation, model: ModelCloud
) -> None:
    model.will_answer(_expensive(calls(("shell", '{"script": "echo spent"}'))), words("Spent."))
    asked = asos.asos("ask", "Spend it", "--json", "--no-wait")
    assert asked.code == 3, asked.out + asked.err
    calls_before = model.asked

    answered = asos.asos("answer", asked.json["task_id"], "1")
    ended = asos.until(lambda status: status["outcome"], asked.json["task_id"])

    assert asked.json["phase"] == "awaiting_user"
    assert "budget" in asked.json["asked"]["question"]
    assert calls_before == 1
    assert answered.code == 0, answered.err
    assert ended["answer"] == "Spent."
    assert ended["usage"]["cost_usd"] > BUDGET_USD / 2


def test_a_call_that_fails_three_times_in_the_same_way_ends_in_a_question(
    asos: Installation, model: ModelCloud
) -> None:
    model.will_answer(calls(("shell", '{"script": "exit 7"}')))
    asked = asos.asos("ask", "Try it", "--json", "--no-wait", "--yes")
    assert asked.code == 3, asked.out + asked.err
    calls_before = model.asked

    answered = asos.asos("answer", asked.json["task_id"], "stop")
    ended = asos.until(lambda status: status["outcome"], asked.json["task_id"])

    assert "failed 3 times" in asked.json["asked"]["question"]
    assert calls_before == 3
    assert answered.code == 0
    assert ended["outcome"] == "failed"
    assert ended["answer"].startswith("Stopped at your word")


def _expensive(answer: Canned) -> Canned:
    """The same answer after 12,000 tokens of input: 3 cents of gpt-4o's."""
    body = json.loads(answer.body)
    body["usage"] = {"prompt_tokens": 12_000, "completion_tokens": 10, "total_tokens": 12_010}
    return Canned(200, json.dumps(body).encode())
