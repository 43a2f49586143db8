"""What one thought of a model may cost: reserved for the task and for its person before the model is asked."""

from collections.abc import Callable

from activities.planner import DraftQuestion
from contracts.language import Language
from contracts.planning import PlanRequest, Usage
from contracts.texts import budgets as texts
from contracts.texts import planner as planner_texts
from contracts.usage import Ceiling, Exceeded, Metering, UsageKind, Use, frees_at
from contracts.verdicts import Actor

CeilingsOf = Callable[[Actor], tuple[Ceiling, ...]]
"""What a person may use up, by the policy in force."""

_THINKING: tuple[UsageKind, ...] = ("money", "tokens")


class StepBudget:
    """One for each attempt at a step; `attempt` is unlike that of any other one."""

    def __init__(self, request: PlanRequest, ceilings: tuple[Ceiling, ...], metering: Metering, attempt: str) -> None:
        self._request = request
        self._ceilings = ceilings
        self._metering = metering
        self._key = f"{request.task_id}/plan-{request.step}-{attempt}"
        self.exceeded: tuple[Exceeded, ...] = ()
        """The budgets that the last reservation would have gone over."""

    async def reserve(self, most: Usage) -> DraftQuestion | None:
        """Take what the thought may cost at most; if a budget does not bear that, the question to put instead.

        Raises: StorageUnusable; then the model must not be asked.
        """
        self.exceeded = self._beyond_task(most) or await self._metering.reserve(self._use(most), self._ceilings)
        return self._question() if self.exceeded else None

    async def settle(self, spent: Usage) -> None:
        """Replace what was reserved by what it did cost; nothing gives all back. Raises: StorageUnusable."""
        await self._metering.settle(self._key, _amounts(spent))

    def _beyond_task(self, most: Usage) -> tuple[Exceeded, ...]:
        """By what the task itself knows that it has spent, which a machine that it has come to may not know."""
        budget, spent = self._request.budget_usd, self._request.usage.cost_usd
        if budget is None or spent + most.cost_usd <= budget:
            return ()
        return (Exceeded(ceiling=_own(budget), used=spent, wanted=most.cost_usd),)

    def _use(self, most: Usage) -> Use:
        actor = self._request.actor
        return Use(
            key=self._key,
            task_id=self._request.task_id,
            user_id=actor.user_id if actor else "",
            amounts=_amounts(most),
        )

    def _question(self) -> DraftQuestion:
        """About the first budget that is in the way; the task's own comes first."""
        first, language = self.exceeded[0], self._request.language
        is_own = self._request.budget_usd is not None and first.ceiling == _own(self._request.budget_usd)
        how = (texts.RAISES_TASK if is_own else texts.LETS_BEYOND).say(language)
        at = frees_at(self.exceeded)
        if at is not None:
            how = f"{how} {texts.FREE_AGAIN.say(language, at=at)}"
        say = texts.OVER.say(
            language,
            unit=texts.UNITS[first.ceiling.kind].say(language),
            whose=texts.WHOSE[first.ceiling.span].say(language),
            wanted=_shown(first, first.wanted),
            most=_shown(first, first.ceiling.most),
            used=_shown(first, first.used),
            how=how,
        )
        return DraftQuestion(say, _choices(language, is_own=is_own), over_budget=True)


def ceilings_for(request: PlanRequest, ceilings: tuple[Ceiling, ...]) -> tuple[Ceiling, ...]:
    """Those that a thought of this task counts against: the person's, unless they let it go beyond, and its own."""
    persons = tuple(ceiling for ceiling in ceilings if ceiling.kind in _THINKING and not request.beyond)
    if request.budget_usd is None:
        return persons
    return (_own(request.budget_usd), *persons)


def _own(budget_usd: float) -> Ceiling:
    """The budget that the task itself was given."""
    return Ceiling(kind="money", span="task", most=budget_usd)


def _choices(language: Language, *, is_own: bool) -> tuple[str, str]:
    go_on = planner_texts.RAISE_BUDGET if is_own else texts.GO_ON
    return go_on.say(language), planner_texts.STOP_HERE.say(language)


def _amounts(usage: Usage) -> dict[UsageKind, float]:
    return {"money": usage.cost_usd, "tokens": usage.input_tokens + usage.output_tokens}


def _shown(exceeded: Exceeded, amount: float) -> str:
    return f"{amount:.4f}" if exceeded.ceiling.kind == "money" else f"{amount:,.0f}"
