"""Who may speak, by the policy file over every stored pairing; and what its owner is told of the file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.channels.telegram import Telegram
from gateway.outbox import Outbox
from gateway.pairing import Pairing, Person
from gateway.speaking import Speaker
from gateway.store import Store
from gateway.tidings import Tidings
from tests.gateway.made import CHAT, bot, fast_pace, known_chat
from tests.telegram_server.server import TelegramServer
from workers.gateway import PolicyAccess
from workers.policy_in_force import policy_in

POLICY = """
roles:
  - {role: owner, permissions: {cli: {read: [/workspace]}}}
  - {role: member, senders: ["telegram:2"]}
"""


def write(path: Path, text: str) -> None:
    path.write_text(text)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "policy.yaml"
    write(found, POLICY)
    return found


@pytest.fixture
def access(path: Path) -> PolicyAccess:
    return PolicyAccess(policy_in(path))


@pytest.fixture
async def pairing(store: Store, access: PolicyAccess) -> Pairing:
    found = Pairing(store, access=access)
    for user in ("1", "2", str(CHAT)):
        await found.add(Person("telegram", user, "Ann", "owner"))
    return found


async def role_of(pairing: Pairing, user: str) -> str | None:
    person = await pairing.person("telegram", user)
    return person.role if person else None


async def test_the_role_of_the_file_wins_over_the_one_of_the_pairing(pairing: Pairing) -> None:
    assert [await role_of(pairing, user) for user in ("1", "2", "3")] == ["owner", "member", None]
    assert [person.role for person in await pairing.people()] == ["owner", "member", "owner"]


async def test_a_sender_who_is_blocked_is_nobody_at_once_and_no_code_helps(pairing: Pairing, path: Path) -> None:
    code = await pairing.new_code("owner")

    write(path, POLICY + "blocked_senders: ['telegram:1', 'telegram:3']\n")

    assert await role_of(pairing, "1") is None
    assert await pairing.is_blocked("telegram", "3")
    assert [person.user_id for person in await pairing.people()] == ["2", str(CHAT)]
    await pairing.claim("telegram", "3", "3", "Eve", code)
    assert await role_of(pairing, "3") is None


async def test_a_broken_file_leaves_the_former_rules_in_force(pairing: Pairing, path: Path) -> None:
    write(path, POLICY + "blocked_senders: [telegram:1]\nmistake: 1\n")

    assert await role_of(pairing, "1") == "owner"


@pytest.fixture
async def telegram(server: TelegramServer) -> AsyncIterator[Telegram]:
    known_chat(server)
    found = bot(server)
    yield found
    await found.stop()
    await found.close()


async def test_the_owner_is_told_once_of_a_refused_change_and_when_the_file_is_in_force_again(
    server: TelegramServer, store: Store, pairing: Pairing, access: PolicyAccess, path: Path, telegram: Telegram
) -> None:
    await pairing.remove("telegram", "1")
    tidings = Tidings(access, pairing, {"telegram": Speaker(telegram, Outbox(store), fast_pace())})
    await tidings.refresh()

    write(path, POLICY + "mistake: 1\n")
    await tidings.refresh()
    await tidings.refresh()
    write(path, POLICY + "# as it was\n")
    await tidings.refresh()

    refused, again = [str(message["text"]) for message in server.from_bot(CHAT)]
    assert "policy.yaml:5: unknown key 'mistake'" in refused
    assert "in force again" in again
