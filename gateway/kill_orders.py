"""`/kill` and `/lift` in a chat: a stop needs nothing but the local file, so that it works while Temporal is away."""

import re

from audit.storage import StorageUnusable
from contracts.kill import Kill, KillLevel
from contracts.language import Language
from contracts.texts import kill as texts
from gateway.channel import Incoming
from gateway.commands import Command
from gateway.desk import Desk, DeskUnreachable, NoSuchTask
from gateway.outbox import Outbox
from gateway.pairing import OWNER, Person
from gateway.requests import Requests
from runtime.killing.desk import KillDesk
from runtime.killing.switch import LiftRefused
from runtime.second_factor import FactorRefused

TASKS_SEARCHED = 50
WHOLE_ID = 26
_LEVELS: dict[str, KillLevel] = {"": "all", "all": "all", "tools": "tools", "network": "network"}
_TASK_WORD = re.compile(r"[0-9A-Za-z]{4,26}")
_KILL_ID = re.compile(r"(k[0-9a-f]{8}|damaged-[\w.-]+)")


class KillOrders:
    """One method a command; each gives the reply."""

    def __init__(self, kills: KillDesk, desk: Desk, outbox: Outbox, requests: Requests) -> None:
        self._kills = kills
        self._desk = desk
        self._outbox = outbox
        self._requests = requests

    async def kill(self, command: Command, incoming: Incoming, person: Person) -> str:
        """Owners stop what they like, others their own tasks."""
        language = incoming.language
        word, *words = [each.lower() for each in command.words] or [""]
        if word == "task" and len(words) == 1:
            task_id = await self._own_task(words[0], incoming, person)
            if task_id is None:
                return texts.ONLY_OWN.say(language) if person.role != OWNER else texts.KILL_USAGE.say(language)
            return await self._pulled("task", task_id, person, language)
        if person.role != OWNER:
            return texts.ONLY_OWN.say(language)
        if word not in _LEVELS or words:
            return texts.KILL_USAGE.say(language)
        return await self._pulled(_LEVELS[word], None, person, language)

    async def lift(self, command: Command, incoming: Incoming, person: Person) -> str:
        """`/lift CODE [ID]`, for owners."""
        language = incoming.language
        if person.role != OWNER:
            return texts.ONLY_OWN.say(language)
        kill_id = next((word for word in command.words if _KILL_ID.fullmatch(word)), None)
        code = "".join(word for word in command.words if word != kill_id)
        if not code.isdecimal():
            return texts.LIFT_USAGE.say(language)
        try:
            lifted = await self._kills.lift(kill_id, code, _by(person))
        except LiftRefused:
            return texts.NO_SUCH_STOP.say(language, kill_id=kill_id) if kill_id else texts.NOTHING_STOPPED.say(language)
        except FactorRefused as refused:
            return refused.sentence.say(language, **refused.values)
        except StorageUnusable as error:
            return texts.LIFT_NOT_RECORDED.say(language, reason=error)
        return texts.LIFTED.say(language, what=what_of(lifted, language))

    async def _pulled(self, level: KillLevel, task_id: str | None, person: Person, language: Language) -> str:
        try:
            kill = await self._kills.pull(level, task_id, _by(person))
        except OSError as error:
            return texts.PULL_FAILED.say(language, reason=error.strerror or str(error))
        return texts.PULLED.say(language, what=what_of((kill,), language))

    async def _own_task(self, word: str, incoming: Incoming, person: Person) -> str | None:
        """The whole id of a task that this person may stop. What this gateway itself knows comes first."""
        if not _TASK_WORD.fullmatch(word):
            return None
        wanted = word.upper()
        shown = [each.task_id for each in await self._outbox.unfinished(incoming.channel, incoming.chat.id)]
        latest = await self._requests.latest_task(incoming.channel, incoming.chat.id)
        if incoming.chat.type == "dm" or person.role == OWNER:
            for task_id in [*([latest] if latest else []), *shown]:
                if task_id.endswith(wanted):
                    return task_id
        if person.role == OWNER and len(wanted) == WHOLE_ID:
            return wanted
        try:
            tasks = await self._desk.tasks(None if person.role == OWNER else _by(person), TASKS_SEARCHED)
        except (DeskUnreachable, NoSuchTask):
            return None
        return next((task.task_id for task in tasks if task.task_id.endswith(wanted)), None)


def what_of(kills: tuple[Kill, ...], language: Language) -> str:
    """What was stopped, as a person reads it."""
    return ", ".join(
        texts.LEVELS[kill.level].say(language) + (f" {kill.task_id}" if kill.task_id else "") for kill in kills
    )


def line_of(kill: Kill, language: Language) -> str:
    """One stop in force on one line: what, by whom, since when."""
    return texts.CLI_IN_FORCE.say(
        language,
        what=what_of((kill,), language),
        by=kill.by,
        at=f"{kill.at:%Y-%m-%d %H:%M:%S}",
        kill_id=kill.kill_id,
        reason=kill.reason,
    ).rstrip()


def _by(person: Person) -> str:
    return f"{person.channel}:{person.user_id}"
