"""The kill switch at each moment of a task: seconds to the last effect, and no effect after."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import httpx
import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.tool import ToolContext
from contracts.language import Language
from contracts.tools import ToolResult, ToolSpec
from contracts.values import JsonObject
from contracts.verdicts import Action, TalkAction
from gateway.desk import Refused
from runtime.keys import Keyring
from runtime.killing.brake import FileBrake
from runtime.killing.state import StateFile
from runtime.killing.switch import KillSwitch
from runtime.paths import DataPaths
from tests.chaos.effects import Effects, counting
from tests.chaos.stops import CURL, LOOP, Growing, Measured, Owner, measured, table, until_so_many
from tests.e2e.stack import Installation, eventually, installation
from tests.tools.acting_parts import OneHost, Rig, call
from tests.tools.acting_parts import request as request_of
from tests.tools.conftest import MemoryBlobs

pytestmark = [pytest.mark.xdist_group("e2e-kill")]

IN_BUBBLES = {"ASOS_SANDBOX_DRIVER": "bubblewrap"}
RISKY = '/run python3 -c \'open("ticks", "w").write("1")\''
"""Code that policy cannot read: it asks."""
TICKS = "/run " + LOOP.format(step="date +%s%N >> ticks")
ROUNDS = 3
CLOSED = ("cancelled", "failed", "completed")


@pytest.fixture
def effects() -> Iterator[Effects]:
    with counting() as given:
        yield given


def looping(name: str) -> str:
    return "/run " + LOOP.format(step=CURL.format(name=name))


def bubbles(given: Installation) -> list[Path]:
    return [given.data_dir / "sandboxes"]


def ended(owner: Owner, tasks: list[str]) -> None:
    """All of them are over, and say by whom."""
    for task in tasks:
        status = owner.given.until(lambda status: status["phase"] in CLOSED, task)
        assert status["phase"] == "cancelled"
        assert status["answer"].startswith("killed by console:")


@pytest.mark.timeout(240)
def test_a_stop_of_everything_leaves_no_effect_and_lasts_until_the_second_factor(
    tmp_path: Path, effects: Effects
) -> None:
    with installation(tmp_path, IN_BUBBLES) as given, closing(Growing("ticks")) as ticks:
        owner = Owner(given)
        tasks = owner.asks(looping("net"), TICKS, RISKY, hosts=[effects.host])
        until_so_many(effects, ["net"])
        eventually(lambda: ticks.find(bubbles(given)) or None)
        eventually(lambda: True if owner.phase(tasks[2]) == "awaiting_approval" else None)
        time.sleep(Random(7).uniform(0, 0.3))  # noqa: S311  any moment will do

        seen = measured(owner, "everything", lambda: effects.of("net") + ticks.times(), "--reason", "enough")

        assert (seen.after, seen.before > 0) == (0, True), table([seen])
        ended(owner, tasks)
        assert owner.does("approve", tasks[2]) != 0
        with pytest.raises(Refused):
            owner.asks("/run true")
        assert owner.does("kill", "--lift") == 2
        assert owner.does("kill", "--lift", "--code", "123456") == 1
        owner.lifts()
        assert owner.asks("/run true")


class Calls:
    """A tool without a sandbox that asks a local server again and again, as one that speaks with an MCP server does."""

    spec = ToolSpec(
        name="scripted", description="-", parameters={"type": "object"}, repeatable=True, needs_sandbox=False
    )

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/tick/mcp"

    def actions(self, args: JsonObject) -> tuple[Action, ...]:
        return (TalkAction(),)

    def summary(self, args: JsonObject, language: Language) -> str:
        return "calls"

    def preview(self, args: JsonObject) -> str:
        return "calls"

    def timeout_seconds(self, args: JsonObject) -> float:
        return 600.0

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        async with httpx.AsyncClient() as http:
            while True:
                await http.get(self._url)
                await asyncio.sleep(0.05)


async def test_a_call_to_a_server_that_needs_no_sandbox_ends_in_the_middle(tmp_path: Path, effects: Effects) -> None:
    paths, keyring = DataPaths(tmp_path), Keyring.load(tmp_path)
    file = StateFile.of(paths, keyring)
    rig = Rig(MemoryBlobs(), OneHost(None), tools=(Calls(effects.port),), brake=FileBrake(file))
    asked = request_of(call("scripted", {}), lease=None)
    running = asyncio.ensure_future(ActivityEnvironment().run(rig.acting.run_tool, asked))
    await asyncio.to_thread(until_so_many, effects, ["mcp"])

    kill = KillSwitch(file, lambda *_: False).pull("tools", None, "console:anna")
    with pytest.raises(ApplicationError, match="console:anna"):
        await running

    returned = time.time()
    await asyncio.sleep(0.3)  # six more, if it still ran
    times, in_force = effects.of("mcp"), kill.at.timestamp()
    before = sum(in_force - 1 < each <= in_force for each in times)
    after = sum(each > returned for each in times)
    last = max((each - in_force for each in times if each > in_force), default=0.0)
    row = Measured("MCP call", 0.0, last, returned - in_force, after, before)
    print(table([row]), flush=True)  # noqa: T201  a row of the table
    assert (row.after, row.before > 0) == (0, True)


def long_form(owner: Owner, effects: Effects, number: int) -> list[Measured]:
    """One stop at each moment, all with the containers of the engine."""
    rows = []

    def at(moment: str, text: str, name: str, *arguments: str) -> None:
        tasks = owner.asks(text, hosts=[effects.host])
        until_so_many(effects, [name])
        time.sleep(Random(number).uniform(0, 1.0))  # noqa: S311  any moment will do
        rows.append(measured(owner, moment, lambda: effects.of(name), *arguments))
        if arguments:
            owner.lifts()
            owner.given.asos("stop", tasks[0])
            owner.given.until(lambda status: status["phase"] in CLOSED, tasks[0])
        else:
            ended(owner, tasks)
            owner.lifts()

    at("command", looping(f"command{number}"), f"command{number}")
    at("page", f"/browse http://effects.test/page/page{number}", f"page{number}")
    download = f"/run curl -s -o got http://effects.test/download/download{number}"
    at("download", download, f"download{number}")
    at("command, tools", looping(f"tools{number}"), f"tools{number}", "--level", "tools")
    at("command, network", looping(f"cut{number}"), f"cut{number}", "--level", "network")
    waiting = owner.asks(RISKY)
    eventually(lambda: True if owner.phase(waiting[0]) == "awaiting_approval" else None)
    rows.append(measured(owner, "approval wait", list))
    assert owner.does("approve", waiting[0]) != 0
    ended(owner, waiting)
    owner.lifts()
    return rows


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.chromium
@pytest.mark.timeout(3600)
def test_each_moment_many_times(tmp_path: Path, effects: Effects) -> None:
    rows = []
    with installation(tmp_path, {"ASOS_SANDBOX_DRIVER": "docker"}) as given:
        for number in range(ROUNDS):
            rows += long_form(Owner(given), effects, number)
            print(table(rows), flush=True)  # noqa: T201  the table is what the long form is for

    assert [row.after for row in rows] == [0] * len(rows)
    assert all(row.before for row in rows if row.at != "approval wait")
    assert max(row.last for row in rows) < 5


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_twenty_tasks_at_once(tmp_path: Path, effects: Effects) -> None:
    names = [f"task{number}" for number in range(20)]
    with installation(tmp_path, IN_BUBBLES) as given:
        owner = Owner(given)
        tasks = owner.asks(*(looping(name) for name in names), hosts=[effects.host])
        until_so_many(effects, names)

        row = measured(owner, "20 tasks at once", lambda: [each for name in names for each in effects.of(name)])

        print(table([row]), flush=True)  # noqa: T201  the table is what the long form is for
        ended(owner, tasks)
        assert row.after == 0


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_model_call(tmp_path: Path, effects: Effects) -> None:
    """An effect is each moment in which the provider still has the request."""
    settings = {"ASOS_MODEL": "openai/none", "ASOS_MODEL_BASE_URL": f"http://127.0.0.1:{effects.port}/v1", **IN_BUBBLES}
    rows = []
    with installation(tmp_path, settings) as given:
        owner = Owner(given)
        for level in ("all", "tools", "network"):
            tasks = owner.asks("think long")
            before = len(effects.of("model"))
            until_so_many(effects, ["model"], before + 3)
            rows.append(measured(owner, f"model call, {level}", lambda: effects.of("model"), "--level", level))
            owner.lifts()
            given.asos("stop", tasks[0])
            given.until(lambda status: status["phase"] in CLOSED, tasks[0])

    print(table(rows), flush=True)  # noqa: T201  the table is what the long form is for
    assert [row.after for row in rows] == [0] * len(rows)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", ["temporal", "gateway", "worker", "all of them"])
def test_a_stop_works_whatever_else_is_down(tmp_path: Path, effects: Effects, part: str) -> None:
    with installation(tmp_path, IN_BUBBLES) as given, closing(Growing("ticks")) as ticks:
        owner = Owner(given)
        tasks = owner.asks(TICKS)
        eventually(lambda: ticks.find(bubbles(given)) or None)
        parts = ("gateway", "worker", "temporal") if part == "all of them" else (part,)
        for name in parts:
            given.halt(name)

        row = measured(owner, f"{part} down", ticks.times)

        print(table([row]), flush=True)  # noqa: T201  the table is what the long form is for
        assert row.after == 0
        for name in parts:
            given.go_on(name)
        ended(owner, tasks)
