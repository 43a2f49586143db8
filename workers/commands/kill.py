"""`asos kill`: stops what an agent does, whatever else of the system is down, and lifts a stop again."""

import asyncio
import getpass
import json
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, NoReturn, cast, get_args

import typer
from pydantic import JsonValue
from rich.console import Console
from temporalio.service import RPCError

from contracts.audit import NoRecord
from contracts.kill import Kill, KillLevel, LiftOrder, Stopped
from contracts.texts import kill as texts
from gateway.cli.office import PATIENCE_SECONDS, Complaint, find_task, open_office
from gateway.desk import DeskUnreachable, NoSuchTask
from gateway.kill_orders import what_of
from gateway.telling import Telling, others
from runtime import addresses
from runtime.host_token import host_token
from runtime.keys import Keyring, KeyringUnusable
from runtime.killing.desk import KillDesk
from runtime.killing.switch import LiftRefused
from runtime.paths import DataPaths
from runtime.second_factor import FactorRefused, SecondFactor
from runtime.settings import Settings
from runtime.telemetry import quiet_runtime
from runtime.temporal import TemporalUnreachable, connect
from sandbox import slaying
from sandbox.slaying import Quarters, Slain
from workers import at_once
from workers.killing import orders
from workers.killing.wiring import quarters_of

TEMPORAL_SECONDS = 3.0
"""What does not answer within it is told so; its tasks act no more in any case."""
WHOLE_ID = 26
FAILED, USAGE = 1, 2

_out = Console(soft_wrap=True, highlight=False)
_errors = Console(stderr=True, soft_wrap=True, highlight=False)


@dataclass
class Report:
    """What a pull has done, for people and programs."""

    kill: Kill
    written_seconds: float
    seconds: float = 0.0
    hosts: tuple[Stopped, ...] = ()
    unreachable: dict[str, str] | None = None
    tasks: tuple[str, ...] | None = ()
    """None if Temporal did not answer."""

    @property
    def whole(self) -> bool:
        """Whether nothing was missed."""
        return (
            not self.unreachable and self.tasks is not None and not any(one.left or one.problem for one in self.hosts)
        )

    def facts(self) -> JsonValue:
        return {
            "kill": self.kill.model_dump(mode="json"),
            "written_seconds": round(self.written_seconds, 3),
            "seconds": round(self.seconds, 3),
            "hosts": [one.model_dump(mode="json") for one in self.hosts],
            "unreachable": dict(self.unreachable or {}),
            "tasks": None if self.tasks is None else list(self.tasks),
        }


class Killing:
    """The command, in an installation's data folder."""

    def __init__(self, settings: Settings, *, as_json: bool) -> None:
        self._settings = settings
        self._as_json = as_json
        self._paths = DataPaths(settings.data_dir)
        self._keyring = Keyring.load(settings.data_dir)
        self._by = f"console:{getpass.getuser()}"
        factor = SecondFactor(self._paths, self._keyring)
        self._desk = KillDesk.of(self._paths, self._keyring, factor, NoRecord(), self._lift_elsewhere)
        self._missed: dict[str, str] = {}

    async def pull(self, task: str | None, level: KillLevel, reason: str) -> int:
        """Write it first; then stop everything that can be reached, all of it at once."""
        task_id = await self._task(task) if task else None
        began = time.monotonic()
        if at_once.pulled:
            kill, written = at_once.pulled.pop()
            await self._desk.pulled(kill)
        else:
            kill = await self._desk.pull(level, task_id, self._by, reason)
            written = time.monotonic() - began
        report = Report(kill, written)
        (told, report.unreachable), here, report.tasks = await asyncio.gather(
            self._tell(kill), asyncio.to_thread(self._here, kill), self._tasks(kill)
        )
        report.hosts = _merged([*told, *here])
        report.seconds = (datetime.now(UTC) - kill.at).total_seconds()
        self._show(report)
        return 0 if report.whole else FAILED

    async def status(self) -> int:
        kills = await self._desk.in_force()
        if self._as_json:
            _print_json([kill.model_dump(mode="json") for kill in kills])
        elif not kills:
            self._say(texts.NOTHING_STOPPED.say(self._settings.language))
        for kill in () if self._as_json else kills:
            self._say(self._line(kill))
        return 0

    async def lift(self, kill_id: str | None, code: str) -> int:
        language = self._settings.language
        if not code:
            raise Complaint(texts.CLI_NO_CODE.say(language), USAGE)
        try:
            lifted = await self._desk.lift(kill_id, code, self._by)
        except LiftRefused as error:
            if kill_id is None:
                raise Complaint(texts.NOTHING_STOPPED.say(language), FAILED) from error
            raise Complaint(texts.NO_SUCH_STOP.say(language, kill_id=kill_id), FAILED) from error
        except FactorRefused as error:
            raise Complaint(error.sentence.say(language, **error.values), FAILED) from error
        if self._as_json:
            _print_json({"lifted": [kill.model_dump(mode="json") for kill in lifted], "missed": dict(self._missed)})
        else:
            self._say(texts.LIFTED.say(language, what=what_of(lifted, language)))
            for host, problem in self._missed.items():
                self._say(texts.CLI_LIFT_MISSED.say(language, host=host, problem=problem))
        return FAILED if self._missed else 0

    async def _lift_elsewhere(self, order: LiftOrder) -> None:
        telling = Telling(others(self._settings, self._paths), host_token(self._keyring), self._by)
        self._missed = await telling.lift(order)

    async def _task(self, wanted: str) -> str:
        """A whole id is believed, since Temporal may be away. Raises: Complaint."""
        if len(wanted) == WHOLE_ID:
            return wanted.upper()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS), open_office(self._settings, _errors) as office:
                return await find_task(office, wanted)
        except (TemporalUnreachable, DeskUnreachable, NoSuchTask, RPCError, TimeoutError) as error:
            raise Complaint(texts.CLI_BAD_TASK.say(self._settings.language, task=wanted), USAGE) from error

    async def _tell(self, kill: Kill) -> tuple[list[Stopped], dict[str, str]]:
        """The workers, this machine's too; that one being away is no failure, since we act in its place."""
        here = {self._settings.host_id: addresses.host_api(self._settings)}
        hosts = {**others(self._settings, self._paths), **here}
        done, problems = await Telling(hosts, host_token(self._keyring), self._by).kill(kill)
        if problems.pop(self._settings.host_id, "") and kill.level == "tools":
            done += [_stopped(each, await asyncio.to_thread(slaying.freeze, each)) for each in self._quarters()]
        return done, problems

    def _here(self, kill: Kill) -> list[Stopped]:
        """Whether or not a worker runs here: it may hang."""
        if kill.level == "all":
            return [_stopped(each, slaying.end(each)) for each in self._quarters()]
        if kill.level == "task" and kill.task_id is not None:
            return [_stopped(each, slaying.end(each, each.of_task(kill.task_id))) for each in self._quarters()]
        return []

    def _quarters(self) -> list[Quarters]:
        """Every host that has ever had its sandboxes in this data folder."""
        with suppress(OSError):
            names = sorted(path.name for path in self._paths.sandboxes.iterdir() if path.is_dir())
            return [quarters_of(self._settings, self._paths, name) for name in names]
        return []

    async def _tasks(self, kill: Kill) -> tuple[str, ...] | None:
        if kill.level not in ("task", "all"):
            return ()
        try:
            async with asyncio.timeout(2 * TEMPORAL_SECONDS):
                client = await connect(
                    self._settings, self._keyring, runtime=quiet_runtime(), patience_seconds=TEMPORAL_SECONDS
                )
                ended = await orders.cancel(client, kill)
                if kill.level == "all":
                    await orders.settle_schedules(client, stopped=True)
                return ended
        except (TemporalUnreachable, RPCError, TimeoutError, OSError):
            return None

    def _show(self, report: Report) -> None:
        language = self._settings.language
        if self._as_json:
            _print_json(report.facts())
            return
        self._say(self._line(report.kill))
        for one in report.hosts:
            self._say(texts.CLI_HOST.say(language, host=one.host_id, count=len(one.sandboxes), seconds=one.seconds))
            if one.left:
                self._say(texts.CLI_LEFT.say(language, host=one.host_id, names=", ".join(one.left)))
            if one.problem:
                self._say(texts.CLI_PROBLEM.say(language, host=one.host_id, problem=one.problem))
        for host, problem in (report.unreachable or {}).items():
            self._say(texts.CLI_PROBLEM.say(language, host=host, problem=problem))
        if report.tasks is None:
            self._say(texts.CLI_NO_TEMPORAL.say(language))
        elif report.kill.level in ("task", "all"):
            self._say(texts.CLI_TASKS.say(language, count=len(report.tasks)))
        self._say(
            texts.CLI_DONE.say(
                language, written=report.written_seconds, seconds=report.seconds, kill_id=report.kill.kill_id
            )
        )

    def _line(self, kill: Kill) -> str:
        return texts.CLI_IN_FORCE.say(
            self._settings.language,
            what=what_of((kill,), self._settings.language),
            by=kill.by,
            at=f"{kill.at:%Y-%m-%d %H:%M:%S}",
            kill_id=kill.kill_id,
            reason=kill.reason,
        ).rstrip()

    def _say(self, sentence: str) -> None:
        _out.print(sentence, markup=False)


def register(app: typer.Typer, settings: Settings, panel: str) -> None:
    """Add the command."""

    @app.command(rich_help_panel=panel)
    def kill(
        target: Annotated[str | None, typer.Argument(help="A task; with --lift, the id of a stop.")] = None,
        level: Annotated[str | None, typer.Option(help="task, tools, network or all (default).")] = None,
        reason: Annotated[str, typer.Option(help="A word for the record.")] = "",
        lift: Annotated[bool, typer.Option("--lift", help="Take a stop, or all, out of force.")] = False,
        code: Annotated[str, typer.Option(help="Code of the second factor, for --lift.")] = "",
        status: Annotated[bool, typer.Option("--status", help="Show what is stopped.")] = False,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for programs.")] = False,
    ) -> None:
        """Stop everything at once, or one task, the tools or the network, until it is lifted."""
        try:
            killing = Killing(settings, as_json=as_json)
            if status:
                work = killing.status()
            elif lift:
                work = killing.lift(target, code)
            else:
                work = killing.pull(target, _level(settings, target, level), reason)
            raise typer.Exit(asyncio.run(work))
        except Complaint as complaint:
            _fail(str(complaint), complaint.exit_code)
        except KeyringUnusable as error:
            _fail(str(error), FAILED)
        except OSError as error:
            _fail(texts.PULL_FAILED.say(settings.language, reason=error.strerror or str(error)), FAILED)


def _level(settings: Settings, task: str | None, said: str | None) -> KillLevel:
    """Raises: Complaint."""
    level = said or ("all" if task is None else "task")
    if level not in get_args(KillLevel) or (level == "task") != (task is not None):
        raise Complaint(texts.CLI_BAD_LEVEL.say(settings.language, level=level), USAGE)
    return cast(KillLevel, level)


def _stopped(quarters: Quarters, slain: Slain) -> Stopped:
    return Stopped(host_id=quarters.host_id, sandboxes=slain.sandboxes, left=slain.left, problem=slain.problem)


def _merged(all_of_them: list[Stopped]) -> tuple[Stopped, ...]:
    """A worker and this command speak of the same sandboxes."""
    found: dict[str, Stopped] = {}
    for one in all_of_them:
        other = found.get(one.host_id, one)
        found[one.host_id] = Stopped(
            host_id=one.host_id,
            sandboxes=tuple(sorted({*one.sandboxes, *other.sandboxes})),
            left=tuple(sorted({*one.left} & {*other.left})),
            seconds=max(one.seconds, other.seconds),
            problem=one.problem if one.problem == other.problem else one.problem or other.problem,
        )
    return tuple(found.values())


def _fail(sentence: str, code: int) -> NoReturn:
    _errors.print(f"✗ {sentence}", style="red", markup=False)
    raise typer.Exit(code)


def _print_json(facts: JsonValue) -> None:
    _out.print(json.dumps(facts, ensure_ascii=False), markup=False)
