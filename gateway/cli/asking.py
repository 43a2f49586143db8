"""`asos ask`: one request, followed to its end."""

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from contracts import errors
from contracts.conversation import Delivered
from contracts.ids import ulid
from contracts.kill import Halted
from contracts.queues import WORKFLOWS, task_workflow_id
from contracts.texts import cli as texts
from gateway.cli.following import Follower, Manner, answer_text, person_is_here, save_files
from gateway.cli.office import Office, Prepare, run
from gateway.cli.requests import host_grant, request
from gateway.cli.screen import Screen
from gateway.desk import Refused
from runtime.paths import DataPaths
from runtime.settings import Settings
from workflows.requests import priority, search_attributes, task_input
from workflows.task import TaskWorkflow


async def start_task(office: Office, delivered: Delivered) -> str:
    """Start a task of its own, outside any chat; gives its id. Raises: Refused while the kill switch forbids it."""
    kill = office.brake.halted("task")
    if kill is not None:
        raise Refused(errors.HALTED, str(Halted(kill)))
    now = datetime.now(UTC)
    task_id = ulid(now, random.SystemRandom())
    given = task_input(task_id, delivered, created_at=now)
    await office.client.start_workflow(
        TaskWorkflow.run,
        given,
        id=task_workflow_id(task_id),
        task_queue=WORKFLOWS,
        static_summary=given.goal,
        search_attributes=search_attributes(given),
        priority=priority(given),
    )
    return task_id


async def follow_to_end(office: Office, task_id: str, manner: Manner, *, as_json: bool = False) -> int:
    """Show progress, answer and files; with `as_json`, print one object at the end and nothing else."""
    console = Console(quiet=True) if as_json else office.console
    screen = Screen(console, office.language)
    screen.note(texts.STARTED.say(office.language, task_id=task_id), "bold")
    screen.note(texts.SEE_TEMPORAL.say(office.language, url=office.task_url(task_id)))
    status, code = await Follower(office, task_id, manner, screen).follow()
    text = await answer_text(office, status)
    saved = await save_files(
        office, status.files, manner.files_to or DataPaths(office.settings.data_dir).received / task_id
    )
    if as_json:
        shown = status.model_dump(mode="json", exclude={"lease"})
        shown |= {"answer": text, "files": [str(path) for path in saved], "url": office.task_url(task_id)}
        office.console.print_json(data=shown | {"task_id": task_id, "exit_code": code})
        return code
    if status.outcome is not None:
        screen.answer(text)
    for path in saved:
        screen.file(path, path.stat().st_size)
    return code


def register(app: typer.Typer, settings: Settings, ensure_up: Prepare) -> None:
    """Add the command; it starts the system if need be."""

    @app.command(rich_help_panel="Talk")
    def ask(
        text: Annotated[str, typer.Argument(help="What you want done, or - to read it from standard input.")],
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")] = False,
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve every step that asks, visibly.")] = False,
        no_wait: Annotated[
            bool, typer.Option("--no-wait", help="Leave with exit code 3 as soon as the task waits for somebody.")
        ] = False,
        file: Annotated[list[Path] | None, typer.Option("--file", "-f", help="Attach a file; may be repeated.")] = None,
        allow_host: Annotated[
            list[str] | None,
            typer.Option(help="Open NAME[:PORT][=ADDRESS:PORT] for this task; an address pins the name to it."),
        ] = None,
        save_to: Annotated[Path | None, typer.Option(help="Folder for the files that the task sends.")] = None,
    ) -> None:
        """Have one thing done, and follow it to its end.

        Exit codes: 0 done, 1 failed, 2 wrong usage, 3 it waits for somebody (with --no-wait).
        """

        async def command(office: Office) -> int:
            hosts = tuple(host_grant(each, office) for each in allow_host or ())
            words = typer.get_binary_stream("stdin").read().decode("utf-8", "replace") if text == "-" else text
            delivered = await request(office, words, files=tuple(file or ()), hosts=hosts)
            task_id = await start_task(office, delivered)
            manner = Manner(
                yes=yes, wait=not no_wait, ask_here=person_is_here() and not as_json and not no_wait, files_to=save_to
            )
            return await follow_to_end(office, task_id, manner, as_json=as_json)

        ensure_up(settings)
        run(settings, command)
