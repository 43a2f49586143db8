"""The reception: asks of everything that comes in whether it may, and hands it to the desk, once and in order."""

import asyncio
import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from contracts.blobs import Blobs
from contracts.conversation import Accepted, Delivered
from contracts.delivery import Notice
from contracts.language import language_of
from contracts.task import Approval, GivenAnswer, Limits, Says, TaskStatus
from contracts.texts import approvals as approval_texts
from contracts.texts import gateway as texts
from contracts.transcript import UserTurn
from gateway.buttons import NotAButton, Press, token_of, token_of_question, unpack
from gateway.channel import ChannelBusy, ChannelUnreachable, Incoming, Pressed
from gateway.commands import Command, parse
from gateway.deciding import Always, Deciding, yes_or_no
from gateway.desk import Desk, DeskUnreachable, NoSuchTask, Refused
from gateway.normalising import Unacceptable, normalise
from gateway.obeying import Obeying, by, refusal_text, said_by
from gateway.outbox import Outbox
from gateway.pairing import Pairing, Person, looks_like_code
from gateway.requests import Requests
from gateway.speaking import Speaker
from gateway.wording import clean

ACKNOWLEDGE_SECONDS = 0.6
"""People take a stop that is not acknowledged within a second for a stop that was not heard."""

SEEN_AFTER = timedelta(seconds=2)
"""So long a new question may take until it stands in the chat; the platform's times are whole seconds."""

_DECISIONS: dict[str, Always] = {"approve": "", "deny": "", "always": "person", "always_task": "task"}

_log = logging.getLogger(__name__)


class Reception:
    """Satisfies Inbox for every channel."""

    def __init__(
        self,
        desk: Desk,
        speakers: Mapping[str, Speaker],
        pairing: Pairing,
        outbox: Outbox,
        requests: Requests,
        blobs: Blobs,
        obeying: Obeying,
        limits: Limits,
        deciding: Deciding,
    ) -> None:
        self._desk = desk
        self._speakers = speakers
        self._pairing = pairing
        self._outbox = outbox
        self._requests = requests
        self._blobs = blobs
        self._obeying = obeying
        self._limits = limits
        self._deciding = deciding

    async def receive(self, incoming: Incoming) -> None:
        """Raises: DeskUnreachable, ChannelUnreachable, ChannelBusy: it is not safe yet, and must be given again."""
        key = f"{incoming.channel}:{incoming.key}"
        if await self._requests.handled(key):
            return
        person = await self._pairing.person(incoming.channel, incoming.sender.id)
        if person is None:
            await self._meet(incoming)
        elif incoming.addressed:
            await self._serve(incoming, person)
        await self._requests.handle(key)

    async def press(self, pressed: Pressed) -> str:
        """Raises: DeskUnreachable."""
        person = await self._pairing.person(pressed.channel, pressed.sender.id)
        if person is None:
            _log.warning("a stranger, %s, pressed a button", pressed.sender.id)
            return texts.NOT_ALLOWED.say(pressed.language)
        try:
            press = unpack(pressed.data)
        except NotAButton as error:
            _log.warning("%s pressed by %s", error, by(person))
            return texts.UNKNOWN_BUTTON.say(pressed.language)
        shown = await self._outbox.task_of(pressed.channel, pressed.chat.id, pressed.message_id)
        if shown != press.task_id:
            _log.warning("%s pressed a button of task %s at a message of %s", by(person), press.task_id, shown)
            return texts.UNKNOWN_BUTTON.say(pressed.language)
        try:
            return await self._act(press, pressed, person)
        except NoSuchTask:
            return texts.NO_TASK.say(pressed.language)
        except Refused as refused:
            return refusal_text(refused, pressed.language)

    async def apologise(self, incoming: Incoming) -> None:
        """Says that a message was not handled, and counts it as dealt with."""
        await self._tell(incoming, texts.NOT_HANDLED.say(incoming.language), "failed", kind="error")
        await self._requests.handle(f"{incoming.channel}:{incoming.key}")

    async def _meet(self, incoming: Incoming) -> None:
        """A stranger: a code pairs them; else one neutral sentence, and in a group nothing."""
        if incoming.chat.type != "dm" or incoming.forwarded_from is not None:
            return
        if await self._pairing.is_blocked(incoming.channel, incoming.sender.id):
            _log.warning("%s:%s is blocked by the policy file", incoming.channel, incoming.sender.id)
            return
        text = clean(incoming.text)
        command = parse(text)
        said = command.rest if command is not None and command.name == "start" else text
        if not looks_like_code(said):
            if await self._pairing.may_greet(incoming.channel, incoming.chat.id):
                await self._tell(incoming, texts.STRANGER.say(incoming.language), "stranger")
            return
        sender = incoming.sender
        claim = await self._pairing.claim(incoming.channel, incoming.chat.id, sender.id, sender.name, said)
        sentence = {"paired": texts.PAIRED, "wrong": texts.CODE_WRONG, "too_many": texts.CODE_TOO_MANY}[claim]
        _log.info("pairing of %s:%s: %s", incoming.channel, sender.id, claim)
        await self._tell(incoming, sentence.say(incoming.language, name=sender.name), "pairing")

    async def _serve(self, incoming: Incoming, person: Person) -> None:
        own = incoming.forwarded_from is None and incoming.edited is None
        written = parse(clean(incoming.text))
        command = written if own else None
        try:
            if command is not None:
                await self._obey(command, incoming, person)
            elif written is not None and written.name in ("approve", "deny"):
                # What somebody else wrote, or what was written at another time, is nobody's decision now.
                await self._tell(incoming, approval_texts.FORWARDED.say(incoming.language), "forwarded")
            elif own and await self._replied(incoming, person):
                return
            elif incoming.edited is not None:
                await self._correct(incoming, person)
            else:
                await self._submit(incoming, person)
        except DeskUnreachable:
            await self._say_delayed(incoming, command)
            raise

    async def _replied(self, incoming: Incoming, person: Person) -> bool:
        """Whether the message was a plain yes or no to a card, and has been dealt with."""
        answer = yes_or_no(clean(incoming.text))
        if answer is None or incoming.reply_to is None:
            return False
        task_id = await self._outbox.task_of(incoming.channel, incoming.chat.id, incoming.reply_to)
        if task_id is None:
            return False
        try:
            approval = (await self._desk.status(task_id)).approval
        except (NoSuchTask, Refused):
            return False
        if approval is None:
            return False
        await self._tell(incoming, await self._answered(task_id, approval, answer, incoming, person), "decided")
        return True

    async def _answered(
        self, task_id: str, approval: Approval, answer: tuple[bool, str], incoming: Incoming, person: Person
    ) -> str:
        """A card changes under its message: words count only for a question that was there to be seen."""
        if incoming.at < approval.asked_at + SEEN_AFTER:
            return approval_texts.NOT_THE_CARD.say(incoming.language)
        approve, code = answer
        try:
            await self._obeying.decidable(task_id, approval, person)
            said = said_by(person, approve=approve, code=code)
            return await self._deciding.answer(task_id, approval, said, incoming.language)
        except NoSuchTask:
            return approval_texts.NOT_YOURS.say(incoming.language)
        except Refused as refused:
            return refusal_text(refused, incoming.language)

    async def _obey(self, command: Command, incoming: Incoming, person: Person) -> None:
        await self._tell(incoming, await self._reply(command, incoming, person), command.name)
        if command.name == "stop" and not command.words:
            try:
                dropped = await self._obeying.drop_waiting(incoming, person)
            except Refused as refused:
                _log.warning("waiting requests of chat %s stay: %s", incoming.chat.id, refused)
                return
            if dropped:
                await self._tell(incoming, texts.STOPPED_WAITING.say(incoming.language, count=dropped), "dropped")

    async def _reply(self, command: Command, incoming: Incoming, person: Person) -> str:
        """What the desk takes long for is at least acknowledged."""
        work = asyncio.create_task(self._obeying.obey(command, incoming, person))
        try:
            _, waiting = await asyncio.wait([work], timeout=ACKNOWLEDGE_SECONDS)
            if waiting:
                await self._say_delayed(incoming, command)
            return await work
        finally:
            work.cancel()

    async def _submit(self, incoming: Incoming, person: Person) -> None:
        limit = self._speakers[incoming.channel].channel.capabilities.max_fetch_bytes
        try:
            message = await normalise(incoming, person, self._blobs, limit)
            delivered = Delivered(message=message, address=incoming.address, limits=self._limits)
            accepted = await self._desk.submit(delivered)
        except Unacceptable as reason:
            await self._tell(incoming, str(reason), "unacceptable", kind="error")
            return
        except Refused as refused:
            await self._tell(incoming, refusal_text(refused, incoming.language), "refused", kind="error")
            return
        if accepted.task_id is not None:
            chat, message_id = incoming.chat.id, incoming.message_id
            await self._requests.became(incoming.channel, chat, message_id, accepted.task_id)
        await self._acknowledge(incoming, accepted)

    async def _acknowledge(self, incoming: Incoming, accepted: Accepted) -> None:
        """A started task shows itself; what happens to the others is said."""
        if accepted.disposition == "queued":
            await self._tell(incoming, texts.AHEAD.say(incoming.language, ahead=max(1, accepted.ahead)), "queued")
        elif accepted.disposition == "steered":
            await self._tell(incoming, texts.JOINED.say(incoming.language), "steered")
        elif accepted.disposition == "refused":
            text = texts.NOT_TAKEN.say(incoming.language, reason=accepted.disposition)
            await self._tell(incoming, text, "refused", kind="error")

    async def _correct(self, incoming: Incoming, person: Person) -> None:
        """An edited message reaches the task that it started, if that still runs; it never starts another one."""
        task_id = await self._requests.task_of(incoming.channel, incoming.chat.id, incoming.message_id)
        if task_id is None:
            return
        text = clean(incoming.text)
        corrected = texts.CORRECTION.say(language_of(text), text=text)
        turn = UserTurn(text=corrected, message_id=incoming.key, at=incoming.at)
        try:
            await self._desk.say(task_id, Says(turn=turn, by=by(person)))
        except (NoSuchTask, Refused) as refused:
            _log.info("an edit came too late: %s", refused)
            await self._tell(incoming, texts.EDIT_TOO_LATE.say(incoming.language), "edited")

    async def _act(self, press: Press, pressed: Pressed, person: Person) -> str:
        language = pressed.language
        if press.action in _DECISIONS:
            return await self._decide(press, pressed, person, await self._desk.status(press.task_id))
        task = await self._obeying.mine(press.task_id, person)
        match press.action:
            case "stop":
                await self._desk.stop(press.task_id, f"stopped by {by(person)}")
                return texts.STOPPING.say(language, goal=task.goal)[:190]
            case "pause":
                await self._desk.pause(press.task_id, by(person))
                return texts.PAUSED.say(language)
            case "resume":
                await self._desk.resume(press.task_id, by(person))
                return texts.PLANNING.say(language)
            case "choose":
                return await self._choose(press, pressed, person, await self._desk.status(press.task_id))
            case _:
                return texts.UNKNOWN_BUTTON.say(language)

    async def _decide(self, press: Press, pressed: Pressed, person: Person, status: TaskStatus) -> str:
        approval = status.approval
        if approval is None or token_of(approval) != press.token:
            _log.warning("%s pressed an outdated %s of task %s", by(person), press.action, press.task_id)
            return texts.OUT_OF_DATE.say(pressed.language)
        try:
            await self._obeying.decidable(press.task_id, approval, person)
        except NoSuchTask:
            return approval_texts.NOT_YOURS.say(pressed.language)
        said = said_by(person, approve=press.action != "deny", always=_DECISIONS[press.action])
        return await self._deciding.answer(press.task_id, approval, said, pressed.language)

    async def _choose(self, press: Press, pressed: Pressed, person: Person, status: TaskStatus) -> str:
        asked = status.asked
        if asked is None or token_of_question(asked) != press.token or press.choice >= len(asked.choices):
            return texts.OUT_OF_DATE.say(pressed.language)
        turn = UserTurn(
            text=asked.choices[press.choice],
            message_id=f"{pressed.chat.id}:press:{pressed.press_id}",
            question_id=asked.question_id,
            at=datetime.now(UTC),
        )
        await self._desk.answer(press.task_id, GivenAnswer(question_id=asked.question_id, turn=turn, by=by(person)))
        return texts.ANSWERED.say(pressed.language)

    async def _say_delayed(self, incoming: Incoming, command: Command | None) -> None:
        stop = command is not None and command.name == "stop"
        sentence = texts.STOP_DELAYED if stop else texts.DELAYED
        try:
            await self._tell(incoming, sentence.say(incoming.language), "delayed")
        except (ChannelUnreachable, ChannelBusy) as error:
            _log.warning("%s", error)

    async def _tell(self, incoming: Incoming, text: str, kind_of_notice: str, *, kind: str = "info") -> None:
        key = f"{incoming.channel}:{incoming.key}:{kind_of_notice}"
        notice = Notice.model_validate({"address": incoming.address, "text": text, "key": key, "kind": kind})
        await self._speakers[incoming.channel].notify(notice)
