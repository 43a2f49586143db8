"""Promises that the host of sandboxes keeps, and how each is broken."""

import asyncio
import os
from collections.abc import Awaitable, Collection
from datetime import datetime
from typing import Any

import pytest

from contracts.messages import HostGrant
from contracts.sandbox import Command, CommandOutcome, Lease, Progress
from sandbox import bubbles, far_end, resolving
from sandbox.admission import Admission
from sandbox.commands import Commands
from sandbox.host import SandboxHost
from sandbox.opened import Connections
from sandbox.quota import Quota
from sandbox.records import Record, Register
from sandbox.resolving import Open, Resolve
from sandbox.rules import Laws, Refused
from sandbox.session import OpenSandbox
from sandbox.snapshots import filling, restoring
from sandbox.snapshots.collecting import Collector
from sandbox.snapshots.descending import Descent
from sandbox.snapshots.shelves import Shelves
from sandbox.sweeping import Sweep
from sandbox.warm import Ready, WarmPool
from tests.invariants.switch import Break, Switch, always, replaced
from workers.host_api import guard
from workers.host_api.doors import Doors


class Anything:
    """Equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


def _reworded(words: str, by: str) -> Break:
    """Other words in the program that runs in a bubble."""

    def break_it(patch: pytest.MonkeyPatch) -> None:
        text = far_end.agent_in_a_bubble()
        assert text.count(words.encode()) == 1
        patch.setattr(bubbles, "agent_in_a_bubble", always(text.replace(words.encode(), by.encode())))

    return break_it


def _of_whatever_epoch(host: SandboxHost, lease: Lease) -> Record:
    record = host._register.get(lease.sandbox_id)
    assert record is not None
    return record


async def _given_up_by_anybody(host: SandboxHost, lease: Lease) -> None:
    record = host._register.get(lease.sandbox_id)
    if record is not None:
        await host._removals.give_up(record)


async def _entered_under_any_epoch(doors: Doors, sandbox_id: str, _: int) -> Lease:
    return next(doors._lease_of(each) for each in await doors.hosted() if each.sandbox_id == sandbox_id)


def _whoever_asks(register: Register, _: str) -> Record | None:
    return next((row for row in register.rows if row.state == "leased"), None)


_stays = Sweep._stays


def _stays_while_any_lives(sweep: Sweep, row: Record, leases: Collection[tuple[str, int]]) -> bool:
    """The last sweep of a test clears up after it."""
    return bool(leases) or _stays(sweep, row, leases)


def _taken_and_left(pool: WarmPool, image: str, runtime: str) -> Ready | None:
    return next((one for one in pool._ready if one.fits(image, runtime)), None)


def _counts_for_nobody(_: Connections, opened: OpenSandbox, lease: Lease) -> None:
    opened.hand_over(lease)


async def _again(_: SandboxHost, record: Record, __: object) -> Record:
    return record


_run = Commands.run


async def _under_another_key(
    commands: Commands, command: Command, key: str, progress: Progress | None
) -> CommandOutcome:
    return await _run(commands, command, f"{id(commands):x}{key}"[: len(key)], progress)


async def _unheard(_: Quota, acting: "asyncio.Future[CommandOutcome]", end: Any, __: bool) -> bool:
    """The disk is over its bound, and what runs goes on; for a moment, so that the test comes to an end."""
    await asyncio.wait([acting], timeout=2)
    await end()
    await acting
    return False


_collect = Collector.collect


def _whatever_is_live(
    collector: Collector, _: Collection[str], owners: Collection[str], now: datetime
) -> Awaitable[int]:
    return _collect(collector, (), owners, now)


def _followed(_: Descent, folder: int, name: str, *__: object) -> int:
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)


def _one_for_all(shelves: Shelves, _: str) -> str:
    return f"{shelves.owners}/everybody"


async def _looks_at_the_first(laws: Laws, _: HostGrant, name: str, port: int, resolve: Resolve) -> Open | Refused:
    found = await resolve(name, port)
    return resolving._closed(laws, name, found[0]) or Open(name, tuple((one, port) for one in found))


HOST = "tests/sandbox/test_host.py"
SLEEP = "tests/sandbox/test_sleep.py"
WARM = "tests/sandbox/test_warm.py"
QUOTA = "tests/sandbox/test_quota.py"
TREES = "tests/sandbox/test_folder_trees.py"
SNAPSHOTS = "tests/sandbox/test_snapshots.py"
API = "tests/workers/test_host_api.py"

HOSTS = (
    Switch(
        "an older lease opens, freezes and saves nothing",
        f"{HOST}::test_nothing_is_done_under_another_epoch_than_the_newest[bubblewrap]",
        replaced(SandboxHost, "_current", _of_whatever_epoch),
    ),
    Switch(
        "an older lease gives nothing up",
        f"{HOST}::test_an_older_lease_gives_no_sandbox_up[bubblewrap]",
        replaced(SandboxHost, "release", _given_up_by_anybody),
    ),
    Switch(
        "an older lease opens no file and no terminal",
        f"{API}::test_an_older_lease_is_refused_everywhere",
        replaced(Doors, "_lease", _entered_under_any_epoch),
    ),
    Switch(
        "a host is entered with the installation's token alone",
        f"{API}::test_without_the_token_nothing_is_told",
        replaced(guard, "compare_digest", always(True)),
    ),
    Switch(
        "a call runs once, though every stream breaks",
        "tests/sandbox/test_agent.py::test_a_command_goes_on_while_every_stream_is_closed[bubblewrap]",
        replaced(Commands, "run", _under_another_key),
    ),
    Switch(
        "a call runs once, though its sandbox was put away and brought back",
        f"{SLEEP}::test_a_call_that_ran_before_a_snapshot_is_not_run_again_after_it",
        _reworded("asked.keep and not record.claim()", "not asked.keep and not record.claim()"),
    ),
    Switch(
        "a flipped byte is found before anything is put in place",
        f"{SNAPSHOTS}::test_one_flipped_bit_is_refused_by_name_before_anything_is_changed[folder-layers]",
        replaced(restoring, "_sha256", always(Anything())),
    ),
    Switch(
        "what is named is not collected",
        f"{SNAPSHOTS}::test_collecting_removes_what_no_live_snapshot_names_and_nothing_else[folder]",
        replaced(Collector, "collect", _whatever_is_live),
    ),
    Switch(
        "a fork shares no later snapshot",
        f"{SNAPSHOTS}::test_forks_share_the_past_and_nothing_else[folder]",
        replaced(Shelves, "of_owner", _one_for_all),
    ),
    Switch(
        "a fork shares no file",
        f"{SLEEP}::test_two_begin_with_one_past_and_share_nothing_else",
        replaced(Register, "leased_to", _whoever_asks),
    ),
    Switch(
        "a sweep removes what nobody owns",
        f"{HOST}::test_sweeping_removes_the_dead_and_nobody_else[bubblewrap]",
        replaced(Sweep, "_stays", _stays_while_any_lives),
    ),
    Switch(
        "a warm sandbox is given to one task",
        f"{WARM}::test_what_was_claimed_is_made_again",
        replaced(WarmPool, "take", _taken_and_left),
    ),
    Switch(
        "what a warm sandbox receives counts for the task that claimed it",
        f"{WARM}::test_what_a_claimed_one_receives_counts_for_the_task_that_claimed_it",
        replaced(Connections, "hand_over", _counts_for_nobody),
    ),
    Switch(
        "a host holds no more sandboxes than it may",
        f"{HOST}::test_a_full_host_says_so[bubblewrap]",
        replaced(Admission, "_taken", always(0)),
    ),
    Switch(
        "a person has no more sandboxes than they may",
        f"{WARM}::test_a_person_with_all_their_places_does_not_keep_others_waiting",
        replaced(Admission, "_user_may", always(True)),
    ),
    Switch(
        "a demanded runtime is never a weaker one, says the pool",
        f"{WARM}::test_a_demanded_runtime_is_found_among_the_warm_ones",
        replaced(Ready, "fits", always(True)),
    ),
    Switch(
        "a demanded runtime is never a weaker one, says the host",
        f"{SLEEP}::test_a_sandbox_of_another_runtime_than_demanded_is_refused",
        replaced(SandboxHost, "_again", _again),
    ),
    Switch(
        "every address of a name is looked at",
        "tests/sandbox/test_egress_rules.py::test_one_private_address_among_several_closes_the_name",
        replaced(resolving, "located", _looks_at_the_first),
    ),
    Switch(
        "put and get follow no link out",
        "tests/sandbox/test_files.py::test_no_listing_leads_out[bubblewrap]",
        _reworded('raise Refused(f"{shown} is outside the folders {roots}")', 'return b"/", whole'),
        early=True,
    ),
    Switch(
        "a snapshot reads nothing behind a link",
        f"{TREES}::test_a_folder_that_was_seen_and_is_a_link_now_is_passed_over",
        replaced(Descent, "_entered", _followed),
    ),
    Switch(
        "a snapshot writes nothing outside of its folder",
        f"{TREES}::test_nothing_is_written_outside",
        replaced(filling, "checked", lambda path: path),
    ),
    Switch(
        "what fills the disk is ended",
        f"{QUOTA}::test_a_file_without_a_name_counts_too[bubblewrap]",
        replaced(Quota, "_seen_through", _unheard),
    ),
)
