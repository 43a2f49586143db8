"""The `plan` activity: read the transcript, let a planner think, and write down what it decided."""

import asyncio
import time
from collections.abc import Coroutine, Mapping
from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities import recording
from activities.failures import full, halted, is_platform_failure
from activities.planner import (
    DraftCalls,
    DraftQuestion,
    DraftReply,
    Planner,
    PlannerBusy,
    PlannerContext,
    PlannerRefused,
    Thought,
)
from activities.planners.drafts import CallWriter, clean_text, write_reply
from activities.planners.past import Past
from activities.planners.web_names import spoken_hosts
from activities.provenance.sources import attaches, quotes
from activities.step_budget import CeilingsOf, StepBudget, ceilings_for
from activities.tool import Tool
from contracts.activities import Planning
from contracts.audit import NoRecord, Recorder
from contracts.blobs import BlobDamaged, BlobMissing, Blobs
from contracts.kill import Brake, FreeRunning, Halted, Kill
from contracts.language import Language
from contracts.planning import AskUser, NextStep, PlanOutcome, PlanRequest, ToolCalls, Usage
from contracts.quoting import own_words
from contracts.texts import planner as texts
from contracts.tools import ToolCall, args_digest
from contracts.transcript import PlannerTurn, Turn, UserTurn
from contracts.usage import Metering, Unmetered
from contracts.values import JsonObject
from memory.transcript import Transcript
from sandbox.braking import braked

BEAT_SECONDS = 3.0

FULL_ATTEMPTS = 5
"""A disk that is still full after about fifteen seconds is the person's matter."""

NOTE_CHARACTERS = 1_000
QUESTION_CHARACTERS = 2_000
CHOICES = 8
CHOICE_CHARACTERS = 60


class Thinking(Planning):
    """Gives the planner what it may build on. Trying again is safe: equal pages have equal names."""

    def __init__(
        self,
        *,
        planner: Planner,
        tools: Mapping[str, Tool],
        blobs: Blobs,
        metering: Metering | None = None,
        ceilings: CeilingsOf = lambda _: (),
        transcript: Transcript | None = None,
        past: Past | None = None,
        brake: Brake | None = None,
        recorder: Recorder | None = None,
        model: str = "",
    ) -> None:
        """Whoever reads the same turns may share `transcript` and `past`. `model` is what the planner asks over the
        network; rules ask none."""
        self._planner = planner
        self._tools = tools
        self._blobs = blobs
        self._transcript = transcript or Transcript(blobs)
        self._past = past or Past(blobs)
        self._metering = metering or Unmetered()
        self._ceilings = ceilings
        self._brake = brake or FreeRunning()
        self._recorder = recorder or NoRecord()
        self._model = model

    @activity.defn(name="plan")
    async def plan(self, request: PlanRequest) -> PlanOutcome:
        try:
            return await self._plan(request)
        except Halted as error:
            raise halted(error) from error
        except PlannerRefused as refusal:
            raise _refused(refusal.code, refusal.remedy, request.language) from refusal
        except PlannerBusy as busy:
            raise _busy(busy, request.language) from busy
        except (BlobMissing, BlobDamaged) as lost:
            raise ApplicationError(
                texts.TRANSCRIPT_LOST.say(request.language), type="transcript_lost", non_retryable=True
            ) from lost
        except OSError as error:
            if not is_platform_failure(error):
                raise
            raise full(error, give_up=activity.info().attempt >= FULL_ATTEMPTS) from error

    async def _plan(self, request: PlanRequest) -> PlanOutcome:
        self._heed(request)
        past = await self._transcript.append(request.transcript_ref, request.additions)
        turns = await self._past.filled(await self._transcript.read(past))
        activity.heartbeat("read")
        budget = await self._budget(request)
        thinking = (self._asked if self._model else self._think)(request, turns, budget)
        thought = await _beating(braked(thinking, lambda: self._halted(request)))
        next_step, turn = await self._write(thought, request)
        return PlanOutcome(
            next_step=next_step,
            transcript_ref=await self._transcript.append(past, (turn,)),
            usage=thought.usage,
            spoken_hosts=spoken_hosts(own_words(turn.text) for turn in turns if isinstance(turn, UserTurn)),
            over_budget=isinstance(thought.draft, DraftQuestion) and thought.draft.over_budget,
            exceeded=budget.exceeded,
            quotes=quotes(turns),
            attaches=attaches(turns),
        )

    async def _budget(self, request: PlanRequest) -> StepBudget:
        persons = await asyncio.to_thread(self._ceilings, request.actor) if request.actor else ()
        attempt = activity.info().current_attempt_scheduled_time.timestamp()
        return StepBudget(request, ceilings_for(request, persons), self._metering, f"{attempt:.6f}")

    def _halted(self, request: PlanRequest) -> Kill | None:
        kill = self._brake.halted("model", request.task_id)
        if kill is None and self._model:
            kill = self._brake.halted("network", request.task_id)
        return kill

    def _heed(self, request: PlanRequest) -> None:
        """Raises: Halted."""
        kill = self._halted(request)
        if kill is not None:
            raise Halted(kill)

    async def _asked(self, request: PlanRequest, turns: tuple[Turn, ...], budget: StepBudget) -> Thought:
        """Nothing is asked of a model that is not written down before."""
        await self._recorder.record(recording.model_begun(request, self._model))
        began, usage, error = time.monotonic(), Usage(), "cancelled"
        try:
            thought = await self._think(request, turns, budget)
            usage, error = thought.usage, ""
        except Exception as problem:
            error = type(problem).__name__
            raise
        finally:
            seconds = time.monotonic() - began
            await self._recorder.record(recording.model_ended(request, self._model, usage, error, seconds))
        return thought

    async def _think(self, request: PlanRequest, turns: tuple[Turn, ...], budget: StepBudget) -> Thought:
        return await self._planner.next_step(
            PlannerContext(
                task_id=request.task_id,
                step=request.step,
                language=request.language,
                turns=turns,
                results=await self._past.results(turns),
                tools=tuple(tool.spec for tool in self._tools.values()),
                purse=budget,
                usage=request.usage,
            )
        )

    async def _write(self, thought: Thought, request: PlanRequest) -> tuple[NextStep, PlannerTurn]:
        draft = thought.draft
        match draft:
            case DraftReply():
                reply = await write_reply(draft.text, draft.outcome, self._blobs)
                return reply, PlannerTurn(step=request.step, text=clean_text(draft.text))
            case DraftQuestion():
                return _question(draft, request.step)
            case DraftCalls():
                writer = CallWriter(self._tools, self._blobs, request.language)
                calls = await writer.write(draft.calls, request.step)
                note = clean_text(draft.note)[:NOTE_CHARACTERS]
                return ToolCalls(calls=calls, note=note), PlannerTurn(step=request.step, text=note, calls=calls)


def _question(draft: DraftQuestion, step: int) -> tuple[AskUser, PlannerTurn]:
    """A labelled question is also written as a call, so that the planner finds the answer to it again."""
    question = clean_text(draft.question)[:QUESTION_CHARACTERS]
    choices = tuple(clean_text(choice)[:CHOICE_CHARACTERS] for choice in draft.choices[:CHOICES])
    asked = AskUser(question=question, choices=choices)
    if not draft.label:
        return asked, PlannerTurn(step=step, text=question)
    args: JsonObject = {"question": question, "choices": list(choices)}
    call = ToolCall(
        call_id=f"{step}.0-ask",
        tool="ask_user",
        args=args,
        args_sha256=args_digest("ask_user", args),
        summary=question[:120],
        label=draft.label,
    )
    return asked, PlannerTurn(step=step, text=question, calls=(call,))


async def _beating(thinking: Coroutine[Any, Any, Thought]) -> Thought:
    """Report life for as long as the thought is alive, and end it if nobody waits for it any more."""
    task = asyncio.ensure_future(thinking)
    try:
        while not (await asyncio.wait({task}, timeout=BEAT_SECONDS))[0]:
            activity.heartbeat("thinking")
        return task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _refused(code: str, remedy: str, language: Language) -> ApplicationError:
    sentence = texts.REFUSED.get(code, texts.REFUSED["bad_request"])
    return ApplicationError(sentence.say(language, remedy=remedy), type=code, non_retryable=True)


def _busy(busy: PlannerBusy, language: Language) -> ApplicationError:
    delay = None if busy.retry_after_seconds is None else timedelta(seconds=busy.retry_after_seconds)
    return ApplicationError(texts.BUSY.say(language, reason=str(busy)), type="busy", next_retry_delay=delay)
