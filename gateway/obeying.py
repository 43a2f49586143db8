"""Obeys the commands of a person: each is one question to the desk and one sentence in reply."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from uuid import NAMESPACE_URL, uuid5

from audit.storage import StorageUnusable
from contracts import errors
from contracts.approvals import names_sender
from contracts.language import Language
from contracts.task import Approval, Phase
from contracts.texts import approvals as approval_texts
from contracts.texts import gateway as texts
from contracts.texts import undo as undo_texts
from contracts.texts.sentence import Sentence
from gateway.card import SentenceFor
from gateway.channel import Incoming
from gateway.commands import Command
from gateway.deciding import Always, Deciding, Said, words_of
from gateway.desk import Desk, NoSuchTask, Refused, TaskSummary
from gateway.kill_orders import KillOrders
from gateway.outbox import Outbox
from gateway.pairing import OWNER, Person
from gateway.requests import Requests
from gateway.rich import clip, text_of
from gateway.standing_rules import StandingDesk, rule_line
from gateway.undoing import undone_text
from gateway.view import PHASES, progress_page

TASKS_SHOWN = 10
TASKS_SEARCHED = 50
SHORT_ID = 6
GOAL_CHARACTERS = 60
STATUS_CHARACTERS = 3_500

REFUSALS: dict[str, Sentence] = {
    errors.TASK_CLOSING: texts.HAS_ENDED,
    errors.STALE_APPROVAL: texts.OUT_OF_DATE,
    errors.ALREADY_DECIDED: texts.OUT_OF_DATE,
    errors.STALE_QUESTION: texts.OUT_OF_DATE,
    errors.NOT_ALLOWED: texts.NOT_ALLOWED,
    errors.SANDBOX_BUSY: undo_texts.BUSY,
    errors.HALTED: texts.ALL_STOPPED,
    "QueueFull": texts.QUEUE_FULL,
    "NothingToRetry": texts.NOTHING_TO_RETRY,
}

_TASK_WORD = re.compile(r"[0-9A-Za-z]{4,26}")


def refusal_text(refused: Refused, language: Language) -> str:
    """What a person is told of a refusal; what the desk said in its own words stays in the log."""
    sentence = REFUSALS.get(refused.code)
    return sentence.say(language) if sentence else texts.NOT_TAKEN.say(language, reason=refused.code)


def by(person: Person) -> str:
    """A person as tasks know them."""
    return f"{person.channel}:{person.user_id}"


class Obeying:
    """One method a command; each gives the reply."""

    def __init__(
        self,
        desk: Desk,
        outbox: Outbox,
        requests: Requests,
        sentence_for: SentenceFor,
        deciding: Deciding,
        standing: StandingDesk,
        kills: KillOrders | None = None,
    ) -> None:
        """Without `kills` no stop can be pulled from a chat."""
        self._desk = desk
        self._outbox = outbox
        self._requests = requests
        self._sentence_for = sentence_for
        self._deciding = deciding
        self._standing = standing
        self._methods: dict[str, Callable[[Command, Incoming, Person], Awaitable[str]]] = {
            "start": self._greet,
            "help": self._help,
            "tasks": self._tasks,
            "status": self._status,
            "retry": self._retry,
            "undo": self._undo,
            "pause": self._pause,
            "resume": self._resume,
            "approve": self._decide,
            "deny": self._decide,
            "mode": self._mode,
            "rules": self._rules,
            "revoke": self._revoke,
            "stop": self._stop,
        }
        if kills is not None:
            self._methods |= {"kill": kills.kill, "lift": kills.lift}

    async def obey(self, command: Command, incoming: Incoming, person: Person) -> str:
        """Raises: DeskUnreachable."""
        try:
            return await self._methods.get(command.name, self._help)(command, incoming, person)
        except NoSuchTask:
            return texts.NO_TASK.say(incoming.language)
        except StorageUnusable:
            return approval_texts.RULES_SILENT.say(incoming.language)
        except Refused as refused:
            return refusal_text(refused, incoming.language)

    async def drop_waiting(self, incoming: Incoming, person: Person) -> int:
        """What `/stop` does after it has stopped what runs; gives how many requests will not start."""
        return await self._desk.drop_waiting(incoming.channel, incoming.chat.id, by(person), incoming.at)

    async def mine(self, task_id: str, person: Person) -> TaskSummary:
        """A task that this person may touch. Raises: NoSuchTask, also for the tasks of others."""
        summary = await self._desk.summary(task_id)
        if summary.user_id != by(person) and person.role != OWNER:
            raise NoSuchTask(task_id)
        return summary

    async def _greet(self, _command: Command, incoming: Incoming, _person: Person) -> str:
        return texts.GREETING.say(incoming.language)

    async def _help(self, _command: Command, incoming: Incoming, _person: Person) -> str:
        return texts.HELP.say(incoming.language)

    async def _tasks(self, _command: Command, incoming: Incoming, person: Person) -> str:
        tasks = await self._desk.tasks(by(person), TASKS_SHOWN)
        lines = [_line(task) for task in tasks]
        return "\n".join(lines) or texts.NO_TASKS_YET.say(incoming.language)

    async def _status(self, command: Command, incoming: Incoming, person: Person) -> str:
        task_id = await self._named(command.words, incoming, person) or await self._latest(incoming)
        if task_id is None:
            return texts.NOTHING_RUNS.say(incoming.language)
        await self.mine(task_id, person)
        status = await self._desk.status(task_id)
        page = progress_page(status, datetime.now(UTC), self._sentence_for, STATUS_CHARACTERS)
        return text_of(page.spans)

    async def _retry(self, command: Command, incoming: Incoming, person: Person) -> str:
        words, step = _with_step(command.words)
        task_id = await self._named(words, incoming, person) or await self._latest(incoming)
        if task_id is None:
            return texts.NO_TASK.say(incoming.language)
        task = await self.mine(task_id, person)
        request_id = str(uuid5(NAMESPACE_URL, f"{incoming.channel}:{incoming.key}"))
        reason = f"/retry by {by(person)}"
        retried = await self._desk.retry(task_id, step, reason=reason, request_id=request_id)
        return texts.RETRIED.say(incoming.language, step=retried.step, goal=_goal(task))

    async def _undo(self, command: Command, incoming: Incoming, person: Person) -> str:
        words, step = _with_step(command.words)
        named = await self._named(words, incoming, person)
        task_id = named if words else await self._latest(incoming)
        if task_id is None:
            return texts.NO_TASK.say(incoming.language)
        await self.mine(task_id, person)
        return undone_text(await self._desk.undo(task_id, step), incoming.language)

    async def _pause(self, command: Command, incoming: Incoming, person: Person) -> str:
        task = await self._running(command, incoming, person)
        if task is None:
            return texts.NOTHING_RUNS.say(incoming.language)
        await self._desk.pause(task.task_id, by(person))
        return texts.PAUSING.say(incoming.language, goal=_goal(task))

    async def _resume(self, command: Command, incoming: Incoming, person: Person) -> str:
        task = await self._running(command, incoming, person)
        if task is None:
            return texts.NOTHING_RUNS.say(incoming.language)
        await self._desk.resume(task.task_id, by(person))
        return texts.RESUMED.say(incoming.language, goal=_goal(task))

    async def _stop(self, command: Command, incoming: Incoming, person: Person) -> str:
        named = await self._named(command.words, incoming, person)
        if command.words and named is None:
            return texts.NO_TASK.say(incoming.language)
        stopped: list[str] = []
        for task_id in [named] if named else await self._of_chat(incoming):
            task = await self.mine(task_id, person)
            if task.open:
                await self._desk.stop(task_id, f"/stop by {by(person)}")
                stopped.append(texts.STOPPING.say(incoming.language, goal=_goal(task)))
        return "\n".join(stopped) or texts.NOTHING_RUNS.say(incoming.language)

    async def _decide(self, command: Command, incoming: Incoming, person: Person) -> str:
        if not command.words:
            return texts.APPROVAL_USAGE.say(incoming.language)
        task_id, approval = await self._open_approval(command.words[0], incoming, person)
        if task_id is None or approval is None:
            return texts.NO_APPROVAL.say(incoming.language)
        try:
            await self.decidable(task_id, approval, person)
        except NoSuchTask:
            return approval_texts.NOT_YOURS.say(incoming.language)
        if command.name == "approve":
            always, code, note = words_of(command.words[1:])
            said = said_by(person, approve=True, note=note, always=always, code=code)
        else:
            said = said_by(person, approve=False, note=" ".join(command.words[1:]))
        return await self._deciding.answer(task_id, approval, said, incoming.language)

    async def _rules(self, _command: Command, incoming: Incoming, person: Person) -> str:
        lines = [rule_line(rule, incoming.language) for rule in await self._standing.rules(_whose(person))]
        return "\n".join(lines) or approval_texts.NO_RULES.say(incoming.language)

    async def _revoke(self, command: Command, incoming: Incoming, person: Person) -> str:
        if len(command.words) != 1:
            return approval_texts.REVOKE_USAGE.say(incoming.language)
        rule_id = command.words[0].lower()
        if await self._standing.revoke(rule_id, _whose(person), by(person)):
            return approval_texts.REVOKED.say(incoming.language)
        return approval_texts.NO_RULE.say(incoming.language, rule_id=clip(rule_id, 16))

    async def _mode(self, command: Command, incoming: Incoming, _person: Person) -> str:
        if command.words == ("queue",):
            await self._desk.set_mode(incoming.channel, incoming.chat.id, "queue")
            return texts.MODE_QUEUE.say(incoming.language)
        if command.words == ("steer",):
            await self._desk.set_mode(incoming.channel, incoming.chat.id, "steer")
            return texts.MODE_STEER.say(incoming.language)
        return texts.MODE_USAGE.say(incoming.language)

    async def _open_approval(
        self, short: str, incoming: Incoming, person: Person
    ) -> tuple[str | None, Approval | None]:
        async for task_id in self._candidates(incoming, person):
            try:
                status = await self._desk.status(task_id)
            except NoSuchTask:
                continue
            if status.approval is not None and status.approval.approval_id.lower() == short.lower():
                return task_id, status.approval
        return None, None

    async def _candidates(self, incoming: Incoming, person: Person) -> AsyncIterator[str]:
        """Tasks that may wait for this person: of the chat, their own, and at last those that others may decide."""
        seen: set[str] = set()
        for task_id in await self._of_chat(incoming):
            seen.add(task_id)
            yield task_id
        for user_id in (by(person), None):
            for task in await self._desk.tasks(user_id, TASKS_SEARCHED):
                may_wait = task.phase is Phase.AWAITING_APPROVAL or user_id is not None
                if task.open and may_wait and task.task_id not in seen:
                    seen.add(task.task_id)
                    yield task.task_id

    async def decidable(self, task_id: str, approval: Approval, person: Person) -> None:
        """Whether this person may touch that approval; the task itself has the last word. Raises: NoSuchTask."""
        if not any(names_sender(pattern, by(person)) for pattern in approval.approvers):
            await self.mine(task_id, person)

    async def _running(self, command: Command, incoming: Incoming, person: Person) -> TaskSummary | None:
        named = await self._named(command.words, incoming, person)
        if command.words and named is None:
            raise NoSuchTask(command.words[0])
        for task_id in [named] if named else await self._of_chat(incoming):
            task = await self.mine(task_id, person)
            if task.open:
                return task
        return None

    async def _named(self, words: tuple[str, ...], incoming: Incoming, person: Person) -> str | None:
        """The task that the first word names in full or by its end."""
        if not words or not _TASK_WORD.fullmatch(words[0]):
            return None
        wanted = words[0].upper()
        if len(wanted) == 26:
            return wanted
        known = await self._of_chat(incoming)
        known += [task.task_id for task in await self._desk.tasks(by(person), TASKS_SEARCHED)]
        return next((task_id for task_id in known if task_id.endswith(wanted)), None)

    async def _of_chat(self, incoming: Incoming) -> list[str]:
        """Tasks of this chat that may be running, newest first; known here, so that no worker is needed to stop one."""
        shown = [each.task_id for each in await self._outbox.unfinished(incoming.channel, incoming.chat.id)]
        latest = await self._requests.latest_task(incoming.channel, incoming.chat.id)
        return list(dict.fromkeys([*([latest] if latest else []), *shown]))

    async def _latest(self, incoming: Incoming) -> str | None:
        return next(iter(await self._of_chat(incoming)), None)


def said_by(person: Person, *, approve: bool, note: str = "", always: Always = "", code: str = "") -> Said:
    """What this person has said to an approval."""
    return Said(approve, by(person), note, always, code, as_owner=person.role == OWNER)


def _whose(person: Person) -> str | None:
    """Whose standing rules a person may see: their own, and the owner everybody's."""
    return None if person.role == OWNER else by(person)


def _with_step(words: tuple[str, ...]) -> tuple[tuple[str, ...], int | None]:
    """A short number at the end is a step."""
    if words and words[-1].isdecimal() and len(words[-1]) < 4:
        return words[:-1], int(words[-1])
    return words, None


def _goal(task: TaskSummary) -> str:
    return clip(task.goal, GOAL_CHARACTERS) or task.task_id[-SHORT_ID:]


def _line(task: TaskSummary) -> str:
    icon = PHASES[task.phase][0] if task.phase else "•"
    return f"{icon} {task.task_id[-SHORT_ID:]} · {task.started_at:%m-%d %H:%M} · {clip(task.goal, GOAL_CHARACTERS)}"
