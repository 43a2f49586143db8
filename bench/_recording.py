"""The activities that do nothing, with the audit lines that real ones write: a verdict, and an effect's two ends."""

from temporalio import activity

from activities import recording
from activities.examining import Examined
from bench._noop import ARGS, DIGEST, Noop
from contracts.activities import JudgeOutcome, JudgeRequest, RunOutcome, RunRequest
from contracts.audit import NoRecord, Recorder
from contracts.blobs import BlobRef
from contracts.provenance import Provenance
from contracts.tools import ToolResult
from contracts.verdicts import Allow, CommandAction, Question


class Recording(Noop):
    """Writes to `recorder`, which a bench changes between rounds."""

    def __init__(self, steps: int) -> None:
        super().__init__(steps)
        self.recorder: Recorder = NoRecord()

    @activity.defn(name="judge")
    async def judge(self, request: JudgeRequest) -> JudgeOutcome:
        outcome = await super().judge(request)
        actions = (CommandAction(script=ARGS["script"]),)
        question = Question(actor=request.actor, tool="shell", args=dict(ARGS), actions=actions)
        examined = Examined(outcome, None, dict(ARGS), question=question)
        await self.recorder.record(recording.verdict(request, examined))
        return outcome

    @activity.defn(name="run_tool")
    async def run_tool(self, request: RunRequest) -> RunOutcome:
        await self.recorder.record(recording.begun(request, Allow(), "bench"))
        outcome = await super().run_tool(request)
        turn = outcome.turn
        result = ToolResult(
            call_id=turn.call_id,
            tool=turn.tool,
            ok=True,
            headline=turn.headline,
            text="",
            provenance=Provenance(trusted=True),
        )
        await self.recorder.record(recording.ended(request, result, BlobRef(sha256=DIGEST, size=1), 0.0))
        return outcome
