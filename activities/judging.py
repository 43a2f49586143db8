"""The activity `judge`: local to the workflow worker, quick, and without any effect."""

from temporalio import activity

from activities.examining import Examiner
from contracts import activities
from contracts.activities import JudgeOutcome, JudgeRequest


class Judging(activities.Judging):
    """Puts each call to policy, and gives the verdict to history."""

    def __init__(self, examiner: Examiner) -> None:
        self._examiner = examiner

    @activity.defn(name="judge")
    async def judge(self, request: JudgeRequest) -> JudgeOutcome:
        examined = await self._examiner.examine(request)
        return examined.outcome
