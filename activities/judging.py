"""The activity `judge`: local to the workflow worker, quick, and without any effect."""

from temporalio import activity

from activities import recording
from activities.examining import Examiner
from contracts import activities
from contracts.activities import JudgeOutcome, JudgeRequest
from contracts.audit import NoRecord, Recorder


class Judging(activities.Judging):
    """Puts each call to policy, and gives the verdict to history and to the audit."""

    def __init__(self, examiner: Examiner, recorder: Recorder | None = None) -> None:
        self._examiner = examiner
        self._recorder = recorder or NoRecord()

    @activity.defn(name="judge")
    async def judge(self, request: JudgeRequest) -> JudgeOutcome:
        examined = await self._examiner.examine(request)
        await self._recorder.record(recording.verdict(request, examined))
        return examined.outcome
