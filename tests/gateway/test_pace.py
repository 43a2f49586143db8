"""The rate budget: short bursts at once, then one a second, and silence while the platform wants it."""

import pytest

from gateway.pace import MAX_SLOWNESS, Pace


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.sleeps: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pace(clock: Clock) -> Pace:
    return Pace(clock=clock, sleep=clock.sleep)


async def test_a_chat_gets_a_short_burst_and_then_one_a_second(pace: Pace, clock: Clock) -> None:
    begun = clock.now
    for _ in range(3):
        await pace.turn("a")
    assert clock.now - begun < 0.2

    for _ in range(10):
        await pace.turn("a")

    assert clock.now - begun == pytest.approx(10, abs=0.5)


async def test_one_busy_chat_does_not_slow_another(pace: Pace, clock: Clock) -> None:
    for _ in range(5):
        await pace.turn("a")
    begun = clock.now

    await pace.turn("b")

    assert clock.now - begun < 0.1


async def test_all_chats_together_keep_the_budget_of_the_bot(pace: Pace, clock: Clock) -> None:
    begun = clock.now

    for number in range(250):
        await pace.turn(str(number))

    assert clock.now - begun == pytest.approx(10, abs=0.5)


async def test_after_a_complaint_nothing_goes_out_before_its_time_not_even_what_is_urgent(
    pace: Pace, clock: Clock
) -> None:
    begun = clock.now
    pace.complained("a", 7)

    await pace.turn("a", urgent=True)

    assert clock.now - begun >= 7
    assert len(clock.sleeps) == 1


async def test_complaints_make_a_chat_slower_up_to_a_bound_and_calm_makes_it_quick_again(
    pace: Pace, clock: Clock
) -> None:
    for _ in range(10):
        pace.complained("a", 1)
    await pace.turn("a")
    begun = clock.now
    await pace.turn("a")
    assert clock.now - begun == pytest.approx(MAX_SLOWNESS, abs=1)

    clock.now += 200
    await pace.turn("a")
    begun = clock.now
    await pace.turn("a")
    await pace.turn("a")

    assert clock.now - begun < 1


async def test_what_is_urgent_does_not_wait_for_a_busy_chat(pace: Pace, clock: Clock) -> None:
    for _ in range(4):
        await pace.turn("a")
    begun = clock.now

    await pace.turn("a", urgent=True)

    assert clock.now - begun < 0.1
