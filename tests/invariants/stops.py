"""Promises of the kill switch, and how each is broken."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from activities import acting, planning
from activities.acting import Acting
from contracts.kill import Halted, Kill, KillLevel
from gateway import kill_orders, kill_page
from gateway.pairing import MEMBER
from runtime.killing import state
from runtime.killing.brake import FileBrake
from runtime.killing.desk import KillDesk
from runtime.killing.state import State, StateFile
from runtime.killing.switch import KillSwitch
from sandbox import egress
from sandbox.egress import EgressProxy
from sandbox.house import HouseRules
from tests.invariants.switch import Switch, all_of, always, replaced
from workflows import calls

_left: list[asyncio.Future[Any]] = []
"""Work that goes on although everybody was told that it has ended."""


async def _told_and_not_ended(work: Coroutine[Any, Any, object], halted: Callable[[], Kill | None]) -> object:
    working = asyncio.ensure_future(work)
    _left.append(working)
    while not (await asyncio.wait({working}, timeout=0.05))[0]:
        kill = halted()
        if kill is not None:
            raise Halted(kill)
    return working.result()


async def _to_its_end(work: Coroutine[Any, Any, object], _: Callable[[], Kill | None]) -> object:
    return await work


_verdict = EgressProxy._verdict


async def _of_a_free_house(proxy: EgressProxy, exchange: Any) -> object:
    halted = proxy._halted
    proxy._halted = lambda: None
    try:
        return await _verdict(proxy, exchange)
    finally:
        proxy._halted = halted


def _lifted_by_anybody(switch: KillSwitch, kills: tuple[Kill, ...], _: object) -> tuple[Kill, ...]:
    switch._write(switch._file.read(), ())
    return kills


async def _lifted_without_a_code(desk: KillDesk, kill_id: str | None, _: str, __: str) -> tuple[Kill, ...]:
    return _lifted_by_anybody(desk._switch, desk._switch.chosen(kill_id), None)


async def _recorded_or_not_at_all(
    desk: KillDesk, level: KillLevel, task_id: str | None, by: str, reason: str = ""
) -> Kill | None:
    try:
        await desk._recorder.record(None)  # type: ignore[arg-type]  # refused whatever it is
    except OSError:
        return None
    return desk._switch.pull(level, task_id, by, reason)


HALTED = "tests/tools/test_halted.py"
KILLING = "tests/runtime/test_killing.py"
BRAKING = "tests/sandbox/test_braking.py"
CHAT = "tests/gateway/test_kill.py"

STOPS = (
    Switch(
        "a stop forbids its effects",
        f"{KILLING}::test_each_level_stops_its_effects",
        replaced(FileBrake, "halted", always(None)),
    ),
    Switch(
        "a stop is on disk",
        f"{KILLING}::test_a_stop_survives_every_process",
        replaced(StateFile, "write", always(None)),
    ),
    Switch(
        "a state that cannot be read stops everything",
        f"{KILLING}::test_a_damaged_state_stops_everything_until_it_is_lifted[_cut]",
        replaced(state, "damaged", always(State())),
    ),
    Switch(
        "a state that was forged stops everything",
        f"{KILLING}::test_a_damaged_state_stops_everything_until_it_is_lifted[_forged]",
        replaced(StateFile, "_proof", always("0" * 64)),
    ),
    Switch(
        "an older state that was put back stops everything",
        f"{KILLING}::test_an_older_copy_that_is_put_back_stops_everything",
        replaced(FileBrake, "_read", lambda brake: brake._file.read()),
    ),
    Switch(
        "a stop waits for no record",
        f"{KILLING}::test_a_stop_holds_although_it_cannot_be_recorded",
        replaced(KillDesk, "pull", _recorded_or_not_at_all),
    ),
    Switch(
        "only a code lifts",
        f"{KILLING}::test_only_the_second_factor_lifts_and_a_code_lifts_once",
        replaced(KillDesk, "lift", _lifted_without_a_code),
    ),
    Switch(
        "another machine lifts only with the proof",
        f"{KILLING}::test_another_machine_takes_over_a_stop_and_believes_a_lift_only_with_its_proof",
        replaced(KillSwitch, "lift", _lifted_by_anybody),
    ),
    Switch(
        "no call begins while tools are stopped",
        f"{HALTED}::test_no_call_begins_and_it_may_be_made_again_as_if_nothing_had_been",
        replaced(Acting, "_heed", always(None)),
    ),
    Switch(
        "what runs has ended when a stop is told",
        f"{HALTED}::test_a_running_command_ends_and_is_in_doubt_afterwards",
        replaced(acting, "braked", _told_and_not_ended),
    ),
    Switch(
        "a thought under way ends",
        f"{HALTED}::test_no_thought_begins_and_one_under_way_ends",
        replaced(planning, "braked", _told_and_not_ended),
    ),
    Switch(
        "a halted call that may have begun is not taken for one that has not",
        "tests/workflows/test_halting.py::test_a_call_that_had_begun_is_told_so_when_it_is_made_again",
        replaced(calls, "has_begun", always(False)),
    ),
    Switch(
        "no request goes out while the network is stopped",
        f"{BRAKING}::test_a_request_is_refused_with_its_reason_and_passes_again_after_the_lift",
        all_of(replaced(EgressProxy, "_verdict", _of_a_free_house), replaced(egress, "braked", _to_its_end)),
    ),
    Switch(
        "no sandbox is made or woken while all is stopped",
        f"{BRAKING}::test_no_sandbox_is_made_or_woken_and_what_was_leased_can_be_revoked",
        replaced(HouseRules, "heed", always(None)),
    ),
    Switch(
        "who is not the owner stops own tasks alone",
        f"{CHAT}::test_a_member_stops_own_tasks_and_nothing_else",
        replaced(kill_orders, "OWNER", MEMBER),
    ),
    Switch(
        "no other page stops or lifts",
        f"{CHAT}::test_nobody_else_and_no_other_page_stops_or_lifts",
        replaced(kill_page, "is_own_page", always(True)),
    ),
)
