"""Follows one task at the terminal until it has ended, asking whoever is there what the task asks."""

import asyncio
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from prompt_toolkit import PromptSession

from contracts.messages import Attachment
from contracts.task import Approval, Asked, GivenAnswer, TaskStatus
from contracts.texts import approvals as approval_texts
from contracts.texts import cli as texts
from contracts.transcript import UserTurn
from gateway.cli.office import DONE, FAILED, WAITS, Office
from gateway.cli.screen import Screen
from gateway.deciding import CodeNeeded, Said
from gateway.desk import DeskUnreachable, NoSuchTask, Refused
from runtime.second_factor import FactorRefused

POLL_SECONDS = 0.2
"""A query costs a few milliseconds, and a person notices no less."""

START_SECONDS = 15.0
"""A mailbox gives its receipt a moment before it starts the task."""

PATIENCE_SECONDS = 120.0
"""How long the system may be away while a task is followed, before the terminal gives up; the task does not."""


@dataclass(frozen=True)
class Manner:
    """How to follow."""

    yes: bool = False
    """Approve everything that is asked, visibly."""
    wait: bool = True
    """Wait for a decision that nobody at this terminal can give."""
    ask_here: bool = False
    """There is a person at this terminal."""
    files_to: Path | None = None
    """Folder for the files that the task sends; None is one for each task in the data folder."""


class Follower:
    """One task, one terminal."""

    def __init__(self, office: Office, task_id: str, manner: Manner, screen: Screen) -> None:
        self._office = office
        self._task_id = task_id
        self._manner = manner
        self._screen = screen
        self._left: set[str] = set()
        self._seen = False

    async def follow(self) -> tuple[TaskStatus, int]:
        """The last status, and the exit code that it means."""
        begun = datetime.now(UTC)
        while True:
            status = await self._status()
            self._screen.update(status)
            if status.outcome is not None:
                self._screen.end(status.outcome, (datetime.now(UTC) - begun).total_seconds())
                return status, DONE if status.outcome == "done" else FAILED
            if not await self._attend(status):
                return status, WAITS
            await asyncio.sleep(POLL_SECONDS)

    async def _status(self) -> TaskStatus:
        """Outlasts a restart of the system. Raises: DeskUnreachable after PATIENCE_SECONDS, NoSuchTask."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while True:
            try:
                status = await self._office.desk.status(self._task_id)
            except NoSuchTask:
                # A server that is going down also says so of a task that was there a moment ago.
                if loop.time() > begun + (PATIENCE_SECONDS if self._seen else START_SECONDS):
                    raise
                await asyncio.sleep(POLL_SECONDS)
            except (DeskUnreachable, Refused):
                if loop.time() > begun + PATIENCE_SECONDS:
                    raise
                await asyncio.sleep(1)
            else:
                self._seen = True
                return status

    async def _attend(self, status: TaskStatus) -> bool:
        """Answer what the task asks, if it asks; False if it waits and this terminal is not to wait with it."""
        if status.approval is not None and status.approval.approval_id not in self._left:
            return await self._attend_approval(status.approval)
        if status.asked is not None and status.asked.question_id not in self._left:
            return await self._attend_question(status.asked)
        return True

    async def _attend_approval(self, approval: Approval) -> bool:
        self._screen.approval(approval)
        language = self._office.language
        if self._manner.yes and not approval.step_up:
            self._screen.note(texts.APPROVED_BY_YES.say(language), "bold yellow")
            await self._decide(approval, Said(True, self._office.by, "--yes"))
            return True
        answer = await prompt(texts.YES_OR_NO.say(language)) if self._manner.ask_here else "w"
        if answer.lower().startswith(("y", "n", "是", "否")):
            said = Said(answer.lower().startswith(("y", "是")), self._office.by)
            if said.approve and approval.step_up:
                said = replace(said, code=await prompt(f"{approval_texts.ASK_CODE.say(language)}: "))
            await self._decide(approval, said)
            return True
        self._left.add(approval.approval_id)
        self._screen.note(texts.STILL_WAITS.say(language, task_id=self._task_id), "yellow")
        return self._manner.wait

    async def _decide(self, approval: Approval, said: Said) -> None:
        """What is refused is shown, and asked again as long as it is open."""
        language = self._office.language
        try:
            await self._office.deciding.decide(self._task_id, approval, said)
        except Refused as refused:
            self._screen.note(texts.REFUSED.say(language, text=refused.text), "red")
        except FactorRefused as refused:
            self._screen.note(refused.sentence.say(language, **refused.values), "red")
        except CodeNeeded:
            self._screen.note(approval_texts.CODE_OPTION.say(language, short=approval.approval_id), "red")

    async def _attend_question(self, asked: Asked) -> bool:
        self._screen.question(asked)
        language = self._office.language
        if self._manner.ask_here:
            words = await prompt(texts.YOUR_ANSWER.say(language))
            await answer(self._office, self._task_id, asked, words)
            return True
        self._left.add(asked.question_id)
        self._screen.note(texts.STILL_ASKS.say(language, task_id=self._task_id), "yellow")
        return self._manner.wait


async def answer(office: Office, task_id: str, asked: Asked, words: str) -> None:
    """Answer an open question; a number names one of its choices. Raises: Refused, NoSuchTask, DeskUnreachable."""
    chosen = words.strip()
    if chosen.isdigit() and 1 <= int(chosen) <= len(asked.choices):
        words = asked.choices[int(chosen) - 1]
    turn = UserTurn(text=words, at=datetime.now(UTC), message_id=f"{asked.question_id}-answer")
    await office.desk.answer(task_id, GivenAnswer(question_id=asked.question_id, turn=turn, by=office.by))


async def prompt(sentence: str) -> str:
    """One line from the person."""
    session: PromptSession[str] = PromptSession()
    return await session.prompt_async(sentence)


async def answer_text(office: Office, status: TaskStatus) -> str:
    """The whole answer."""
    if status.answer_ref is None:
        return status.answer
    return (await office.blobs.get(status.answer_ref)).decode("utf-8", "replace")


async def save_files(office: Office, files: tuple[Attachment, ...], folder: Path) -> list[Path]:
    """Write what the task sent, never over an existing file."""
    saved: list[Path] = []
    for each in files:
        if each.blob is not None:
            content = await office.blobs.get(each.blob)
            saved.append(await asyncio.to_thread(_write_new, folder, Path(each.name).name or "file", content))
    return saved


def _write_new(folder: Path, name: str, content: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    stem, suffix = Path(name).stem, Path(name).suffix
    for number in range(1, 10_000):
        path = folder / (name if number == 1 else f"{stem}-{number}{suffix}")
        try:
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            if path.is_file() and path.read_bytes() == content:
                return path
            continue
        return path
    raise FileExistsError(f"{folder / name} and its numbered copies exist; clear the folder")


def person_is_here() -> bool:
    """Whether somebody can be asked at this terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()
