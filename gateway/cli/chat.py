"""`asos chat`: a conversation at the terminal. Tasks go on when it is left, and are there when it is opened again."""

import asyncio
import signal

import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.patch_stdout import patch_stdout

from contracts.conversation import Accepted
from contracts.texts import cli as texts
from gateway.cli import killing
from gateway.cli.asking import follow_to_end
from gateway.cli.following import Manner, person_is_here
from gateway.cli.office import DONE, Complaint, Office, Prepare, run
from gateway.cli.requests import request
from gateway.cli.screen import Screen, tasks_table
from gateway.desk import DeskUnreachable, Refused
from runtime.settings import Settings

LEAVE = frozenset({"/quit", "/exit", "/q"})


async def converse(office: Office) -> int:
    """Read lines until the person leaves. Ctrl-C leaves the running task alone and comes back to the prompt."""
    screen = Screen(office.console, office.language)
    screen.note(texts.CHAT_WELCOME.say(office.language))
    session: PromptSession[str] = PromptSession()
    while True:
        try:
            with patch_stdout():
                line = (await session.prompt_async("› ")).strip()
        except (EOFError, KeyboardInterrupt):
            return DONE
        if line in LEAVE:
            return DONE
        if line:
            await _say(office, line, screen)


async def _say(office: Office, line: str, screen: Screen) -> None:
    """Bad news about one line ends neither the chat nor anything that runs."""
    try:
        if line == "/tasks":
            office.console.print(tasks_table(await office.desk.tasks(None, 20), office.language))
        elif line in killing.LINES:
            screen.note(await killing.pull(office, line), "red")
        else:
            await _request(office, line, screen)
    except Complaint as complaint:
        screen.note(str(complaint), "red")
    except Refused as refused:
        screen.note(texts.REFUSED.say(office.language, text=refused.text), "red")
    except DeskUnreachable as error:
        screen.note(texts.UNREACHABLE.say(office.language, reason=error), "red")


async def _request(office: Office, line: str, screen: Screen) -> None:
    accepted: Accepted = await office.desk.submit(await request(office, line))
    if accepted.ahead:
        screen.note(texts.QUEUED_BEHIND.say(office.language, ahead=accepted.ahead))
    if accepted.task_id is None:
        return
    following = asyncio.create_task(
        follow_to_end(office, accepted.task_id, Manner(wait=False, ask_here=person_is_here()))
    )
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, following.cancel)
    try:
        await following
    except asyncio.CancelledError:
        office.console.print()
        screen.note(texts.DETACHED.say(office.language, task_id=accepted.task_id))
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def register(app: typer.Typer, settings: Settings, ensure_up: Prepare) -> None:
    """Add the command; it starts the system if need be."""

    @app.command(rich_help_panel="Talk")
    def chat() -> None:
        """Talk with your agent in this terminal."""
        ensure_up(settings)
        run(settings, converse)
