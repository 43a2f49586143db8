"""The `plan` activity: what it gives to workflows, whatever the planner drafts."""

import asyncio
import errno
import json
from collections.abc import Callable

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities import planning
from activities.planner import (
    DraftCall,
    DraftCalls,
    DraftQuestion,
    DraftReply,
    PlannerBusy,
    PlannerContext,
    PlannerRefused,
    Thought,
)
from contracts.blobs import BlobRef
from contracts.errors import MACHINE_FULL
from contracts.planning import AskUser, PlanRequest, Reply, ToolCalls, Usage
from contracts.tools import INLINE_ARGS_BYTES, args_digest
from contracts.transcript import PlannerTurn, UserTurn
from memory.transcript import Transcript
from tests.planner.world import NOON, Task, said, task_of

Draft = DraftReply | DraftCalls | DraftQuestion


class Scripted:
    """Gives one draft, or raises one error, and keeps what it was given."""

    def __init__(self, draft: Draft | Exception, wait_seconds: float = 0.0) -> None:
        self._draft = draft
        self._wait_seconds = wait_seconds
        self.seen: list[PlannerContext] = []
        self.cancelled = False

    async def next_step(self, context: PlannerContext) -> Thought:
        self.seen.append(context)
        try:
            await asyncio.sleep(self._wait_seconds)
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if isinstance(self._draft, Exception):
            raise self._draft
        return Thought(self._draft, Usage(input_tokens=3, calls=1))


def planned(draft: Draft | Exception) -> tuple[Task, Scripted]:
    planner = Scripted(draft)
    return task_of(lambda _: planner), planner


async def test_calls_get_ids_digests_summaries_and_the_order_that_was_asked_for() -> None:
    task, _ = planned(
        DraftCalls(
            (DraftCall("shell", {"script": "a"}, "one"), DraftCall("shell", {"script": "b"}, "two", ("one",))), "Wait."
        )
    )
    task.step = 7

    outcome = await task.plan(said("go"))

    step = outcome.next_step
    assert isinstance(step, ToolCalls)
    first, second = step.calls
    assert first.call_id.startswith("7.0-")
    assert second.after == (first.call_id,)
    assert first.args_sha256 == args_digest("shell", {"script": "a"})
    assert (first.summary, step.note, outcome.usage.calls) == ("shell a", "Wait.", 1)


async def test_planning_again_gives_new_call_ids_after_the_same_past() -> None:
    task, _ = planned(DraftCalls((DraftCall("shell", {"script": "a"}),)))
    request = PlanRequest(task_id="t", step=1, language="en", transcript_ref=None, additions=(said("go"),))

    outcomes = [await ActivityEnvironment().run(task.thinking.plan, request) for _ in range(2)]

    ids = [outcome.next_step.calls[0].call_id for outcome in outcomes if isinstance(outcome.next_step, ToolCalls)]
    assert len(set(ids)) == 2
    pasts = [await Transcript(task.blobs).read(outcome.transcript_ref) for outcome in outcomes]
    assert pasts[0][0] == pasts[1][0]


@pytest.mark.parametrize(
    ("call", "summary"),
    [
        (DraftCall("rocket", {"to": "moon"}), "does not exist: rocket"),
        (DraftCall("shell", {}), "arguments that do not fit"),
        (DraftCall("shell", {"script": 3}), "arguments that do not fit"),
        (DraftCall("shell", {"script": "x", "sudo": True}), "arguments that do not fit"),
    ],
)
async def test_a_call_that_cannot_run_is_passed_on_for_the_judge_to_answer(call: DraftCall, summary: str) -> None:
    task, _ = planned(DraftCalls((call,)))

    outcome = await task.plan(said("go"))

    assert isinstance(outcome.next_step, ToolCalls)
    assert outcome.next_step.calls[0].args == call.args
    assert summary in outcome.next_step.calls[0].summary


async def test_long_arguments_travel_by_reference_and_are_filled_in_for_the_next_planning() -> None:
    content = "字" * INLINE_ARGS_BYTES
    task, planner = planned(DraftCalls((DraftCall("files", {"operation": "write", "path": "a", "content": content}),)))

    outcome = await task.plan(said("go"))
    await task.plan()

    assert isinstance(outcome.next_step, ToolCalls)
    call = outcome.next_step.calls[0]
    assert call.args is None
    assert call.args_ref is not None
    assert args_digest("files", json.loads(await task.blobs.get(call.args_ref))) == call.args_sha256
    assert len(outcome.model_dump_json()) < 2_000
    turn = planner.seen[1].turns[1]
    assert isinstance(turn, PlannerTurn)
    assert turn.calls[0].args == {"operation": "write", "path": "a", "content": content}


async def test_a_long_reply_travels_by_reference_and_keeps_its_beginning() -> None:
    text = "长" * 10_000
    task, _ = planned(DraftReply(text))

    reply = (await task.plan(said("go"))).next_step

    assert isinstance(reply, Reply)
    assert reply.text_ref is not None
    assert (await task.blobs.get(reply.text_ref)).decode() == text
    assert text.startswith(reply.text)
    assert 8_000 < len(reply.text.encode()) <= 8_192


async def test_a_long_message_is_filled_in_for_the_planner() -> None:
    task, planner = planned(DraftReply("ok"))
    ref = await task.blobs.put(("please " * 5_000 + "https://deep.com/x").encode())

    outcome = await task.plan(UserTurn(text="please", text_ref=ref, at=NOON))

    turn = planner.seen[0].turns[0]
    assert isinstance(turn, UserTurn)
    assert turn.text.endswith("https://deep.com/x")
    assert outcome.spoken_hosts == ("deep.com",)


async def test_a_question_is_bounded_and_its_label_is_kept() -> None:
    task, planner = planned(DraftQuestion("q" * 9_000, tuple("c" * 900 for _ in range(30)), label="why"))

    asked = (await task.plan(said("go"))).next_step
    await task.plan(said("because", question_id="q1"))

    assert isinstance(asked, AskUser)
    assert (len(asked.question), len(asked.choices), len(asked.choices[0])) == (2_000, 8, 60)
    turn = planner.seen[1].turns[1]
    assert isinstance(turn, PlannerTurn)
    assert [(call.tool, call.label) for call in turn.calls] == [("ask_user", "why")]


async def test_only_the_persons_own_words_name_hosts() -> None:
    task, _ = planned(DraftReply("I went to https://planner.com and evil.com"))
    await task.plan(said("see https://one.com"))

    outcome = await task.plan(said("and two.com/x, but not bob@three.com or report.md"))

    assert outcome.spoken_hosts == ("one.com", "two.com")


@pytest.mark.parametrize(
    ("error", "kind", "non_retryable", "delay"),
    [
        (PlannerRefused("authentication", "Check the key."), "authentication", True, None),
        (PlannerRefused("brand_new_code", "Look."), "brand_new_code", True, None),
        (PlannerBusy("later", 2.5), "busy", False, 2.5),
        (PlannerBusy("later"), "busy", False, None),
    ],
)
async def test_planner_errors_become_activity_failures_in_plain_words(
    error: Exception, kind: str, non_retryable: bool, delay: float | None
) -> None:
    task, _ = planned(error)

    with pytest.raises(ApplicationError) as raised:
        await task.plan(said("go"))

    failure = raised.value
    seconds = failure.next_retry_delay.total_seconds() if failure.next_retry_delay else None
    assert (failure.type, failure.non_retryable, seconds) == (kind, non_retryable, delay)


async def test_a_lost_transcript_ends_the_task_instead_of_starting_it_anew() -> None:
    task, planner = planned(DraftReply("ok"))
    task.ref = BlobRef(sha256="0" * 64, size=1)

    with pytest.raises(ApplicationError, match="can no longer be read") as raised:
        await task.plan(said("go"))

    assert (raised.value.type, raised.value.non_retryable) == ("transcript_lost", True)
    assert planner.seen == []


@pytest.mark.parametrize(("attempt", "gives_up"), [(1, False), (planning.FULL_ATTEMPTS, True)])
async def test_a_full_disk_is_tried_again_for_a_while_and_then_told_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, attempt: int, gives_up: bool
) -> None:
    task, _ = planned(DraftReply("ok"))
    task.attempt = attempt

    async def no_room(content: bytes) -> BlobRef:
        raise OSError(errno.ENOSPC, "the disk is full: free some space")

    monkeypatch.setattr(task.blobs, "put", no_room)

    with pytest.raises(ApplicationError, match="free some space") as raised:
        await task.plan(said("go"))

    assert (raised.value.type, raised.value.non_retryable) == (MACHINE_FULL, gives_up)


@pytest.fixture
def quick_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "BEAT_SECONDS", 0.02)


@pytest.mark.usefixtures("quick_beats")
async def test_life_is_reported_while_the_planner_thinks() -> None:
    planner = Scripted(DraftReply("ok"), wait_seconds=0.3)
    task = task_of(lambda _: planner)
    beats: list[object] = []
    environment = ActivityEnvironment()
    environment.on_heartbeat = lambda *details: beats.extend(details)

    await environment.run(task.thinking.plan, _request())

    assert beats.count("thinking") >= 3


async def test_cancelling_the_planning_ends_the_thinking() -> None:
    planner = Scripted(DraftReply("ok"), wait_seconds=60)
    task = task_of(lambda _: planner)
    environment = ActivityEnvironment()
    running = asyncio.ensure_future(environment.run(task.thinking.plan, _request()))
    await _until(lambda: bool(planner.seen))

    environment.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert planner.cancelled


async def test_a_hundred_steps_read_each_result_once() -> None:
    task, _ = planned(DraftCalls((DraftCall("shell", {"script": "echo " + "x" * 2_000}),)))
    outcome = await task.plan(said("go"))
    for _ in range(100):
        assert isinstance(outcome.next_step, ToolCalls)
        outcome = await task.plan(await task.act(outcome.next_step.calls[0]))

    assert task.blobs.gets <= 101


def _request() -> PlanRequest:
    return PlanRequest(task_id="t", step=0, language="en", transcript_ref=None, additions=(said("go"),))


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110  # the planner has no event to wait for
            await asyncio.sleep(0.005)
