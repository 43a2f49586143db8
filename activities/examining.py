"""Examine a call: does the tool exist, do the arguments fit, what would it do, and what does policy say to that."""

import asyncio
import json
from dataclasses import dataclass

from activities.catalogue import Catalogue
from activities.policy_source import PolicySource
from activities.preview import one_line, preview
from activities.tool import BadArguments, Tool
from contracts.activities import Demands, JudgeOutcome, JudgeRequest
from contracts.blobs import Blobs
from contracts.provenance import Provenance
from contracts.tools import ToolCall, args_digest
from contracts.values import JsonObject
from contracts.verdicts import Deny, Question, Reason


@dataclass(frozen=True)
class Examined:
    """A judged call; `tool` is None where there is nothing that could run."""

    outcome: JudgeOutcome
    tool: Tool | None
    args: JsonObject
    question: Question | None = None
    """As policy was asked it."""


class Examiner:
    """The one way to a verdict: the judge activity and the acting worker both take it."""

    def __init__(self, catalogue: Catalogue, policy: PolicySource, blobs: Blobs) -> None:
        self._catalogue = catalogue
        self._policy = policy
        self._blobs = blobs

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
        question = _question(tool, args, request)
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
        return Examined(outcome, tool, args, question)


def _question(tool: Tool, args: JsonObject, request: JudgeRequest) -> Question:
    return Question(
        actor=request.actor,
        tool=tool.spec.name,
        args=args,
        actions=tool.actions(args),
        spoken_hosts=request.spoken_hosts,
        approved_hosts=request.approved_hosts,
        provenance=_provenance(request),
        tainted=request.tainted,
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
