"""The connections of a host: each sandbox's is kept from one tool call to the next, with the hosts it may reach."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from contracts.language import Language
from contracts.messages import HostGrant
from contracts.sandbox import Lease
from sandbox.driver import Attached, Driver
from sandbox.egress import EgressProxy, EgressRecord
from sandbox.grants import Grants
from sandbox.house import HouseRules
from sandbox.limits import Limits
from sandbox.records import Register
from sandbox.resolving import Resolve
from sandbox.session import OpenSandbox
from sandbox.trust import Trust

OnEgress = Callable[[Lease, EgressRecord], None]
Awake = Callable[[str], Awaitable[None]]
"""Makes sure that the sandbox of this name runs. Raises: SandboxLost."""


class Connections:
    """The open sandboxes of one host."""

    def __init__(
        self,
        driver: Driver,
        register: Register,
        awake: Awake,
        *,
        limits: Limits,
        on_egress: OnEgress,
        resolve: Resolve,
        house: HouseRules,
        language: Language,
    ) -> None:
        self._driver = driver
        self._register = register
        self._awake = awake
        self._limits = limits
        self._on_egress = on_egress
        self._resolve = resolve
        self._house = house
        self._language: Language = language
        self._open: dict[str, OpenSandbox] = {}
        self._proxies: dict[str, EgressProxy] = {}
        self._grants: dict[str, Grants] = {}

    def kept(self, sandbox_id: str) -> OpenSandbox | None:
        return self._open.get(sandbox_id)

    def made(self, lease: Lease) -> OpenSandbox:
        """One that connects when it is first used; an earlier one of the same name must have been dropped."""
        sandbox_id = lease.sandbox_id
        opened: OpenSandbox

        async def reach() -> Attached:
            await self._awake(sandbox_id)
            return await self._driver.agent(sandbox_id)

        def audit(record: EgressRecord) -> None:
            self._on_egress(opened.lease, record)

        proxy = EgressProxy(
            self._grants_of(sandbox_id),
            audit,
            resolve=self._resolve,
            language=self._language,
            house=self._house,
            meter=self._house.meters.of(lease.task_id),
            halted=lambda: self._house.brake.halted("network", opened.lease.task_id),
        )
        opened = OpenSandbox(
            lease,
            reach,
            proxy.serve,
            lambda egress, role: self.allow(sandbox_id, egress, role),
            self._driver,
            self._limits,
            Trust(self._house),
            self._language,
        )
        self._open[sandbox_id] = opened
        self._proxies[sandbox_id] = proxy
        return opened

    def hand_over(self, opened: OpenSandbox, lease: Lease) -> None:
        """It was made ahead; from now on it is this lease's, and its traffic counts for this task."""
        opened.hand_over(lease)
        self._proxies[lease.sandbox_id].meter = self._house.meters.of(lease.task_id)

    def allow(self, sandbox_id: str, egress: Sequence[HostGrant], role: str = "") -> None:
        """Open these hosts to a sandbox, also after a restart of this process; its role is then said anew."""
        if sandbox_id in self._proxies:
            self._proxies[sandbox_id].role = role
        grants = self._grants_of(sandbox_id)
        before = grants.all
        grants.add(egress)
        record = self._register.get(sandbox_id)
        if record is not None and grants.all != before:
            self._register.note(record.model_copy(update={"egress": grants.all}))

    async def drop(self, sandbox_id: str) -> None:
        """Close the connection, and forget what was open to it: the register knows it."""
        self._grants.pop(sandbox_id, None)
        self._proxies.pop(sandbox_id, None)
        opened = self._open.pop(sandbox_id, None)
        if opened is not None:
            with suppress(OSError):
                await opened.close()

    async def close(self) -> None:
        for sandbox_id in list(self._open):
            await self.drop(sandbox_id)

    def _grants_of(self, sandbox_id: str) -> Grants:
        if sandbox_id not in self._grants:
            record = self._register.get(sandbox_id)
            self._grants[sandbox_id] = Grants(record.egress if record else ())
        return self._grants[sandbox_id]
