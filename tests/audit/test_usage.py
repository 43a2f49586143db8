"""What is reserved is there before it is used, and never more of it than the ceiling, whoever else takes some."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from audit.habits import PLACES
from audit.storage import StorageUnusable
from audit.usage import Meter
from contracts.usage import Ceiling, Habits, Span, UsageKind, Use

PROJECT = Path(__file__).parents[2]
START = datetime(2026, 5, 1, 23, 30, tzinfo=UTC)
KEY = b"k" * 32


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def move(self, **time: float) -> datetime:
        self.now += timedelta(**time)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def open_meter(tmp_path: Path, clock: Clock) -> AsyncIterator[Callable[[], "asyncio.Future[Meter]"]]:
    opened: list[Meter] = []

    async def one() -> Meter:
        opened.append(await Meter.open(tmp_path / "usage.db", KEY, clock))
        return opened[-1]

    yield lambda: asyncio.ensure_future(one())
    for meter in opened:
        await meter.close()


@pytest.fixture
async def meter(open_meter: Callable[[], "asyncio.Future[Meter]"]) -> Meter:
    return await open_meter()


def use(call: str, amount: float = 1, kind: UsageKind = "requests", task: str = "t", user: str = "u") -> Use:
    return Use(key=f"{task}/{call}", task_id=task, user_id=user, amounts={kind: amount})


def most(amount: float, span: Span = "minute", kind: UsageKind = "requests") -> tuple[Ceiling, ...]:
    return (Ceiling(kind=kind, span=span, most=amount),)


async def test_uses_are_taken_up_to_the_ceiling_and_not_beyond_it(meter: Meter) -> None:
    taken = [await meter.reserve(use(f"c{number}"), most(3)) for number in range(4)]

    assert taken[:3] == [(), (), ()]
    assert [(one.used, one.wanted, one.ceiling.most) for one in taken[3]] == [(3, 1, 3)]


async def test_the_same_key_again_takes_nothing_more(meter: Meter) -> None:
    for _ in range(5):
        assert await meter.reserve(use("c1"), most(2)) == ()

    assert await meter.reserve(use("c2"), most(2)) == ()
    assert await meter.reserve(use("c3"), most(2)) != ()


async def test_all_amounts_are_taken_or_none(meter: Meter) -> None:
    ceilings = (*most(10), *most(5, kind="money"))
    dear = Use(key="t/a", task_id="t", user_id="u", amounts={"requests": 1, "money": 6})

    refused = await meter.reserve(dear, ceilings)

    assert [one.ceiling.kind for one in refused] == ["money"]
    assert await meter.reserve(use("b", 10), ceilings) == ()


async def test_what_a_person_insists_on_is_counted_beyond_the_ceiling(meter: Meter) -> None:
    await meter.reserve(use("a", 3), most(3))

    assert await meter.reserve(use("b"), most(3), force=True) == ()
    assert (await meter.reserve(use("c"), most(5, "hour")))[:1] == ()
    assert (await meter.reserve(use("d"), most(5, "hour")))[0].used == 5


async def test_what_was_not_used_is_given_back_and_what_was_used_counts(meter: Meter) -> None:
    await meter.reserve(use("a", 4, "money"), most(5, "day", "money"))
    await meter.reserve(use("b", 1, "money"), most(5, "day", "money"))

    await meter.settle("t/a", {"money": 1.5})
    await meter.settle("t/b", {"money": 0})
    await meter.settle("t/unknown", {"money": 7})

    assert await meter.reserve(use("c", 3.5, "money"), most(5, "day", "money")) == ()
    refused = await meter.reserve(use("b", 1, "money"), most(5, "day", "money"))
    assert refused[0].used == pytest.approx(5)


async def test_a_use_that_is_given_back_must_be_reserved_again(meter: Meter) -> None:
    await meter.reserve(use("a"), most(1))
    await meter.settle("t/a", {})
    await meter.reserve(use("b"), most(1))

    assert await meter.reserve(use("a"), most(1)) != ()


@pytest.mark.parametrize(
    ("span", "frees_after", "free_after"),
    [
        ("minute", timedelta(seconds=60), timedelta(seconds=60)),
        ("hour", timedelta(minutes=60), timedelta(minutes=60)),
        ("day", timedelta(minutes=30), timedelta(minutes=30)),
        ("task", None, None),
    ],
)
async def test_time_alone_frees_a_rate_and_the_day_at_midnight_but_never_the_task(
    meter: Meter, clock: Clock, span: Span, frees_after: timedelta | None, free_after: timedelta | None
) -> None:
    await meter.reserve(use("a"), most(2, span))
    clock.move(seconds=5)
    await meter.reserve(use("b"), most(2, span))

    refused = await meter.reserve(use("c"), most(2, span))

    assert refused[0].frees_at == (START + frees_after if frees_after else None)
    clock.now = START + (free_after or timedelta(days=3)) - timedelta(seconds=1)
    assert (await meter.reserve(use("c"), most(2, span)) == ()) == (free_after is None and span != "task")
    clock.now = START + (free_after or timedelta(days=3))
    assert (await meter.reserve(use("c"), most(2, span)) == ()) == (free_after is not None)


async def test_what_is_larger_than_the_ceiling_is_never_free(meter: Meter) -> None:
    assert (await meter.reserve(use("a", 3), most(2)))[0].frees_at is None


async def test_people_have_ceilings_of_their_own_and_share_them_among_their_tasks(meter: Meter) -> None:
    assert await meter.reserve(use("a", task="t1"), most(1)) == ()
    assert await meter.reserve(use("a", task="t2"), most(1)) != ()
    assert await meter.reserve(use("a", task="t3", user="other"), most(1)) == ()
    assert await meter.reserve(use("b", task="t2"), most(1, "task")) == ()


async def test_uses_are_forgotten_after_some_weeks(meter: Meter, clock: Clock) -> None:
    await meter.reserve(use("a"), most(1, "task"))
    clock.move(days=46)
    await meter.reserve(use("b", task="t2"), ())

    assert await meter.reserve(use("c"), most(1, "task")) == ()


async def test_two_hundred_at_once_take_what_there_is_and_no_more(
    open_meter: Callable[[], "asyncio.Future[Meter]"],
) -> None:
    meters = [await open_meter() for _ in range(3)]

    taken = await asyncio.gather(
        *(meters[number % 3].reserve(use(f"c{number}", 0.3, "money"), most(5, "day", "money")) for number in range(200))
    )

    assert sum(1 for one in taken if one == ()) == 16


HAMMER = """
import asyncio, sys
from datetime import UTC, datetime
from pathlib import Path
from audit.usage import Meter
from contracts.usage import Ceiling, Use

async def main(path, name):
    meter = await Meter.open(Path(path), b"k" * 32, lambda: datetime.now(UTC))
    ceilings = (Ceiling(kind="requests", span="day", most=50),)
    uses = [Use(key=f"{name}/{n}", task_id=name, user_id="u", amounts={"requests": 1}) for n in range(40)]
    taken = await asyncio.gather(*(meter.reserve(one, ceilings) for one in uses))
    print(sum(1 for one in taken if one == ()))
    await meter.close()

asyncio.run(main(*sys.argv[1:]))
"""


def test_processes_that_hammer_at_one_ceiling_never_go_over_it(tmp_path: Path) -> None:
    hammers = [
        subprocess.Popen(
            [sys.executable, "-c", HAMMER, str(tmp_path / "usage.db"), f"task{number}"],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]

    taken = [int(hammer.communicate()[0]) for hammer in hammers]

    assert sum(taken) == 50


async def test_without_its_file_nothing_is_reserved(tmp_path: Path) -> None:
    (tmp_path / "usage.db").write_bytes(b"this is no database, but it is long enough to be read as one" * 20)

    with pytest.raises(StorageUnusable, match=r"usage\.db"):
        await Meter.open(tmp_path / "usage.db", KEY, Clock())


async def test_somebody_new_has_no_habits(meter: Meter, clock: Clock) -> None:
    habits = await meter.habits("u", clock.now)

    assert habits == Habits(key=habits.key)
    assert habits.key != (await meter.habits("other", clock.now)).key


async def test_habits_are_the_hours_the_places_and_the_busiest_minute(meter: Meter, clock: Clock) -> None:
    for _ in range(3):
        await meter.learn("u", "t", clock.now, ("docs.example",))
    clock.move(hours=2)
    await meter.learn("u", "t", clock.now, ("Anna@example.com", "docs.example"))

    habits = await meter.habits("u", clock.now)

    assert (habits.calls, habits.hours[23], habits.hours[1]) == (4, 3, 1)
    assert (habits.last_minute, habits.last_hour, habits.busiest_minute) == (1, 1, 3)
    assert habits.knows("anna@example.com")
    assert habits.knows("DOCS.example")
    assert not habits.knows("evil.test")
    assert not (await meter.habits("other", clock.now)).knows("docs.example")


async def test_the_busiest_minute_is_remembered_and_not_the_calls_in_it(meter: Meter, clock: Clock) -> None:
    for _ in range(3):
        await meter.learn("u", "t", clock.now, ())
    for _ in range(4):
        clock.move(hours=3)
        await meter.learn("u", "t", clock.now, ())

    assert (await meter.habits("u", clock.now)).busiest_minute == 3


def written_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.glob("usage.db*"))


async def test_no_destination_is_readable_in_the_file(meter: Meter, tmp_path: Path, clock: Clock) -> None:
    await meter.learn("u", "t", clock.now, ("secret-place.example",))

    assert written_in(tmp_path).count(b"recent_by_person") > 0
    assert b"secret-place" not in written_in(tmp_path)


async def test_only_the_last_places_are_remembered(meter: Meter, clock: Clock) -> None:
    await meter.learn("u", "t", clock.now, ("first.example",))
    clock.move(seconds=1)
    await meter.learn("u", "t", clock.now, tuple(f"place-{number}.example" for number in range(PLACES)))

    habits = await meter.habits("u", clock.now)

    assert len(habits.destinations) == PLACES
    assert not habits.knows("first.example")
