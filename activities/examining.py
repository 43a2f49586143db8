"""Examine a call: does the tool exist, do the arguments fit, what would it do, and what does policy say to that."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from activities.binding import bound_of, operands_of
from activities.catalogue import Catalogue
from activities.metering import Meters, use_of, went_to, within_budget
from activities.policy_source import PolicySource
from activities.preview import one_line, preview
from activities.provenance.gathering import Gathered, Gathering
from activities.provenance.tracing import given, traced
from activities.tool import BadArguments, Tool
from contracts.activities import Demands, JudgeOutcome, JudgeRequest
from contracts.approvals import NoStandingRules, StandingRules
from contracts.blobs import Blobs
from contracts.provenance import Provenance, ToolLabels, Traced
from contracts.tools import ToolCall, args_digest
from contracts.usage import Exceeded, Unmetered, Use
from contracts.values import JsonObject
from contracts.verdicts import Allow, Ask, Deny, Question, Reason, Verdict
from policy.roles import BrowserRules


@dataclass(frozen=True)
class Examined:
    """A judged call; `tool` is None where there is nothing that could run."""

    outcome: JudgeOutcome
    tool: Tool | None
    args: JsonObject
    use: Use | None = None
    """What it uses up."""
    arguments: tuple[Traced, ...] = ()
    """The arguments, taken to where they came from."""
    given: Provenance | None = None
    """Of all arguments together; None if they were not looked at."""
    question: Question | None = None
    """As policy was asked it."""


class Examiner:
    """The one way to a verdict: the judge activity and the acting worker both take it."""

    def __init__(
        self,
        catalogue: Catalogue,
        policy: PolicySource,
        blobs: Blobs,
        standing: StandingRules | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        meters: Meters | None = None,
        gathering: Gathering | None = None,
    ) -> None:
        """Without `gathering` the task's taint alone says where arguments came from."""
        self._catalogue = catalogue
        self._policy = policy
        self._blobs = blobs
        self._standing = standing or NoStandingRules()
        self._now = now
        self._meters = meters or Meters(Unmetered(), now)
        self._gathering = gathering

    async def examine(
        self, request: JudgeRequest, real_paths: Mapping[str, str] | None = None, *, again: bool = False
    ) -> Examined:
        """`real_paths` says where paths of the sandbox lead now, beyond what the request says of it; `again` is for a
        call that was judged before and is now about to run.

        Raises: BlobMissing, BlobDamaged, StorageUnusable.
        """
        call = request.call
        tool = self._catalogue.find(call.tool)
        if tool is None:
            return _unknown("unknown_tool", f"there is no tool named {call.tool[:64]!a}", call.tool, {})
        args = await self._arguments(call)
        try:
            return await self._judged(tool, args, request, {**request.real_paths, **(real_paths or {})}, again=again)
        except BadArguments as problem:
            return _unknown("bad_arguments", str(problem), call.tool, args)

    async def browsing(self, role: str) -> BrowserRules:
        """What the policy in force says of addresses for a role."""
        return await asyncio.to_thread(self._policy.browsing, role)

    async def _arguments(self, call: ToolCall) -> JsonObject:
        if call.args_ref is None:
            return call.args or {}
        args: JsonObject = json.loads(await self._blobs.get(call.args_ref))
        return args

    async def _judged(
        self, tool: Tool, args: JsonObject, request: JudgeRequest, real: Mapping[str, str], *, again: bool
    ) -> Examined:
        if args_digest(tool.spec.name, args) != request.call.args_sha256:
            raise BadArguments("arguments: they are not the ones that their digest was taken of")
        self._catalogue.check(tool.spec.name, args)
        gathered = await self._gathered(request)
        traced_question = await asyncio.to_thread(self._question, tool, args, request, gathered)
        asked = traced_question.model_copy(update={"real_paths": dict(real)})
        question = await self._with_habits(await self._with_standing(asked, request), again=again)
        verdict = await asyncio.to_thread(self._policy.judge, question)
        use = use_of(request, question, verdict)
        question = question.model_copy(update={"exceeded": await self._exceeded(use, verdict, request)})
        if question.exceeded:
            verdict = await asyncio.to_thread(self._policy.judge, question)
        if isinstance(verdict, Allow) and not again:
            await self._meters.let_through(request, went_to(question, verdict))
        demands = Demands()
        if tool.spec.needs_sandbox:
            demands = await asyncio.to_thread(self._policy.demands, question, verdict)
        outcome = JudgeOutcome(
            verdict=verdict,
            preview="\n".join((tool.preview(args), *_leading(request.real_paths))),
            needs_sandbox=tool.spec.needs_sandbox,
            repeatable=tool.spec.repeatable,
            timeout_seconds=tool.timeout_seconds(args),
            demands=demands,
            bound=bound_of(
                tool.spec.name,
                request.call.args_sha256,
                question.actions,
                verdict.policy_version,
                tainted=request.tainted,
                leads=request.real_paths,
            ),
            operands=operands_of(question.actions) if isinstance(verdict, Ask) else (),
        )
        came_from = given(request.call, question.arguments, tainted=request.tainted)
        return Examined(outcome, tool, args, use, question.arguments, came_from, question)

    async def _exceeded(self, use: Use | None, verdict: Verdict, request: JudgeRequest) -> tuple[Exceeded, ...]:
        """The ceilings that the call would go over; without any, what it uses up is reserved."""
        if use is None or isinstance(verdict, Deny):
            return ()
        persons = await asyncio.to_thread(self._policy.ceilings, request.actor)
        return await self._meters.reserve(use, within_budget(request, persons))

    async def _with_habits(self, question: Question, *, again: bool) -> Question:
        """With what the person usually does.

        Not when a call is judged `again`, right before it runs: by then the calls beside it have made a burst of their
        own, and what was let through a moment ago would be asked.
        """
        if again or question.at is None:
            return question
        return question.model_copy(update={"habits": await self._meters.habits(question.actor.user_id, question.at)})

    async def _with_standing(self, question: Question, request: JudgeRequest) -> Question:
        """With what the person has let pass for good; read anew each time, so that a revocation holds at once."""
        at = self._now()
        standing = await self._standing.of(request.actor.user_id, request.task_id, at)
        return question.model_copy(update={"standing": standing, "at": at})

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
        question = Question(
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
            task_risk=request.task_risk,
        )
        return gathered.told(question) if gathered else question


def _leading(real_paths: Mapping[str, str]) -> Iterator[str]:
    for path, target in sorted(real_paths.items()):
        yield one_line(f"{path} → {target}")


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
