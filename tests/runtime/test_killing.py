"""The kill switch: one write is in force for every process, and what cannot be trusted stops everything."""

import json
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyotp
import pytest

from contracts.audit import Event
from contracts.kill import EffectKind, Kill, KillLevel, LiftOrder
from runtime.keys import Keyring
from runtime.killing.brake import FileBrake
from runtime.killing.desk import KillDesk
from runtime.killing.state import DAMAGED, State, StateFile, purpose_of
from runtime.killing.switch import KillSwitch, LiftRefused
from runtime.known_hosts import KnownHosts
from runtime.paths import DataPaths
from runtime.second_factor import FactorRefused, SecondFactor, new_secret

EFFECTS: tuple[EffectKind, ...] = ("model", "tool", "network", "sandbox", "task")
ANNA = "console:anna"


class Installation:
    """What several processes of one installation hold each."""

    def __init__(self, root: Path) -> None:
        self.paths, self.keyring = DataPaths(root), Keyring.load(root)
        self.file = StateFile.of(self.paths, self.keyring)
        self.factor = SecondFactor(self.paths, self.keyring)
        self.switch = KillSwitch(self.file, self.factor.verify)
        self.brake = FileBrake(self.file)
        self.events: list[Event] = []
        self.orders: list[LiftOrder] = []
        self.desk = KillDesk(self.switch, self.factor, self, lambda: datetime.now(UTC), self._elsewhere)

    async def record(self, event: Event) -> None:
        self.events.append(event)

    async def _elsewhere(self, order: LiftOrder) -> None:
        self.orders.append(order)

    def enrolled(self) -> str:
        """The secret of a factor whose next code is good."""
        secret, before = new_secret(), datetime.now(UTC) - timedelta(minutes=5)
        self.factor.enrol(secret, pyotp.TOTP(secret).at(before), ANNA, before)
        return secret

    def halted(self, task_id: str | None = None) -> set[EffectKind]:
        return {effect for effect in EFFECTS if self.brake.halted(effect, task_id)}


@pytest.fixture
def here(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


@pytest.mark.parametrize(
    ("level", "stopped"),
    [
        ("all", {"model", "tool", "network", "sandbox", "task"}),
        ("tools", {"model", "tool", "network"}),
        ("network", {"network"}),
    ],
)
def test_each_level_stops_its_effects(here: Installation, level: KillLevel, stopped: set[EffectKind]) -> None:
    assert here.halted("t1") == set()

    here.switch.pull(level, None, ANNA)

    assert here.halted("t1") == here.halted(None) == stopped


def test_a_task_is_stopped_alone_and_the_strictest_stop_is_named(here: Installation) -> None:
    here.switch.pull("task", "t1", ANNA, "runs wild")
    assert here.halted("t1") == set(EFFECTS)
    assert here.halted("t2") == here.halted(None) == set()

    everything = here.switch.pull("all", None, ANNA)

    assert here.brake.halted("tool", "t1") == everything


@pytest.mark.parametrize(("level", "task_id"), [("task", None), ("all", "t1")])
def test_a_level_and_a_task_must_fit(here: Installation, level: KillLevel, task_id: str | None) -> None:
    with pytest.raises(ValueError, match="goes with"):
        here.switch.pull(level, task_id, ANNA)


def test_a_stop_survives_every_process(here: Installation, tmp_path: Path) -> None:
    kill = here.switch.pull("all", None, ANNA, "lunch")

    again = Installation(tmp_path)

    assert again.switch.in_force() == (kill,)
    assert again.halted() == set(EFFECTS)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def _edited(path: Path) -> None:
    signed = json.loads(path.read_text())
    path.write_text(json.dumps(signed | {"state": json.dumps({"written": 1, "kills": []})}))


def _forged(path: Path) -> None:
    path.write_text(json.dumps({"state": json.dumps({"written": 1, "kills": []}), "proof": "0" * 64}))


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "damage", [_cut, _edited, _forged, _folder, Path.unlink, lambda path: path.write_bytes(b"\xff" * 40)]
)
def test_a_damaged_state_stops_everything_until_it_is_lifted(
    here: Installation, damage: Callable[[Path], object]
) -> None:
    here.switch.pull("task", "t1", ANNA)
    damage(here.file.path)

    assert here.halted("t2") == here.halted(None) == set(EFFECTS)
    assert here.switch.in_force()[0].kill_id.startswith(DAMAGED)
    assert "cannot be trusted" in here.switch.in_force()[0].reason


async def test_a_damaged_state_is_repaired_by_the_lift_and_by_no_further_stop(here: Installation) -> None:
    secret = here.enrolled()
    here.switch.pull("task", "t1", ANNA)
    _cut(here.file.path)

    here.switch.pull("network", None, ANNA)
    assert here.halted("t2") == set(EFFECTS)

    await here.desk.lift(None, pyotp.TOTP(secret).now(), ANNA)
    assert here.halted("t1") == set()


def test_an_older_copy_that_is_put_back_stops_everything(here: Installation) -> None:
    here.switch.pull("task", "t1", ANNA)
    older = here.file.path.read_bytes()
    here.switch.pull("network", None, ANNA)
    assert here.halted() == {"network"}

    here.file.path.unlink()
    here.file.path.write_bytes(older)

    assert here.halted() == set(EFFECTS)


async def test_only_the_second_factor_lifts_and_a_code_lifts_once(here: Installation) -> None:
    kill = here.switch.pull("all", None, ANNA)
    with pytest.raises(FactorRefused):
        await here.desk.lift(None, "123456", ANNA)
    code = pyotp.TOTP(here.enrolled()).now()

    with pytest.raises(LiftRefused, match="k0"):
        await here.desk.lift("k0", code, ANNA)
    assert await here.desk.lift(kill.kill_id, code, ANNA) == (kill,)
    assert here.halted() == set()

    here.switch.pull("all", None, ANNA)
    with pytest.raises(FactorRefused):
        await here.desk.lift(None, code, ANNA)
    assert here.halted() == set(EFFECTS)
    assert [event.kind for event in here.events] == ["kill.refused", "kill.lifted", "kill.refused"]
    with pytest.raises(LiftRefused):
        here.switch.lift(here.switch.in_force(), here.orders[0].step_up)


async def test_another_machine_takes_over_a_stop_and_believes_a_lift_only_with_its_proof(
    here: Installation, tmp_path: Path
) -> None:
    other = Installation(tmp_path / "other")
    other.keyring = here.keyring
    other.switch = KillSwitch(other.file, here.factor.verify)
    kill = await here.desk.pull("all", None, ANNA)
    other.switch.take_over(kill)
    other.switch.take_over(kill)
    assert other.switch.in_force() == (kill,)

    code = pyotp.TOTP(here.enrolled()).now()
    await here.desk.lift(None, code, ANNA)
    order = here.orders[0]
    with pytest.raises(LiftRefused):
        other.switch.lift(order.kills, order.step_up.model_copy(update={"by": "console:mallory"}))
    other.switch.lift(order.kills, order.step_up)

    assert other.switch.in_force() == ()
    assert purpose_of((kill,)) == f"lift:{kill.kill_id}"


async def test_a_stop_holds_although_it_cannot_be_recorded(here: Installation) -> None:
    class Broken:
        async def record(self, event: Event) -> None:
            raise OSError("disk full")

    desk = KillDesk(here.switch, here.factor, Broken(), lambda: datetime.now(UTC), here._elsewhere)

    await desk.pull("all", None, ANNA)

    assert here.halted() == set(EFFECTS)


def _pull(root: Path, number: int) -> None:
    Installation(root).switch.pull("task", f"t{number}", ANNA)


def test_many_processes_pull_at_once_and_no_stop_is_lost(here: Installation, tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_pull, args=(tmp_path, number)) for number in range(8)]
    for process in processes:
        process.start()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: here.switch.pull("task", f"t{number}", ANNA), range(8, 16)))
    for process in processes:
        process.join()

    assert {kill.task_id for kill in here.switch.in_force()} == {f"t{number}" for number in range(16)}


def test_a_process_that_hangs_with_the_lock_keeps_nobody_from_stopping(here: Installation) -> None:
    with here.switch._locked():
        here.switch.pull("all", None, ANNA)

    assert here.halted() == set(EFFECTS)


def test_a_look_reads_the_file_only_if_it_has_changed(here: Installation) -> None:
    reads: list[int] = []

    class Counted(StateFile):
        def read(self) -> State:
            reads.append(1)
            return super().read()

    here.switch.pull("task", "t1", ANNA)
    brake = FileBrake(Counted(here.file.path, here.file.key))

    looks = [brake.halted("tool", "t2") for _ in range(1_000)]
    here.switch.pull("task", "t2", ANNA)

    assert looks == [None] * 1_000
    assert brake.halted("tool", "t2") is not None
    assert len(reads) == 2


def test_hosts_are_remembered_as_they_move(tmp_path: Path) -> None:
    path = tmp_path / "run" / "hosts.json"
    KnownHosts(path).seen("b", "http://b.test:1")
    KnownHosts(path).seen("c", "http://c.test:1")
    hosts = KnownHosts(path)
    hosts.seen("b", "http://b.test:2")
    hosts.seen("d", "")

    assert KnownHosts(path).all() == {"b": "http://b.test:2", "c": "http://c.test:1"}
    path.write_text("{")
    assert hosts.all() == {}


def test_the_folder_is_never_seen_without_its_file(here: Installation) -> None:
    kill = Kill(kill_id="k1", level="all", by=ANNA, at=datetime.now(UTC))
    assert not here.file.path.parent.exists()

    here.switch.take_over(kill)

    assert [path.name for path in here.file.path.parent.iterdir()] == ["switch.json"]
    assert here.file.path.stat().st_mode & 0o077 == 0
