"""The desk on a real Temporal server: handed in once, refused in words, and gone on with from a step."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from temporalio.client import Client

from contracts.conversation import Delivered
from contracts.messages import Address, Chat, Content, Message, Sender
from contracts.task import Decision, GivenAnswer, Phase, TaskStatus
from contracts.transcript import UserTurn
from gateway.desk import DeskUnreachable, NoSuchTask, Refused
from gateway.temporal_desk import TemporalDesk
from tests.gateway.engine import script, workers
from tests.server import temporal_server
from tests.workflows.stage import Script

ME = "telegram:1"


def message(text: str, message_id: str = "", chat_id: str = "") -> Delivered:
    chat_id = chat_id or uuid4().hex[:8]
    said = Message(
        message_id=message_id or f"{chat_id}:{uuid4().hex[:6]}",
        platform="telegram",
        channel=Chat(type="dm", id=chat_id),
        sender=Sender(id="1", name="Ann"),
        content=Content(text=text),
        timestamp=datetime.now(UTC),
    )
    return Delivered(message=said, address=Address(channel="telegram", chat_id=chat_id), pushes=False)


@dataclass
class House:
    desk: TemporalDesk
    client: Client
    script: Script

    async def start(self, text: str) -> str:
        accepted = await self.desk.submit(message(text))
        assert accepted.task_id is not None
        return accepted.task_id

    async def closed(self, task_id: str) -> None:
        async with asyncio.timeout(20):
            while True:
                if not (await self.desk.summary(task_id)).open:
                    return
                await asyncio.sleep(0.03)

    async def asked(self) -> str:
        """A task that waits for words, and whose mailbox knows it."""
        given = message("ask which?")
        task_id = (await self.desk.submit(given)).task_id
        assert task_id is not None
        async with asyncio.timeout(20):
            while True:
                state = await self.desk.conversation("telegram", given.address.chat_id)
                if state is not None and state.question_id is not None:
                    return task_id
                await asyncio.sleep(0.03)

    async def until(self, task_id: str, phase: Phase) -> TaskStatus:
        async with asyncio.timeout(20):
            while True:
                try:
                    status = await self.desk.status(task_id)
                except NoSuchTask:
                    await asyncio.sleep(0.03)
                    continue
                if status.phase is phase:
                    return status
                await asyncio.sleep(0.03)


@pytest.fixture
async def house() -> AsyncIterator[House]:
    acting = script()
    async with temporal_server() as environment, workers(environment.client, acting):
        yield House(TemporalDesk(environment.client), environment.client, acting)


async def test_the_same_message_five_times_starts_one_task(house: House) -> None:
    given = message("echo hello", "5:1", "5")

    accepted = await asyncio.gather(*(house.desk.submit(given) for _ in range(5)))

    assert len({each.task_id for each in accepted}) == 1
    await house.until(accepted[0].task_id or "", Phase.COMPLETED)
    assert len([plan for plan in house.script.plans if plan.task_id == accepted[0].task_id]) == 1


async def test_status_list_and_summary_tell_of_a_task(house: House) -> None:
    task_id = await house.start("ask which one?")
    status = await house.until(task_id, Phase.AWAITING_USER)
    assert status.asked is not None

    summary = await house.desk.summary(task_id)
    await asyncio.sleep(1.5)  # lists are up to a second out of date
    listed = await house.desk.tasks(ME)

    assert (summary.open, summary.user_id, summary.channel) == (True, ME, "telegram")
    assert summary.goal == "ask which one?"
    assert [each.task_id for each in listed] == [task_id]
    assert await house.desk.tasks("telegram:2") == []

    turn = UserTurn(text="red", message_id="1:9", at=datetime.now(UTC))
    given = GivenAnswer(question_id=status.asked.question_id, turn=turn, by=ME)
    assert (await house.desk.answer(task_id, given)).accepted
    assert (await house.until(task_id, Phase.COMPLETED)).answer == "done: red"


async def test_a_decision_is_taken_once_and_only_for_what_was_asked(house: House) -> None:
    task_id = await house.start("risky rm -rf build")
    approval = (await house.until(task_id, Phase.AWAITING_APPROVAL)).approval
    assert approval is not None
    yes = Decision(
        approval_id=approval.approval_id,
        call_id=approval.call_id,
        args_sha256=approval.args_sha256,
        digest=approval.digest,
        approve=True,
        by=ME,
    )

    with pytest.raises(Refused) as changed:
        await house.desk.decide(task_id, yes.model_copy(update={"args_sha256": "0" * 64}))
    with pytest.raises(Refused) as foreign:
        await house.desk.decide(task_id, yes.model_copy(update={"by": "telegram:2"}))
    first, second = await house.desk.decide(task_id, yes), await house.desk.decide(task_id, yes)

    assert (changed.value.code, foreign.value.code) == ("StaleApproval", "NotAllowed")
    assert first == second
    await house.until(task_id, Phase.COMPLETED)
    assert len(house.script.runs) == 1


async def test_pause_resume_and_stop_reach_the_task(house: House) -> None:
    task_id = await house.asked()

    assert (await house.desk.pause(task_id, ME)).accepted
    assert (await house.desk.resume(task_id, ME)).accepted
    await house.desk.stop(task_id, "enough")
    await house.closed(task_id)

    assert (await house.desk.status(task_id)).phase is Phase.CANCELLED
    await house.desk.stop(task_id, "again")


async def test_an_unknown_task_is_named(house: House) -> None:
    for ask in (house.desk.status("NOPE"), house.desk.summary("NOPE"), house.desk.stop("NOPE", "")):
        with pytest.raises(NoSuchTask, match="NOPE"):
            await ask
    with pytest.raises(NoSuchTask):
        await house.desk.retry("NOPE", None, reason="", request_id="x")


@pytest.mark.parametrize("step", [None, 1, 2])
async def test_a_closed_task_goes_on_again_from_a_step(house: House, step: int | None) -> None:
    task_id = await house.start("run something")
    await house.until(task_id, Phase.COMPLETED)
    await house.closed(task_id)
    before, runs = len(house.script.plans), len(house.script.runs)
    old_run = (await house.desk.summary(task_id)).run_id
    request_id = str(uuid4())

    retried = await house.desk.retry(task_id, step, reason="test", request_id=request_id)
    again = await house.desk.retry(task_id, step, reason="test", request_id=request_id)

    assert retried.step == (step or 1), "the step that did something, and not the one that only replied"
    assert retried.run_id == again.run_id == (await house.desk.summary(task_id)).run_id != old_run
    await house.until(task_id, Phase.COMPLETED)
    assert len(house.script.plans) - before == (1 if step == 2 else 2)
    assert len(house.script.runs) - runs == (0 if step == 2 else 1)


async def test_a_stopped_task_can_be_taken_up_again(house: House) -> None:
    task_id = await house.asked()
    await house.desk.stop(task_id, "mistake")
    await house.until(task_id, Phase.CANCELLED)

    await house.desk.retry(task_id, None, reason="test", request_id=str(uuid4()))

    assert (await house.until(task_id, Phase.AWAITING_USER)).asked is not None


async def test_a_step_that_was_not_reached_is_refused(house: House) -> None:
    task_id = await house.start("echo x")
    await house.until(task_id, Phase.COMPLETED)

    with pytest.raises(Refused, match="has not reached step 7"):
        await house.desk.retry(task_id, 7, reason="", request_id="x")


async def test_the_mailbox_can_be_looked_into_and_switched(house: House) -> None:
    first = message("ask which?", "7:1", "7")
    await house.desk.submit(first)
    await house.desk.submit(message("later", "7:2", "7"))

    await house.desk.set_mode("telegram", "7", "steer")

    state = await house.desk.conversation("telegram", "7")
    assert state is not None
    assert state.mode == "steer"
    assert state.current_task_id is not None
    assert await house.desk.conversation("telegram", "none") is None


async def test_quotes_in_a_user_id_are_refused(house: House) -> None:
    with pytest.raises(Refused, match="no quotes"):
        await house.desk.tasks("x' OR UserId != '")


async def test_without_workers_nothing_counts_as_handed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.temporal_desk.UPDATE_SECONDS", 1.0)
    async with temporal_server() as environment:
        desk = TemporalDesk(environment.client)
        given = message("echo late", "8:1", "8")

        with pytest.raises(DeskUnreachable, match="worker"):
            await desk.submit(given)
        assert await desk.reachable()

        acting = script()
        async with workers(environment.client, acting):
            monkeypatch.setattr("gateway.temporal_desk.UPDATE_SECONDS", 15.0)
            accepted = await desk.submit(given)
            assert accepted.task_id is not None
            await House(desk, environment.client, acting).until(accepted.task_id, Phase.COMPLETED)
            assert len(acting.plans) == 1


async def test_without_a_server_the_desk_says_so() -> None:
    assert not await TemporalDesk().reachable()
    with pytest.raises(DeskUnreachable, match="since the start"):
        await TemporalDesk().submit(message("x"))


async def test_what_waits_behind_a_task_is_dropped_and_what_was_written_later_stays(house: House) -> None:
    await house.desk.submit(message("risky which", "9:1", "9"))
    await house.desk.submit(message("second", "9:2", "9"))
    now = datetime.now(UTC)
    await asyncio.sleep(0.01)
    await house.desk.submit(message("third", "9:3", "9"))

    dropped = await house.desk.drop_waiting("telegram", "9", ME, now)

    state = await house.desk.conversation("telegram", "9")
    assert dropped == 1
    assert state is not None
    assert [each.message.content.text for each in state.waiting] == ["third"]
