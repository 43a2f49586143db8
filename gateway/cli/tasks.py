"""`asos tasks` and `asos show`: what there is, and what became of it."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from contracts.texts import cli as texts
from gateway.cli.following import answer_text, save_files
from gateway.cli.office import DONE, Office, find_task, run
from gateway.cli.screen import PHASES, Screen, step_line, tasks_table
from runtime.settings import Settings


def register(app: typer.Typer, settings: Settings) -> None:
    """Add the commands."""

    @app.command(rich_help_panel="Tasks")
    def tasks(
        limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many at most.")] = 20,
        as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
    ) -> None:
        """List tasks, newest first."""

        async def command(office: Office) -> int:
            found = await office.desk.tasks(None, limit)
            if as_json:
                office.console.print_json(data=[each.model_dump(mode="json") for each in found])
            elif found:
                office.console.print(tasks_table(found, office.language))
            else:
                office.console.print(texts.NO_TASKS.say(office.language))
            return DONE

        run(settings, command)

    @app.command(rich_help_panel="Tasks")
    def show(
        task: Annotated[str, typer.Argument(help="A task's id, a part at its beginning or end, or `last`.")],
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
        save_to: Annotated[Path | None, typer.Option(help="Write the files that the task sent to this folder.")] = None,
    ) -> None:
        """Show one task: its steps, what it waits for, its answer, its page in the Temporal UI."""

        async def command(office: Office) -> int:
            task_id = await find_task(office, task)
            if as_json:
                status = await office.desk.status(task_id)
                data = status.model_dump(mode="json") | {"answer": await answer_text(office, status)}
                office.console.print_json(data=data | {"url": office.task_url(task_id)})
            else:
                await _show(office, task_id, save_to)
            return DONE

        run(settings, command)


async def _show(office: Office, task_id: str, save_to: Path | None) -> None:
    status = await office.desk.status(task_id)
    screen = Screen(office.console, office.language)
    screen.note(texts.STARTED.say(office.language, task_id=task_id), "bold")
    office.console.print(Text(status.goal))
    screen.note(PHASES[status.phase].say(office.language), "bold")
    for line in status.steps:
        office.console.print(step_line(line, office.console.width))
    if status.approval is not None:
        screen.approval(status.approval)
    if status.asked is not None:
        screen.question(status.asked)
    if status.outcome is not None:
        screen.answer(await answer_text(office, status))
    if save_to is not None:
        for path in await save_files(office, status.files, save_to):
            screen.file(path, path.stat().st_size)
    screen.note(texts.SEE_TEMPORAL.say(office.language, url=office.task_url(task_id)))
