"""The planner that needs no model: commands, plain requests in English and Chinese, and playbooks.

It keeps nothing. What the person asked and what was done is read from the turns each time; several messages of one task
are worked through in their order, and one answer speaks of them all.
"""

import asyncio
import json
from collections.abc import Sequence
from typing import Literal

from activities.planner import (
    DraftCall,
    DraftCalls,
    DraftQuestion,
    DraftReply,
    PlannerContext,
    Thought,
)
from activities.planners.answers import answer_playbook, answer_request
from activities.planners.commands import PLAN, obey, split_command
from activities.planners.intents import understand
from activities.planners.requests import ASK, Request, requests_in
from activities.planners.shelf import LOADING, Shelf
from activities.planners.understanding import AskBack, Do, Load, Say, Understood
from activities.playbook.progress import Past, Standing, State, progress
from contracts.blobs import Blobs
from contracts.language import Language
from contracts.texts import planner as texts
from contracts.texts import playbook as playbook_texts
from contracts.values import JsonObject

PREVIEW_CHARACTERS = 1_000
CONSENT_MARK = "?"
"""Ends the label of a question that asks for consent; no step id can hold it."""

_YES = frozenset(
    ["yes", "y", "ok", "okay", "sure", "approve", "是", "是的", "好", "好的", "可以", "行", "同意", "确认"]
)

Move = DraftReply | DraftCalls | DraftQuestion


class Rules:
    """Plans by rules alone; `blobs` holds attached playbooks."""

    def __init__(self, *, blobs: Blobs) -> None:
        self._shelf = Shelf(blobs)

    async def next_step(self, context: PlannerContext) -> Thought:
        """The next move for the first request that is not finished, or the answer to all."""
        replies: list[DraftReply] = []
        for request in requests_in(context.turns, context.results):
            move = await self._move(request, context)
            if not isinstance(move, DraftReply):
                return Thought(move)
            replies.append(move)
        return Thought(_joined(replies, context.language))

    async def _move(self, request: Request, context: PlannerContext) -> Move:
        names = frozenset(spec.name for spec in context.tools)
        command = split_command(request.text)
        is_playbook = command is not None and command[0] == PLAN
        understood = await self._understood(request, context, names)
        match understood:
            case Say():
                return DraftReply(understood.text, understood.outcome)
            case AskBack():
                return DraftQuestion(understood.question, label=request.label(understood.label))
            case Load():
                args: JsonObject = {"operation": "read", "path": understood.path}
                return DraftCalls((DraftCall("files", args, label=request.label(LOADING)),))
            case Do():
                return await asyncio.to_thread(_go_on, understood, request, context, is_playbook)

    async def _understood(self, request: Request, context: PlannerContext, names: frozenset[str]) -> Understood:
        command = split_command(request.text)
        if command is None:
            return await asyncio.to_thread(understand, request, names, context.language)
        if command[0] == PLAN:
            return await self._shelf.take(command[1], request, context.tools, context.language)
        return obey(*command, names, context.language)


def _go_on(work: Do, request: Request, context: PlannerContext, is_playbook: bool) -> Move:
    """Calls that can run now, else the next question, else the answer."""
    now = progress(work.playbook, work.inputs, _past(request), _repeatable(context))
    ready = now.those(State.READY)
    if ready:
        return DraftCalls(
            tuple(
                DraftCall(
                    item.step.tool,
                    item.args,
                    label=request.label(item.step.id),
                    own_words=(work.own_words and not item.steered) or None,
                )
                for item in ready
            )
        )
    asking = now.those(State.ASKING)
    if asking:
        return _question(asking[0], request, context.language)
    answer = answer_playbook if is_playbook else answer_request
    return answer(work.playbook, now, context.language)


def _past(request: Request) -> Past:
    consents = {name: answer for name, answer in request.answers.items() if name.endswith(CONSENT_MARK)}
    return Past(
        outcomes=request.outcomes,
        answers={name: answer for name, answer in request.answers.items() if name not in consents},
        consents={name.removesuffix(CONSENT_MARK): _is_yes(answer) for name, answer in consents.items()},
    )


def _repeatable(context: PlannerContext) -> frozenset[str]:
    return frozenset(spec.name for spec in context.tools if spec.repeatable)


def _is_yes(answer: str | None) -> bool:
    return (answer or "").strip().strip(".!。！").lower() in _YES


def _question(asking: Standing, request: Request, language: Language) -> DraftQuestion:
    step = asking.step
    if step.tool == ASK:
        choices = asking.args.get("choices")
        return DraftQuestion(
            str(asking.args.get("question", "")),
            tuple(map(str, choices)) if isinstance(choices, list) else (),
            label=request.label(step.id),
        )
    preview = json.dumps(asking.args, ensure_ascii=False, indent=1)[:PREVIEW_CHARACTERS]
    return DraftQuestion(
        playbook_texts.CONSENT.say(language, step=step.id, tool=step.tool, preview=preview),
        (playbook_texts.YES.say(language), playbook_texts.NO.say(language)),
        label=request.label(f"{step.id}{CONSENT_MARK}"),
    )


def _joined(replies: Sequence[DraftReply], language: Language) -> DraftReply:
    """One answer to all messages; it is done only if every part is."""
    if not replies:
        return DraftReply(texts.NO_MESSAGE.say(language, help=texts.HELP.say(language)), "failed")
    outcomes = {reply.outcome for reply in replies}
    outcome: Literal["done", "partly_failed", "failed"] = "partly_failed" if len(outcomes) > 1 else replies[0].outcome
    return DraftReply("\n\n".join(reply.text for reply in replies), outcome)
