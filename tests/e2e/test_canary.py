"""Secrets stay where they are: in the environment, and out of everything that is kept, logged or said."""

import codecs
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from runtime.paths import DataPaths
from tests.e2e.evidence import Place, databases, history_payloads, holding, opened_blobs, raw_files
from tests.e2e.paired import Paired, paired

pytestmark = pytest.mark.timeout(300)

KEY = f"canary-key-{secrets.token_hex(12)}"
TOKEN = f"canary-token-{secrets.token_hex(12)}"
IN_ENVIRONMENT = {"ASOS_MODEL_API_KEY": KEY, "X_TOKEN": TOKEN}

GITHUB = "ghp_" + "".join(secrets.choice("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789") for _ in range(36))
MARKER = f"marker-{secrets.token_hex(12)}"
"""No secret: it is found wherever the others would be."""

DECODED = {"history", "blobs", "chat", "terminal", "files"}
"""Where the output of a command belongs."""


PLAN = """/plan
steps:
  - id: print
    tool: shell
    args: {{script: {script}}}
  - id: send
    tool: files
    args: {{operation: send, path: all.txt}}
    after: [print]
"""


@dataclass(frozen=True)
class Scene:
    """What is left after tasks whose commands printed everything."""

    places: list[Place]
    tasks: list[str]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, site: str) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("canary")
    with paired(folder, IN_ENVIRONMENT) as home:
        _in_chat(home)
        said = [_in_terminal(home, folder, site)]
        tasks = [task["task_id"] for task in home.asos.asos("tasks", "--json").json]
        yield Scene(list(_places(home, folder, said, tasks)), tasks)


@pytest.mark.parametrize("secret", [KEY, TOKEN, GITHUB], ids=["the model's key", "a token", "a GitHub token"])
def test_a_secret_stands_nowhere(scene: Scene, secret: str) -> None:
    assert not holding(scene.places, secret)
    assert not holding(scene.places, secret[8:-4]), "not even in part"


def test_what_is_no_secret_is_found_in_all_those_places(scene: Scene) -> None:
    assert holding(scene.places, MARKER) >= DECODED
    assert not {name for name in holding(scene.places, MARKER) if name.startswith("raw ")} - {"raw received"}
    kept = set.union(*(holding(scene.places, task) for task in scene.tasks))
    assert kept >= {"raw temporal", "raw history", "raw audit", "raw gateway", "ledger.db", "audit.db", "gateway.db"}


def test_the_logs_are_searched_too(scene: Scene) -> None:
    assert "raw logs" in holding(scene.places, "the gateway listens on port")


def _printing() -> str:
    """A command that puts everything together in the sandbox: the request itself holds none of it."""
    turned = " ".join(codecs.encode(text, "rot13") for text in (KEY, TOKEN, GITHUB, MARKER))
    return f"echo {turned} | tr 'A-Za-z' 'N-ZA-Mn-za-m' | tee all.txt"


def _in_terminal(home: Paired, folder: Path, site: str) -> str:
    done = home.asos.asos("ask", f"/run {_printing()}", "--yes")
    failed = home.asos.asos("ask", f"/run {_printing()} >&2; exit 3", "--json", "--yes")
    plan = PLAN.format(script=json.dumps(_printing()))
    sent = home.asos.asos("ask", plan, "--json", "--yes", "--save-to", str(folder / "received"))
    visit = f"/run {_printing()} | tr ' ' + | xargs -I@ curl -s -o page.html http://site.test/@"
    carried = home.asos.asos("ask", visit, "--yes", "--allow-host", site)
    all_said = (done, failed, sent, carried)
    assert [each.code for each in all_said] == [0, 1, 0, 0], all_said
    return "\n".join(each.out + each.err for each in all_said)


def _in_chat(home: Paired) -> None:
    talk = home.talk()
    talk.say(f"/run {_printing()}")
    talk.hears("[redacted]", final=True)


def _places(home: Paired, folder: Path, said: list[str], tasks: list[str]) -> Iterator[Place]:
    paths = DataPaths(home.asos.data_dir)
    payloads: list[bytes] = []
    for task in tasks:
        exported = folder / f"{task}.json"
        assert home.asos.asos("history", task, "--out", str(exported)).code == 0
        yield Place("raw history", exported.read_bytes())
        payloads += history_payloads(paths, exported)
    yield from (Place("history", payload) for payload in payloads)
    yield from (Place("blobs", blob) for blob in opened_blobs(paths, payloads))
    yield from databases(paths)
    yield Place("chat", json.dumps(home.cloud.calls(), ensure_ascii=False).encode())
    for command in (["tasks"], ["tasks", "--json"], ["status"], ["show", "last"], ["show", "last", "--json"]):
        shown = home.asos.asos(*command)
        said.append(shown.out + shown.err)
    yield Place("terminal", "\n".join(said).encode())
    yield from (Place("files", path.read_bytes()) for path in (folder / "received").iterdir())
    yield from raw_files(paths.root)
