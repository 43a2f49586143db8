"""The running system puts to policy what the replay of AgentDojo puts to it: recorded traces, through both."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from activities.catalogue import Catalogue
from activities.examining import Examiner
from activities.planners.past import Past
from activities.policy_source import PolicySource
from activities.provenance.gathering import Gathering
from activities.tool import Tool, ToolContext
from bench.agentdojo.asking import PERSON, Kind, Task, actions_of, kinds, policy, question_of
from contracts.activities import JudgeRequest
from contracts.language import Language
from contracts.provenance import Provenance
from contracts.tools import ToolCall, ToolResult, ToolSpec, args_digest
from contracts.transcript import PlannerTurn, ToolTurn, UserTurn
from contracts.values import JsonObject
from contracts.verdicts import Action, Question, Verdict
from memory.transcript import Transcript
from policy.judge import judge
from tests.policy.test_agentdojo import records
from tests.tools.acting_parts import Says
from tests.tools.conftest import MemoryBlobs

NOW = datetime(2026, 5, 1, tzinfo=UTC)
SAME = frozenset(("actions", "arguments", "delegated", "labels", "spoken_effects", "spoken_recipients", "tainted"))


@dataclass(frozen=True)
class Recorded:
    """A tool of the package, as a tool of ours; nothing of it runs."""

    name: str
    kind: Kind

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name=self.name,
            description="-",
            parameters={"type": "object"},
            repeatable=True,
            needs_sandbox=False,
            labels=self.kind.labels,
        )

    def actions(self, args: JsonObject) -> tuple[Action, ...]:
        return actions_of(self.name, args)

    def summary(self, args: JsonObject, language: Language) -> str:
        return self.name

    def preview(self, args: JsonObject) -> str:
        return self.name

    def timeout_seconds(self, args: JsonObject) -> float:
        return 1.0

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        raise NotImplementedError


class Dojo(Says):
    """Answers by the policy of the replay, and keeps what it was asked."""

    def judge(self, question: Question) -> Verdict:
        self.questions.append(question)
        return judge(question, policy())


@dataclass
class System:
    """The judge of a running system, and the transcript of one task."""

    blobs: MemoryBlobs
    task: Task
    transcript: Transcript
    asked: Dojo
    examiner: Examiner
    request: JudgeRequest | None = None
    calls: int = 0

    @classmethod
    def of(cls, blobs: MemoryBlobs, task: Task) -> "System":
        tools: Sequence[Tool] = [Recorded(name, kind) for name, kind in kinds().items()]
        asked, transcript = Dojo(), Transcript(blobs)
        source: PolicySource = asked
        gathering = Gathering(transcript, Past(blobs))
        examiner = Examiner(Catalogue(tools), source, blobs, now=lambda: NOW, gathering=gathering)
        return cls(blobs, task, transcript, asked, examiner)

    async def judged(self, tool: str, args: JsonObject) -> tuple[Question, Verdict]:
        self.calls += 1
        what = ToolCall(
            call_id=f"c{self.calls}", tool=tool, args=args, args_sha256=args_digest(tool, args), summary="-"
        )
        ref = None if self.request is None else self.request.transcript_ref
        if ref is None:
            ref = await self.transcript.append(None, [UserTurn(text=self.task.prompt, at=NOW)])
        bench = question_of(self.task, tool, args)
        self.request = JudgeRequest(
            task_id="task",
            actor=PERSON,
            call=what,
            spoken_hosts=bench.spoken_hosts,
            approved_hosts=bench.approved_hosts,
            tainted=bench.tainted,
            private=bench.private,
            transcript_ref=ref,
        )
        examined = await self.examiner.examine(self.request)
        return self.asked.questions[-1], examined.outcome.verdict

    async def sees(self, text: str, ids: Sequence[str]) -> None:
        """The result of the call that was judged last."""
        assert self.request is not None
        call, labels = self.request.call, kinds()[self.request.call.tool].labels
        provenance = Provenance(
            trusted=labels.output != "foreign", origins=(call.tool,), confidentiality=labels.confidentiality
        )
        data: JsonObject = {"rows": [{labels.ids[0]: one} for one in ids if labels.ids[0] != "*"]} if ids else {}
        if ids and labels.ids[0] == "*":
            data = {"rows": list(ids)}
        result = ToolResult(
            call_id=call.call_id, tool=call.tool, ok=True, headline="", text=text, data=data, provenance=provenance
        )
        stored = await self.blobs.put(result.model_dump_json().encode())
        turn = ToolTurn(call_id=call.call_id, tool=call.tool, ok=True, headline="", result_ref=stored)
        ref = await self.transcript.append(self.request.transcript_ref, [PlannerTurn(step=1, calls=(call,)), turn])
        self.request = self.request.model_copy(update={"transcript_ref": ref})


@pytest.mark.parametrize("record", [*records(attack=True), *records(attack=False)])
async def test_a_recorded_trace_is_judged_alike_by_the_system_and_by_the_replay(
    record: dict[str, Any], blobs: MemoryBlobs
) -> None:
    task = Task.of(record["prompt"])
    system = System.of(blobs, task)
    for call in record["calls"]:
        bench = question_of(task, call["tool"], call["args"])

        question, verdict = await system.judged(call["tool"], call["args"])

        assert question.model_dump(include=set(SAME)) == bench.model_dump(include=set(SAME))
        assert verdict.kind == judge(bench, policy()).kind
        assert verdict.reasons == judge(bench, policy()).reasons
        if call["ran"]:
            if call["verdict"] == "ask":
                task.grant(call["tool"], call["args"])
            text, ids = call.get("text", ""), call.get("ids", ())
            task.see(call["tool"], call["args"], text, ids)
            await system.sees(text, ids)
