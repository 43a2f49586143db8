"""`asos history` and `asos replay`: take a task's history out, and run it again through the present code."""

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer
from google.protobuf.json_format import ParseError
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from contracts.queues import task_workflow_id
from contracts.texts import cli as texts
from gateway.cli.office import DONE, FAILED, USAGE, Complaint, Office, find_task, run
from gateway.histories import histories_of
from runtime.plugin import agent_os_plugin
from runtime.settings import Settings
from workflows.conversation import ConversationWorkflow
from workflows.sandbox import SandboxWorkflow
from workflows.task import TaskWorkflow


async def first_difference(office: Office, history: WorkflowHistory) -> str | None:
    """Where the present code would do something else; None if it does the same."""
    workflows = [TaskWorkflow, ConversationWorkflow, SandboxWorkflow]
    replayer = Replayer(workflows=workflows, plugins=[agent_os_plugin(office.keyring)])
    result = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    failure = result.replay_failure
    return None if failure is None else " ".join(str(failure).split())


def write_histories(path: Path, histories: list[WorkflowHistory]) -> None:
    """One file for all runs of what was asked for."""
    runs = [{"workflow_id": each.workflow_id, "history": each.to_json_dict()} for each in histories]
    path.write_text(json.dumps({"runs": runs}, indent=1), "utf-8")


def read_histories(path: Path) -> list[WorkflowHistory]:
    """Reads what `asos history` writes, and what `temporal workflow show --output json` prints.

    Raises: ValueError, ParseError.
    """
    content = json.loads(path.read_text("utf-8"))
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object")
    if "events" in content:
        return [WorkflowHistory.from_json(path.stem, content)]
    if "runs" not in content:
        raise ValueError("it has neither `runs` nor `events`")
    return [WorkflowHistory.from_json(each["workflow_id"], each["history"]) for each in content["runs"]]


async def _named(office: Office, named: str) -> list[WorkflowHistory]:
    path = Path(named)
    if not await asyncio.to_thread(path.is_file):
        return await histories_of(office.client, task_workflow_id(await find_task(office, named)))
    try:
        return await asyncio.to_thread(read_histories, path)
    except (ValueError, ParseError, KeyError, TypeError) as error:
        raise Complaint(texts.NOT_A_HISTORY.say(office.language, path=path, reason=error), USAGE) from error


def register(app: typer.Typer, settings: Settings) -> None:
    """Add the commands."""

    @app.command(rich_help_panel="Histories")
    def history(
        task: Annotated[str, typer.Argument(help="A task's id, a part at its beginning or end, or `last`.")],
        out: Annotated[
            Path, typer.Option(help="File to write; payloads in it stay sealed with this data folder's keys.")
        ],
    ) -> None:
        """Write a task's history to a file, sealed as it is."""

        async def command(office: Office) -> int:
            histories = await histories_of(office.client, task_workflow_id(await find_task(office, task)))
            try:
                await asyncio.to_thread(write_histories, out, histories)
            except OSError as error:
                sentence = texts.NOT_WRITTEN.say(office.language, path=out, reason=error.strerror)
                raise Complaint(sentence, USAGE) from error
            events = sum(len(each.events) for each in histories)
            office.console.print(texts.HISTORY_WRITTEN.say(office.language, events=events, path=out), markup=False)
            return DONE

        run(settings, command)

    @app.command(rich_help_panel="Histories")
    def replay(
        named: Annotated[str, typer.Argument(metavar="TASK|FILE", help="A task, or a file of `asos history`.")],
    ) -> None:
        """Run a history through the present workflow code, and show the first difference."""

        async def command(office: Office) -> int:
            histories = await _named(office, named)
            for each in histories:
                difference = await first_difference(office, each)
                if difference is not None:
                    sentence = texts.DIFFERS.say(office.language, run_id=each.run_id, difference=difference)
                    raise Complaint(sentence, FAILED)
            events = sum(len(each.events) for each in histories)
            sentence = texts.REPLAYED.say(office.language, events=events, runs=len(histories))
            office.console.print(sentence, markup=False)
            return DONE

        run(settings, command)
