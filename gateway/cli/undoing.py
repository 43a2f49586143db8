"""`asos undo`: bring back what a task's file tool has overwritten or deleted."""

from typing import Annotated

import typer

from gateway.cli.office import DONE, FAILED, Office, find_task, run
from gateway.undoing import undone_text
from runtime.settings import Settings


def register(app: typer.Typer, settings: Settings) -> None:
    """Add the command."""

    @app.command(rich_help_panel="Tasks")
    def undo(
        task: Annotated[str, typer.Argument(help="A task's id, a part at its beginning or end, or `last`.")],
        step: Annotated[
            int | None, typer.Argument(min=0, help="The step; without it the last one that changed files.")
        ] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    ) -> None:
        """Take back what a step wrote and deleted with the file tool; says what cannot be taken back."""

        async def command(office: Office) -> int:
            undone = await office.desk.undo(await find_task(office, task), step)
            if as_json:
                office.console.print_json(data=undone.model_dump(mode="json"))
            else:
                office.console.print(undone_text(undone, office.language), markup=False)
            return DONE if undone.restored and not undone.left else FAILED

        run(settings, command)
