"""What workers do when the switch is pulled: tasks end, schedules pause, and machines tell each other."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyotp
import pytest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleIntervalSpec,
    ScheduleSpec,
    WorkflowExecutionStatus,
)

from contracts.approvals import StepUp
from contracts.audit import Event, NoRecord
from contracts.kill import Kill, LiftOrder, Stopped
from contracts.planning import NextStep, PlanRequest, Reply
from contracts.queues import WORKFLOWS, task_workflow_id
from contracts.sandbox import Lease, SandboxBusy
from gateway.host_client import HostClient, HostRefused
from gateway.telling import Telling
from runtime.health import Health
from runtime.keys import Keyring
from runtime.killing.brake import FileBrake
from runtime.killing.state import StateFile, purpose_of
from runtime.killing.switch import KillSwitch
from runtime.paths import DataPaths
from runtime.plugin import agent_os_plugin
from runtime.second_factor import SecondFactor, new_secret
from runtime.web import LOOPBACK_NAMES, serve
from sandbox.slaying import Quarters
from tests.brakes import kill_of
from tests.histories.keyring import fixed_keyring
from tests.server import temporal_server
from tests.tools.conftest import LEASE
from tests.workers.conftest import TOKEN, Served
from tests.workflows.chat import message, send
from tests.workflows.stage import Script, on_stage
from workers.at_once import wanted_by
from workers.host_api.app import Entry, build_app
from workers.host_api.kill import KillDoor
from workers.killing import orders
from workers.killing.stopping import Stopping
from workers.killing.watcher import Watcher

BY = "console:anna"


@dataclass
class Host:
    """Remembers what was taken from it; a lease is busy for a while."""

    busy: int = 1
    here: list[str] = field(default_factory=lambda: ["asos-1"])
    revoked: list[str | None] = field(default_factory=list)
    frozen: list[str] = field(default_factory=list)

    def revoke(self, owner: str | None) -> list[str]:
        self.revoked.append(owner)
        ended, self.here = self.here, []
        return ended

    async def leases(self) -> Sequence[Lease]:
        return [LEASE]

    async def pause(self, lease: Lease) -> None:
        if self.busy:
            self.busy -= 1
            raise SandboxBusy("a tool is being ended")
        self.frozen.append(lease.sandbox_id)


class Machine:
    """One machine of an installation, with a switch of its own and the installation's keys."""

    def __init__(self, folder: Path, keys: Path) -> None:
        self.keyring = Keyring.load(keys)
        self.file = StateFile.of(DataPaths(folder), self.keyring)
        self.factor = SecondFactor(DataPaths(keys), self.keyring)
        self.switch = KillSwitch(self.file, self.factor.verify)
        self.host = Host()
        self.stopping = Stopping(self.host, Quarters("test", folder / "nowhere"))
        self.events: list[Event] = []
        self.told: list[Kill] = []

    async def record(self, event: Event) -> None:
        self.events.append(event)

    async def tell(self, kill: Kill) -> None:
        self.told.append(kill)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "here", tmp_path / "keys")


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not true():  # noqa: ASYNC110  what is waited for happens in a thread and in files
            await asyncio.sleep(0.02)


async def test_a_worker_acts_on_what_it_sees_whoever_wrote_it(machine: Machine) -> None:
    before = machine.switch.pull("task", "t1", BY)
    watcher = Watcher(FileBrake(machine.file), machine.stopping, None, machine, machine.tell)
    async with watcher.watching():
        await until(lambda: bool(machine.events))
        machine.switch.pull("tools", None, BY)
        await until(lambda: len(machine.events) == 2)
        everything = machine.switch.pull("all", None, BY)
        await until(lambda: len(machine.events) == 3)

    assert machine.host.revoked == ["t1", None]
    assert machine.host.frozen == [LEASE.sandbox_id]
    assert [(event.kind, event.data["level"]) for event in machine.events] == [
        ("kill.acted", "task"),
        ("kill.acted", "tools"),
        ("kill.acted", "all"),
    ]
    assert (machine.told[0], machine.told[2]) == (before, everything)


async def test_whoever_stops_is_told_of_all_that_the_stop_has_ended_also_what_another_was_quicker_to_end(
    machine: Machine,
) -> None:
    kill = kill_of()

    first, second = await machine.stopping.act(kill), await machine.stopping.act(kill)

    assert first.sandboxes == second.sandboxes == ("asos-1",)


@pytest.mark.asyncio(loop_scope="module")
async def test_another_machine_is_stopped_and_lifted_through_its_own_door(machine: Machine, served: Served) -> None:
    door = KillDoor(machine.switch, machine.stopping, NoRecord())
    entry = Entry(served.doors, TOKEN, LOOPBACK_NAMES, door)
    kill = kill_of("t1").model_copy(update={"kill_id": "k9"})
    secret, before = new_secret(), datetime.now(UTC) - timedelta(minutes=5)
    machine.factor.enrol(secret, pyotp.TOTP(secret).at(before), BY, before)
    async with serve(build_app(entry, lambda: Health(healthy=True)), 0, setting="ASOS_WORKER_PORT") as port:
        url = f"http://127.0.0.1:{port}"
        hosts = {"there": url, "gone": "http://127.0.0.1:1"}
        done, missed = await Telling(hosts, TOKEN, BY).kill(kill)
        assert (done, list(missed)) == (
            [Stopped(host_id="test", sandboxes=("asos-1",), seconds=done[0].seconds)],
            ["gone"],
        )
        assert machine.switch.in_force() == (kill,)

        forged = LiftOrder(
            kills=(kill,), step_up=StepUp(purpose=purpose_of((kill,)), by=BY, at=kill.at, proof="0" * 64)
        )
        assert "refused" in (await Telling({"there": url}, TOKEN, BY).lift(forged))["there"]
        async with HostClient(url, "another-token", BY) as stranger:
            with pytest.raises(HostRefused):
                await stranger.kill(kill)

        now = datetime.now(UTC)
        proof = machine.factor.confirm(pyotp.TOTP(secret).at(now), purpose_of((kill,)), BY, now)
        assert await Telling({"there": url}, TOKEN, BY).lift(LiftOrder(kills=(kill,), step_up=proof)) == {}
        assert machine.switch.in_force() == ()


async def test_all_tasks_and_all_that_waits_end_and_schedules_stand_still_until_the_lift() -> None:
    script = Script()

    async def thinks(request: PlanRequest) -> NextStep:
        await asyncio.sleep(600)
        return Reply(text="never")

    script.plan_step = thinks
    async with (
        temporal_server(plugins=[agent_os_plugin(fixed_keyring())]) as environment,
        on_stage(environment.client, script) as on,
    ):
        client = environment.client
        running = await send(on, message("first"))
        await send(on, message("second"))
        await until(lambda: bool(script.plans))
        for name in ("sweep/test", "daily", "paused-by-a-person"):
            await client.create_schedule(name, _schedule(name))
        await client.get_schedule_handle("paused-by-a-person").pause(note="holidays")
        kill = kill_of()

        assert await _cancelled(client, kill) == (running.task_id,)
        await orders.settle_schedules(client, stopped=True)

        assert await _states(client) == {"sweep/test": False, "daily": True, "paused-by-a-person": True}
        handle = client.get_workflow_handle(task_workflow_id(str(running.task_id)))
        async with asyncio.timeout(30):
            while (await handle.describe()).status is WorkflowExecutionStatus.RUNNING:  # noqa: ASYNC110  of the server
                await asyncio.sleep(0.05)
        assert len(script.plans) == 1

        await orders.settle_schedules(client, stopped=False)
        assert await _states(client) == {"sweep/test": False, "daily": False, "paused-by-a-person": True}


async def _cancelled(client: Client, kill: Kill) -> tuple[str, ...]:
    """As the watcher does it: the index of the server is late."""
    async with asyncio.timeout(30):
        while not (found := await orders.cancel(client, kill)):  # noqa: ASYNC110  of the server
            await asyncio.sleep(0.1)
    return found


async def _states(client: Client) -> dict[str, bool]:
    names = ("sweep/test", "daily", "paused-by-a-person")
    return {name: (await client.get_schedule_handle(name).describe()).schedule.state.paused for name in names}


def _schedule(name: str) -> Schedule:
    return Schedule(
        action=ScheduleActionStartWorkflow("SweepWorkflow", id=f"started-by-{name}", task_queue=WORKFLOWS),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(days=30))]),
    )


TASK = "01BX5ZZKBKACTAV9WEVGEMMVRZ"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["kill"], ("all", None, "")),
        (["kill", "--json", "--reason", "enough of it"], ("all", None, "enough of it")),
        (["kill", "--level", "network"], ("network", None, "")),
        (["kill", "--level=tools", "--reason=x"], ("tools", None, "x")),
        (["kill", TASK.lower()], ("task", TASK, "")),
        (["kill", "--level", "task", TASK], ("task", TASK, "")),
        (["kill", TASK, "--level", "all"], None),
        (["kill", "--level", "task"], None),
        (["kill", "--level", "some"], None),
        (["kill", "--level"], None),
        (["kill", "MMVRZ"], None),
        (["kill", "--lift"], None),
        (["kill", "k1", "--lift", "--code", "1"], None),
        (["kill", "--status"], None),
        (["kill", "--help"], None),
        (["ask", "kill"], None),
        ([], None),
    ],
)
def test_a_stop_is_written_at_once_only_if_it_is_plainly_one(words: list[str], wanted: object) -> None:
    assert wanted_by(words) == wanted
