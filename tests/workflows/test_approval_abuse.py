"""A thousand abused approvals change nothing, and the honest ones among them do."""

from collections import Counter
from collections.abc import Callable

import pytest

from tests.workflows.approval_abuse import ABUSES, APPROVER, Scene, scene, seeded, yes


def test_of_a_thousand_abused_approvals_none_is_honoured() -> None:
    chance = seeded()
    tried: Counter[str] = Counter()
    wrongly: Counter[str] = Counter()

    for number in range(1_000):
        abuse = ABUSES[number % len(ABUSES)]
        tried[abuse.__name__] += 1
        wrongly[abuse.__name__] += abuse(scene(chance))

    assert sum(tried.values()) == 1_000
    assert +wrongly == Counter()


@pytest.mark.parametrize("abuse", ABUSES, ids=lambda abuse: abuse.__name__)
def test_no_abuse_of_a_kind_is_honoured(abuse: Callable[[Scene], bool]) -> None:
    chance = seeded()

    assert not any(abuse(scene(chance)) for _ in range(20))


def test_every_honest_approval_is_honoured_and_covers_exactly_its_calls() -> None:
    chance = seeded()
    for _ in range(200):
        at = scene(chance)

        assert at.decided(at.yes)
        assert all(at.runs(at.approval, put) for put in at.puts)


@pytest.mark.parametrize("by", [APPROVER, "console:anna", "telegram:7"])
def test_the_person_the_owner_and_whom_the_policy_names_may_decide(by: str) -> None:
    at = scene(seeded(), step_up=False)

    assert at.decided(yes(at.approval, by))


def test_who_the_gateway_knows_as_the_owner_may_decide_for_anyone() -> None:
    at = scene(seeded(), step_up=False)

    assert at.decided(yes(at.approval, "telegram:99").model_copy(update={"as_owner": True}))


def test_a_no_needs_no_second_factor() -> None:
    at = scene(seeded(), step_up=True)

    assert at.decided(at.yes.model_copy(update={"step_up": None, "approve": False}))
