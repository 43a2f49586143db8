"""What every command of the terminal needs: the desk, the stored content, and who is at the keyboard."""

import asyncio
import getpass
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import typer
from rich.console import Console
from temporalio.client import Client
from temporalio.service import RPCError

from contracts.blobs import Blobs
from contracts.kill import Brake, FreeRunning
from contracts.language import Language
from contracts.texts import approvals as approval_texts
from contracts.texts import cli as texts
from gateway.deciding import CodeNeeded, Deciding, NothingStanding
from gateway.desk import Desk, DeskUnreachable, NoSuchTask, Refused
from gateway.recording import AtHand, factor_of
from gateway.temporal_desk import TemporalDesk
from runtime import addresses
from runtime.blobs import FileBlobs
from runtime.keys import Keyring
from runtime.killing.brake import FileBrake
from runtime.killing.state import StateFile
from runtime.paths import DataPaths
from runtime.second_factor import FactorRefused
from runtime.settings import Settings
from runtime.telemetry import quiet_runtime
from runtime.temporal import TemporalUnreachable, connect

PATIENCE_SECONDS = 10.0
"""A server that has just been started answers within it."""

DONE, FAILED, USAGE, WAITS = 0, 1, 2, 3
"""The exit codes of every command."""


class Complaint(Exception):
    """Raised to end a command with one clear line and an exit code."""

    def __init__(self, sentence: str, exit_code: int = FAILED) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


@dataclass(frozen=True)
class Office:
    """Open for the length of one command."""

    settings: Settings
    client: Client
    desk: Desk
    blobs: Blobs
    keyring: Keyring
    console: Console
    brake: Brake = field(default_factory=FreeRunning)

    @property
    def language(self) -> Language:
        return self.settings.language

    @property
    def user(self) -> str:
        """The name at the keyboard; whoever may read the data folder's keys is the owner."""
        return getpass.getuser()

    @property
    def deciding(self) -> Deciding:
        """How a yes or no of this terminal reaches a task."""
        confirm = factor_of(self.settings, self.keyring).confirm
        return Deciding(self.desk, confirm, AtHand(self.settings, self.keyring))

    @property
    def by(self) -> str:
        return f"console:{self.user}"

    def task_url(self, task_id: str) -> str:
        """The task's page in the Temporal UI."""
        return addresses.task(self.settings, task_id)


@asynccontextmanager
async def open_office(settings: Settings, console: Console) -> AsyncIterator[Office]:
    """Connect with the installation's own keys. Raises: TemporalUnreachable."""
    keyring = Keyring.load(settings.data_dir)
    client = await connect(settings, keyring, runtime=quiet_runtime(), patience_seconds=PATIENCE_SECONDS)
    blobs = FileBlobs(DataPaths(settings.data_dir).blobs, keyring)
    brake = FileBrake(StateFile.of(DataPaths(settings.data_dir), keyring))
    yield Office(settings, client, TemporalDesk(client, brake), blobs, keyring, console, brake)


Command = Callable[[Office], Coroutine[Any, Any, int]]


Prepare = Callable[[Settings], None]
"""Starts the system if it does not run. Raises: typer.Exit."""


def run(settings: Settings, command: Command) -> None:
    """Run one command and leave with its exit code; what goes wrong is one line on standard error."""
    console = Console(soft_wrap=True, highlight=False)
    language = settings.language
    try:
        code = asyncio.run(_in_office(settings, console, command))
    except KeyboardInterrupt:
        code = 130
    except Complaint as complaint:
        code = complain(str(complaint), complaint.exit_code)
    except (CodeNeeded, NothingStanding, FactorRefused) as error:
        code = complain(_of_decision(error, language), FAILED)
    except NoSuchTask as error:
        code = complain(texts.NO_TASK.say(language, task_id=error.task_id), USAGE)
    except Refused as error:
        code = complain(texts.REFUSED.say(language, text=error.text), FAILED)
    except TemporalUnreachable as error:
        code = complain(_of_server(settings, error), FAILED)
    except (DeskUnreachable, RPCError) as error:
        code = complain(texts.UNREACHABLE.say(language, reason=error), FAILED)
    raise typer.Exit(code)


def _of_server(settings: Settings, error: TemporalUnreachable) -> str:
    language = settings.language
    if settings.temporal_address:
        return texts.NO_SERVER.say(language, address=error.address)
    return texts.UNREACHABLE.say(language, reason=texts.SILENT.say(language, address=error.address))


def _of_decision(error: CodeNeeded | NothingStanding | FactorRefused, language: Language) -> str:
    if isinstance(error, FactorRefused):
        return error.sentence.say(language, **error.values)
    if isinstance(error, CodeNeeded):
        return approval_texts.CODE_OPTION.say(language, short=error.approval_id)
    return approval_texts.NO_STANDING.say(language)


async def _in_office(settings: Settings, console: Console, command: Command) -> int:
    async with open_office(settings, console) as office:
        return await command(office)


def complain(sentence: str, code: int) -> int:
    """One line on standard error; gives the exit code."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(sentence, style="red", markup=False)
    return code


async def find_task(office: Office, wanted: str) -> str:
    """The full id of a task named by its id, by the beginning or end of it, or as `last`.

    Raises: Complaint, NoSuchTask.
    """
    if not wanted.strip():
        raise Complaint(texts.NO_TASK.say(office.language, task_id="''"), USAGE)
    if len(wanted) == 26 and wanted.lower() != "last":
        return wanted.upper()
    known = [summary.task_id for summary in await office.desk.tasks(None, 200)]
    if wanted.lower() == "last" and known:
        return known[0]
    fitting = [task_id for task_id in known if task_id.startswith(wanted.upper()) or task_id.endswith(wanted.upper())]
    if not fitting:
        raise NoSuchTask(wanted)
    if len(fitting) > 1:
        listed = ", ".join(fitting[:5])
        raise Complaint(texts.AMBIGUOUS.say(office.language, prefix=wanted, tasks=listed), USAGE)
    return fitting[0]
