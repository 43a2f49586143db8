"""From the name that a person gives to a sandbox that is awake, and to the host that has it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from contracts.access import ProblemCode
from contracts.lifecycle import SandboxState, SandboxView
from contracts.sandbox import Lease
from contracts.texts import sandboxes as texts
from gateway.cli.office import FAILED, USAGE, Complaint, Office, find_task
from gateway.desk import NoSuchTask
from gateway.host_client import HostClient, HostRefused, HostUnreachable
from gateway.sandbox_desk import SandboxDesk
from runtime import addresses
from runtime.host_token import host_token

WHOLE_ID = 26
"""A task's id is so long, and begins with a digit; a fork's name begins with a letter."""

GONE: frozenset[ProblemCode] = frozenset({"lost", "no_sandbox", "old_lease"})
"""What a host says of a lease that its workflow still believes in."""


@dataclass(frozen=True)
class Reached:
    """A sandbox that runs, and its host."""

    owner: str
    lease: Lease
    host: HostClient


async def find_owner(office: Office, wanted: str) -> str:
    """Whose sandbox is meant by a task's id, its beginning or end, `last`, or a fork's name. Raises: Complaint."""
    if wanted.lower() == "last" or not wanted.strip() or (len(wanted) == WHOLE_ID and wanted[0].isdigit()):
        return await find_task(office, wanted)
    owners = await SandboxDesk(office.client).owners()
    if wanted in owners:
        return wanted
    fitting = [owner for owner in owners if owner.upper().startswith(wanted.upper())]
    fitting = fitting or [owner for owner in owners if owner.upper().endswith(wanted.upper())]
    if len(fitting) > 1:
        listed = ", ".join(fitting[:5])
        raise Complaint(texts.SEVERAL.say(office.language, prefix=wanted, owners=listed), USAGE)
    if fitting:
        return fitting[0]
    try:
        return await find_task(office, wanted)
    except NoSuchTask:
        raise none_of(office, wanted) from None


async def find_view(office: Office, wanted: str) -> SandboxView:
    """Raises: Complaint."""
    owner = await find_owner(office, wanted)
    view = await SandboxDesk(office.client).view(owner)
    if view is None:
        raise none_of(office, owner)
    return view


@asynccontextmanager
async def reached(office: Office, wanted: str) -> AsyncIterator[Reached]:
    """Wake it if need be; one that its host has lost is had again. Raises: Complaint."""
    view = await find_view(office, wanted)
    desk = SandboxDesk(office.client)
    lease = _lease(office, await desk.resume(view.owner))
    with complaints(office):
        try:
            await _open(office, lease)
        except HostRefused as error:
            if error.problem.code not in GONE:
                raise
            lease = _lease(office, await desk.resume(view.owner, lost_epoch=lease.epoch))
        async with client_of(office, lease.api_url) as host:
            yield Reached(view.owner, lease, host)


def client_of(office: Office, url: str) -> HostClient:
    """For a host of this installation; without an address the one beside this command."""
    return HostClient(url or addresses.host_api(office.settings), host_token(office.keyring), office.by)


@contextmanager
def complaints(office: Office) -> Iterator[None]:
    """What hosts say and do not say, as one line for the person."""
    try:
        yield
    except HostUnreachable as error:
        sentence = texts.HOST_SILENT.say(office.language, url=error.url, reason=error)
        raise Complaint(sentence, FAILED) from error
    except HostRefused as error:
        raise Complaint(texts.HOST_SAYS_NO.say(office.language, text=error.problem.text), FAILED) from error


def none_of(office: Office, owner: str) -> Complaint:
    return Complaint(texts.NO_SANDBOX.say(office.language, owner=owner), USAGE)


async def _open(office: Office, lease: Lease) -> None:
    async with client_of(office, lease.api_url) as host:
        await host.open(lease)


def _lease(office: Office, view: SandboxView) -> Lease:
    if view.lease is not None and view.state is SandboxState.ACTIVE:
        return view.lease
    state = texts.STATES[view.state].say(office.language)
    sentence = texts.NOT_AWAKE.say(office.language, owner=view.owner, state=state, problem=view.problem)
    raise Complaint(sentence.rstrip(), FAILED)
