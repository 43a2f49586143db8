"""`asos approve`, `deny`, `answer`, `pause`, `resume`, `stop` and `retry`: what can be said to a task."""

import secrets
from typing import Annotated

import typer

from contracts.task import Approval
from contracts.texts import cli as texts
from gateway.cli.following import answer as give_answer
from gateway.cli.following import decide
from gateway.cli.office import DONE, FAILED, Complaint, Office, find_task, run
from runtime.settings import Settings

Task = Annotated[str, typer.Argument(help="A task's id, a part at its beginning or end, or `last`.")]


async def _open_approval(office: Office, task_id: str, wanted: str | None) -> Approval:
    approval = (await office.desk.status(task_id)).approval
    if approval is None:
        raise Complaint(texts.NO_APPROVAL.say(office.language, task_id=task_id), FAILED)
    if wanted is not None and wanted != approval.approval_id:
        sentence = texts.OTHER_APPROVAL.say(
            office.language, task_id=task_id, open_id=approval.approval_id, asked=wanted
        )
        raise Complaint(sentence, FAILED)
    return approval


def _decision(settings: Settings, task: str, approval: str | None, note: str, *, approve: bool) -> None:
    async def command(office: Office) -> int:
        task_id = await find_task(office, task)
        asked = await _open_approval(office, task_id, approval)
        await decide(office, task_id, asked, approve=approve, note=note)
        sentence = texts.APPROVED if approve else texts.DENIED
        office.console.print(sentence.say(office.language, approval_id=asked.approval_id), markup=False)
        return DONE

    run(settings, command)


def register(app: typer.Typer, settings: Settings) -> None:
    """Add the commands."""

    @app.command(rich_help_panel="Tasks")
    def approve(
        task: Task,
        approval: Annotated[str | None, typer.Argument(help="The approval's id, to be sure which one.")] = None,
        note: Annotated[str, typer.Option(help="A word for the record.")] = "",
    ) -> None:
        """Say yes to the step that a task waits to take."""
        _decision(settings, task, approval, note, approve=True)

    @app.command(rich_help_panel="Tasks")
    def deny(
        task: Task,
        approval: Annotated[str | None, typer.Argument(help="The approval's id, to be sure which one.")] = None,
        note: Annotated[str, typer.Option(help="Why, for the agent to read.")] = "",
    ) -> None:
        """Say no to it; the agent goes on without that step."""
        _decision(settings, task, approval, note, approve=False)

    @app.command(rich_help_panel="Tasks")
    def answer(task: Task, text: Annotated[str, typer.Argument(help="Your answer, or a choice's number.")]) -> None:
        """Answer a task's question."""

        async def command(office: Office) -> int:
            task_id = await find_task(office, task)
            asked = (await office.desk.status(task_id)).asked
            if asked is None:
                raise Complaint(texts.NO_QUESTION.say(office.language, task_id=task_id), FAILED)
            await give_answer(office, task_id, asked, text)
            office.console.print(texts.ANSWERED.say(office.language))
            return DONE

        run(settings, command)

    @app.command(rich_help_panel="Tasks")
    def pause(
        task: Task,
        interrupt: Annotated[bool, typer.Option("--interrupt", help="Stop the running call, too.")] = False,
    ) -> None:
        """Let a task wait before its next call."""

        async def command(office: Office) -> int:
            task_id = await find_task(office, task)
            await office.desk.pause(task_id, office.by, interrupt=interrupt)
            office.console.print(texts.PAUSED.say(office.language, task_id=task_id), markup=False)
            return DONE

        run(settings, command)

    @app.command(rich_help_panel="Tasks")
    def resume(task: Task) -> None:
        """Let a paused task go on."""

        async def command(office: Office) -> int:
            await office.desk.resume(await find_task(office, task), office.by)
            office.console.print(texts.RESUMED.say(office.language))
            return DONE

        run(settings, command)

    @app.command(rich_help_panel="Tasks")
    def stop(
        task: Task, reason: Annotated[str, typer.Option(help="A word for the record.")] = "stopped at the terminal"
    ) -> None:
        """End a task and everything that it runs."""

        async def command(office: Office) -> int:
            task_id = await find_task(office, task)
            await office.desk.stop(task_id, reason)
            office.console.print(texts.STOPPED.say(office.language, task_id=task_id), markup=False)
            return DONE

        run(settings, command)

    @app.command(rich_help_panel="Tasks")
    def retry(
        task: Task,
        from_step: Annotated[int | None, typer.Option(min=1, help="Go back to just before this step.")] = None,
    ) -> None:
        """Let a task go on again from just before its last step, or an earlier one (Temporal reset)."""

        async def command(office: Office) -> int:
            task_id = await find_task(office, task)
            request_id = secrets.token_hex(16)
            reason = f"retried by {office.by}"
            retried = await office.desk.retry(task_id, from_step, reason=reason, request_id=request_id)
            office.console.print(texts.RETRIED.say(office.language, task_id=task_id, step=retried.step), markup=False)
            return DONE

        run(settings, command)
