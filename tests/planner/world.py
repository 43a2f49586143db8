"""A task in small: the real `plan` activity, tools in memory, and the loop that a workflow would be."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from temporalio.testing import ActivityEnvironment

from activities.planner import Planner
from activities.planners.drafts import problem_of
from activities.planning import Thinking
from activities.tool import ToolContext
from contracts.blobs import BlobRef
from contracts.language import language_of
from contracts.messages import Attachment
from contracts.planning import AskUser, PlanOutcome, PlanRequest, Reply, ToolCalls, Usage
from contracts.tools import ToolCall, ToolResult
from contracts.transcript import ToolTurn, Turn, UserTurn
from tests.planner.stores import MemoryBlobs
from tests.planner.tools import UNTRUSTED, Desk, DeskTool, tools_of

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def said(text: str, *, question_id: str | None = None, attachments: tuple[Attachment, ...] = ()) -> UserTurn:
    return UserTurn(text=text, at=NOON, question_id=question_id, attachments=attachments)


@dataclass
class Task:
    """One task with its person; `answers` are given in turn when it asks."""

    make_planner: Callable[[MemoryBlobs], Planner]
    desk: Desk
    tools: Mapping[str, DeskTool]
    blobs: MemoryBlobs
    thinking: Thinking
    ref: BlobRef | None = None
    step: int = 0
    usage: Usage = field(default_factory=Usage)
    budget_usd: float | None = None
    outcomes: list[PlanOutcome] = field(default_factory=list)
    asked: list[AskUser] = field(default_factory=list)
    language: str = "en"
    attempt: int = 1

    @property
    def batches(self) -> list[list[tuple[str, dict[str, object]]]]:
        """Tool and arguments of every call, one list for each step."""
        steps = [outcome.next_step for outcome in self.outcomes]
        return [[(call.tool, dict(call.args or {})) for call in s.calls] for s in steps if isinstance(s, ToolCalls)]

    async def plan(self, *additions: Turn) -> PlanOutcome:
        """One planning, in a real activity environment."""
        request = PlanRequest.model_validate(
            {
                "task_id": "t1",
                "step": self.step,
                "language": self.language,
                "transcript_ref": self.ref,
                "additions": additions,
                "usage": self.usage,
                "budget_usd": self.budget_usd,
            }
        )
        environment = ActivityEnvironment()
        environment.info = replace(environment.info, attempt=self.attempt)
        outcome: PlanOutcome = await environment.run(self.thinking.plan, request)
        self.ref, self.step = outcome.transcript_ref, self.step + 1
        self.usage = self.usage.plus(outcome.usage)
        self.outcomes.append(outcome)
        return outcome

    async def run(self, text: str, *answers: str, attachments: tuple[Attachment, ...] = ()) -> Reply:
        """Work until the answer. Raises: AssertionError if it asks more than it is answered."""
        self.language = language_of(text)
        waiting = list(answers)
        additions: list[Turn] = [said(text, attachments=attachments)]
        for _ in range(30):
            outcome = await self.plan(*additions)
            match outcome.next_step:
                case Reply() as reply:
                    return reply
                case AskUser() as asked:
                    self.asked.append(asked)
                    assert waiting, f"asked without an answer at hand: {asked.question}"
                    additions = [said(waiting.pop(0), question_id=f"q{self.step}")]
                case ToolCalls() as calls:
                    additions = [await self.act(call) for call in calls.calls]
        raise AssertionError("the task does not come to an end")

    async def act(self, call: ToolCall) -> ToolTurn:
        """What the judge and the tool would do."""
        args = call.args if call.args_ref is None else json.loads(await self.blobs.get(call.args_ref))
        assert args is not None
        tool = self.tools.get(call.tool)
        if tool is None:
            return await self._turn(self._failed(call, "unknown_tool", f"no tool named {call.tool!r}"))
        problem = problem_of(args, tool.spec.parameters)
        if problem:
            return await self._turn(self._failed(call, "bad_arguments", problem))
        context = ToolContext("t1", call.call_id, "u1", "en", self.blobs, lambda _: None, None)
        return await self._turn(await tool.run(args, context))

    def _failed(self, call: ToolCall, error: str, text: str) -> ToolResult:
        return ToolResult(
            call_id=call.call_id,
            tool=call.tool,
            ok=False,
            headline=text[:200],
            text=text,
            provenance=UNTRUSTED,
            error=error,
        )

    async def _turn(self, result: ToolResult) -> ToolTurn:
        return ToolTurn(
            call_id=result.call_id,
            tool=result.tool,
            ok=result.ok,
            headline=result.headline,
            result_ref=await self.blobs.put(result.model_dump_json().encode()),
            error=result.error,
        )


def task_of(make_planner: Callable[[MemoryBlobs], Planner], desk: Desk | None = None) -> Task:
    desk = desk or Desk()
    blobs, tools = MemoryBlobs(), tools_of(desk)
    thinking = Thinking(planner=make_planner(blobs), tools=tools, blobs=blobs)
    return Task(make_planner, desk, tools, blobs, thinking)
