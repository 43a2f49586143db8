"""Promises of the life of a sandbox that its workflow, the workers and the sweep keep, and how each is broken."""

from collections.abc import Awaitable, Callable

from activities.preparing import Preparing
from contracts.activities import RunRequest
from contracts.sandbox import SweepReport
from tests.invariants.switch import Switch, always_soon, replaced
from workers import sweeping
from workers.sweeping import Sweeping
from workflows.sandbox import SandboxWorkflow


async def _at_once(_: SandboxWorkflow, act: Callable[[], Awaitable[object]], *, ends_it: bool = False) -> object:
    return await act()


_prepared = Preparing.prepared


async def _in_whatever_there_is(preparing: Preparing, request: RunRequest) -> object:
    assert request.lease is not None
    lease = request.lease.model_copy(update={"runtime": "runsc"})
    return await _prepared(preparing, request.model_copy(update={"lease": lease}))


LIVES = (
    Switch(
        "a need that comes while the sandbox goes to sleep is served",
        "tests/workflows/test_sandbox.py::test_a_need_that_comes_while_it_goes_to_sleep_wakes_it_right_after",
        replaced(SandboxWorkflow, "_asked", _at_once),
    ),
    Switch(
        "a demanded runtime is never a weaker one, says the worker",
        "tests/tools/test_acting.py::test_a_call_that_needs_another_runtime_does_not_run",
        replaced(Preparing, "prepared", _in_whatever_there_is),
    ),
    Switch(
        "what a living sandbox or a fork names is not collected",
        "tests/workflows/test_sweep.py::test_all_snapshots_that_a_living_sandbox_or_a_fork_names_are_kept",
        replaced(sweeping, "view_of", always_soon(None)),
    ),
    Switch(
        "a sweep says what it could not remove",
        "tests/workflows/test_sweep.py::test_a_sweep_that_leaves_something_fails_in_the_open",
        replaced(Sweeping, "_swept", always_soon(SweepReport())),
    ),
)
