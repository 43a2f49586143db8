"""`asos approve`, `deny`, `answer`, `pause`, `resume`, `stop` and `retry`: what can be said to a task."""

import secrets
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

from contracts.task import Approval
from contracts.texts import approvals as approval_texts
from contracts.texts import cli as texts
from gateway.cli.following import answer as give_answer
from gateway.cli.following import person_is_here, prompt
from gateway.cli.office import DONE, FAILED, Complaint, Office, find_task, run
from gateway.deciding import Always, Said
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


class Lasting(StrEnum):
    """How long a yes holds beyond this one call."""

    TASK = "task"
    PERSON = "person"


def _decision(settings: Settings, task: str, approval: str | None, said: Callable[[str], Said]) -> None:
    async def command(office: Office) -> int:
        task_id = await find_task(office, task)
        asked = await _open_approval(office, task_id, approval)
        decision = said(office.by)
        if decision.approve and asked.step_up and not decision.code and person_is_here():
            decision = replace(decision, code=await prompt(f"{approval_texts.ASK_CODE.say(office.language)}: "))
        await office.deciding.decide(task_id, asked, decision)
        sentence = texts.APPROVED if decision.approve else texts.DENIED
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
        always: Annotated[
            Lasting | None, typer.Option(help="Let the same kind of call pass from now on, in this task or in all.")
        ] = None,
        code: Annotated[str, typer.Option(help="Code of the second factor, where one is needed.")] = "",
    ) -> None:
        """Say yes to the step that a task waits to take."""
        lasting: Always = "" if always is None else "task" if always is Lasting.TASK else "person"
        _decision(settings, task, approval, lambda by: Said(True, by, note, lasting, code))

    @app.command(rich_help_panel="Tasks")
    def deny(
        task: Task,
        approval: Annotated[str | None, typer.Argument(help="The approval's id, to be sure which one.")] = None,
        note: Annotated[str, typer.Option(help="Why, for the agent to read.")] = "",
    ) -> None:
        """Say no to it; the agent goes on without that step."""
        _decision(settings, task, approval, lambda by: Said(False, by, note))

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
