"""Examine a call: does the tool exist, do the arguments fit, what would it do, and what does policy say to that."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from activities.catalogue import Catalogue
from activities.policy_source import PolicySource
from activities.preview import one_line, preview
from activities.provenance.gathering import Gathered, Gathering
from activities.provenance.tracing import given, traced
from activities.tool import BadArguments, Tool
from contracts.activities import Demands, JudgeOutcome, JudgeRequest
from contracts.blobs import Blobs
from contracts.provenance import Provenance, ToolLabels, Traced
from contracts.tools import ToolCall, args_digest
from contracts.values import JsonObject
from contracts.verdicts import Deny, Question, Reason


@dataclass(frozen=True)
class Examined:
    """A judged call; `tool` is None where there is nothing that could run."""

    outcome: JudgeOutcome
    tool: Tool | None
    args: JsonObject
    arguments: tuple[Traced, ...] = ()
    """The arguments, taken to where they came from."""
    given: Provenance | None = None
    """Of all arguments together; None if they were not looked at."""


class Examiner:
    """The one way to a verdict: the judge activity and the acting worker both take it."""

    def __init__(
        self,
        catalogue: Catalogue,
        policy: PolicySource,
        blobs: Blobs,
        gathering: Gathering | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        """Without `gathering` the task's taint alone says where arguments came from."""
        self._catalogue = catalogue
        self._policy = policy
        self._blobs = blobs
        self._gathering = gathering
        self._now = now

    async def examine(self, request: JudgeRequest) -> Examined:
        """Raises: BlobMissing, BlobDamaged."""
        call = request.call
        tool = self._catalogue.find(call.tool)
        if tool is None:
            return _unknown("unknown_tool", f"there is no tool named {call.tool[:64]!a}", call.tool, {})
        args = await self._arguments(call)
        try:
            return await self._judged(tool, args, request)
        except BadArguments as problem:
            return _unknown("bad_arguments", str(problem), call.tool, args)

    async def _arguments(self, call: ToolCall) -> JsonObject:
        if call.args_ref is None:
            return call.args or {}
        args: JsonObject = json.loads(await self._blobs.get(call.args_ref))
        return args

    async def _judged(self, tool: Tool, args: JsonObject, request: JudgeRequest) -> Examined:
        if args_digest(tool.spec.name, args) != request.call.args_sha256:
            raise BadArguments("arguments: they are not the ones that their digest was taken of")
        self._catalogue.check(tool.spec.name, args)
        gathered = await self._gathered(request)
        question = await asyncio.to_thread(self._question, tool, args, request, gathered)
        verdict = await asyncio.to_thread(self._policy.judge, question)
        demands = Demands()
        if tool.spec.needs_sandbox:
            demands = await asyncio.to_thread(self._policy.demands, question, verdict)
        outcome = JudgeOutcome(
            verdict=verdict,
            preview=tool.preview(args),
            needs_sandbox=tool.spec.needs_sandbox,
            repeatable=tool.spec.repeatable,
            timeout_seconds=tool.timeout_seconds(args),
            demands=demands,
        )
        came_from = given(request.call, question.arguments, tainted=request.tainted)
        return Examined(outcome, tool, args, question.arguments, came_from)

    async def _gathered(self, request: JudgeRequest) -> Gathered | None:
        if self._gathering is None or request.transcript_ref is None:
            return None
        return await self._gathering.gathered(request.transcript_ref, request.actor.user_id, self._labels_of)

    def _labels_of(self, name: str) -> ToolLabels:
        tool = self._catalogue.find(name)
        return ToolLabels() if tool is None else tool.spec.labels

    def _question(self, tool: Tool, args: JsonObject, request: JudgeRequest, gathered: Gathered | None) -> Question:
        labels = tool.spec.labels
        arguments: tuple[Traced, ...] = ()
        if self._gathering is not None:
            arguments = traced(request.call, args, labels, gathered, tainted=request.tainted)
        return Question(
            actor=request.actor,
            tool=tool.spec.name,
            args=args,
            actions=tool.actions(args),
            spoken_hosts=request.spoken_hosts,
            approved_hosts=request.approved_hosts,
            provenance=_provenance(request),
            tainted=request.tainted,
            private=request.private,
            labels=labels,
            arguments=arguments,
            spoken_effects=gathered.spoken_effects if gathered else (),
            suspicion=gathered.suspicion if gathered else 0.0,
            at=self._now() if self._now else None,
            task_risk=request.task_risk,
        )


def _provenance(request: JudgeRequest) -> Provenance:
    own_words = request.call.own_words
    trusted = not request.tainted if own_words is None else own_words
    return Provenance(trusted=trusted, origins=("user",) if own_words else ("planner",))


def _unknown(rule: str, problem: str, tool: str, args: JsonObject) -> Examined:
    outcome = JudgeOutcome(
        verdict=Deny(reasons=(Reason(rule=rule, detail=one_line(tool if rule == "unknown_tool" else problem)),)),
        preview=preview(args),
        known=False,
        needs_sandbox=False,
        problem=problem,
    )
    return Examined(outcome, None, args)
