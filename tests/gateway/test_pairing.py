"""Who may speak: only who says the code, once, in time, and without guessing."""

from datetime import timedelta

import pytest

from gateway.pairing import STRANGERS_IN_ALL, TRIES_IN_ALL, TRIES_PER_CHAT, Pairing, looks_like_code
from gateway.store import Store


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pairing(store: Store, clock: Clock) -> Pairing:
    return Pairing(store, clock)


async def test_the_code_pairs_the_first_sender_as_owner_and_works_once(pairing: Pairing) -> None:
    code = await pairing.new_code()

    first = await pairing.claim("telegram", "1", "1", "Ann", code.lower().replace("-", " "))
    second = await pairing.claim("telegram", "2", "2", "Bob", code)

    assert (first, second) == ("paired", "wrong")
    person = await pairing.person("telegram", "1")
    assert person is not None
    assert person.role == "owner"
    assert await pairing.person("telegram", "2") is None
    assert await pairing.current_code() is None


async def test_the_next_code_is_for_a_member(pairing: Pairing) -> None:
    await pairing.claim("telegram", "1", "1", "Ann", await pairing.new_code())

    await pairing.claim("telegram", "2", "2", "Bob", await pairing.new_code())

    assert [person.role for person in await pairing.people()] == ["owner", "member"]


async def test_a_code_ends_with_its_time_and_with_the_next_code(pairing: Pairing, clock: Clock) -> None:
    old = await pairing.new_code()
    new = await pairing.new_code(life=timedelta(minutes=5))
    assert await pairing.claim("telegram", "1", "1", "Ann", old) == "wrong"

    clock.now += 301

    assert await pairing.claim("telegram", "1", "1", "Ann", new) == "wrong"
    assert await pairing.current_code() is None


async def test_guessing_is_bounded_in_a_chat_and_in_all(pairing: Pairing, clock: Clock) -> None:
    code = await pairing.new_code(life=timedelta(hours=3))
    for _ in range(TRIES_PER_CHAT):
        assert await pairing.claim("telegram", "9", "9", "Eve", "AAAA-AAAA") == "wrong"
    assert await pairing.claim("telegram", "9", "9", "Eve", code) == "too_many"

    for chat in range(TRIES_IN_ALL - TRIES_PER_CHAT):
        assert await pairing.claim("telegram", f"c{chat}", "9", "Eve", "AAAA-AAAA") == "wrong"
    assert await pairing.claim("telegram", "1", "1", "Ann", code) == "too_many"

    clock.now += 3_601
    assert await pairing.claim("telegram", "1", "1", "Ann", code) == "paired"


async def test_the_code_itself_is_nowhere_in_the_file(pairing: Pairing, store: Store) -> None:
    code = await pairing.new_code()

    kept = await store.rows("SELECT salt, digest, role FROM codes")

    assert code.replace("-", "") not in repr(kept)
    assert len(kept) == 1


async def test_a_removed_person_is_a_stranger_at_once(pairing: Pairing) -> None:
    await pairing.claim("telegram", "1", "1", "Ann", await pairing.new_code())

    assert await pairing.remove("telegram", "1")

    assert await pairing.person("telegram", "1") is None
    assert not await pairing.remove("telegram", "1")


async def test_a_stranger_is_greeted_once_a_day_and_not_every_stranger(pairing: Pairing, clock: Clock) -> None:
    assert await pairing.may_greet("telegram", "1")
    assert not await pairing.may_greet("telegram", "1")

    greeted = [await pairing.may_greet("telegram", f"s{number}") for number in range(STRANGERS_IN_ALL)]
    assert greeted == [True] * (STRANGERS_IN_ALL - 1) + [False]

    clock.now += 86_401
    assert await pairing.may_greet("telegram", "1")


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        ("abcd-efgh", True),
        ("ABCDEFGH", True),
        ("hello there", False),
        ("", False),
        ("ABCD-EFG1", False),
        ("x" * 9, False),
    ],
)
def test_only_what_looks_like_a_code_is_a_try(text: str, is_code: bool) -> None:
    assert looks_like_code(text) is is_code
