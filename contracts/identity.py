"""Who a task may act as: profiles, what their vault holds, leases of them, and the state of a login. Never a secret."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Literal, Protocol

from pydantic import Field

from contracts.values import Value

SecretKind = Literal["password", "api_key", "token", "cookies", "storage", "client", "totp", "profile"]
"""`token` holds OAuth tokens, `client` an OAuth client's secret, `storage` local storage and IndexedDB of a browser,
`profile` the profile itself: whose account it is and where is sealed like the rest."""

PROFILE_ID = r"^[a-z0-9][a-z0-9._-]{0,62}$"
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"


class DeviceProfile(Value):
    """How the identity's browser looks, the same at every launch."""

    user_agent: str
    platform: str
    """Such as `Linux x86_64`, as `navigator.platform` says it."""
    client_hints: dict[str, str] = Field(default_factory=dict)
    """High-entropy client hints by their name in `navigator.userAgentData`."""
    languages: tuple[str, ...] = ("en-US", "en")
    time_zone: str = "UTC"
    screen: tuple[int, int] = (1920, 1080)
    viewport: tuple[int, int] = (1280, 800)
    pixel_ratio: float = 1.0
    cores: int = 8
    memory_gb: int = 8
    webgl_vendor: str = ""
    webgl_renderer: str = ""
    fonts: tuple[str, ...] = ()
    seed: int = 0
    """Of the canvas noise; the same seed gives the same picture."""
    proxy: str = ""
    """Name of the way out whose place the time zone and languages fit."""


class Profile(Value):
    """One person's account on one platform."""

    profile_id: str = Field(pattern=PROFILE_ID)
    user_id: str
    """Whose it is; nobody else's tasks may use it."""
    title: str = ""
    account: str = ""
    """The account's name there, such as an address; shown, and not a secret."""
    sites: tuple[str, ...] = ()
    """Hosts that its secrets may go to: `host`, `*.host`, `host:port`."""
    provider: str = ""
    """Preset of an OAuth provider, such as `github`; empty for sites with a login form or key."""
    device: DeviceProfile | None = None
    created_at: datetime


class SecretName(Value):
    """Where a secret lies in the vault."""

    profile_id: str = Field(pattern=PROFILE_ID)
    kind: SecretKind
    name: str = Field(default="main", pattern=NAME_PATTERN)


class SecretRef(Value):
    """One version of it; this is all that histories and logs ever hold."""

    profile_id: str
    kind: SecretKind
    name: str
    version: int = Field(ge=1)


class VaultLocked(Exception):
    """Raised while nobody has unlocked the vault: tasks wait, and do not fail."""


class VaultDamaged(Exception):
    """Raised for a record that was altered, swapped, or is older than the vault knows; the text names it."""


class VaultUnusable(Exception):
    """Raised when the store cannot be read or written: a full disk, a sealed or silent server, a token without
    rights. The text names the cause and the remedy; trying again may help, and nothing is lost."""


class NoSuchSecret(Exception):
    """Raised when the vault holds nothing under the name."""


class Vault(Protocol):
    """Sealed records; plain text lives in a bytearray for the length of a block, and is wiped after it."""

    @property
    def locked(self) -> bool: ...

    async def put(self, name: SecretName, secret: bytearray, *, after: int | None = None) -> SecretRef:
        """Store the next version and wipe `secret`; with `after`, only if that is the version so far.

        Raises: VaultLocked, VaultDamaged, VersionConflict, VaultUnusable. After the last the version may be stored or
        not: look before trying again.
        """
        ...

    def opened(self, name: SecretName, version: int | None = None) -> AbstractAsyncContextManager[bytearray]:
        """Only the newest version can be opened. Raises: VaultLocked, VaultDamaged, VaultUnusable, NoSuchSecret."""
        ...

    async def version(self, name: SecretName) -> int:
        """The newest; 0 if there is none."""
        ...

    async def remove(self, name: SecretName) -> bool: ...

    def names(self, profile_id: str) -> AsyncIterator[SecretName]: ...


class VersionConflict(Exception):
    """Raised when somebody stored a newer version meanwhile."""


Placement = Literal["bearer", "basic", "header", "cookie", "query"]


class Injection(Value):
    """How the egress proxy puts a secret into requests."""

    secret: SecretName
    placement: Placement
    field: str = ""
    """Name of the header, cookie or parameter, where the placement does not say it."""
    hosts: tuple[str, ...]
    methods: tuple[str, ...] = ()
    """Empty: any."""
    paths: tuple[str, ...] = ("/",)
    """Beginnings of paths, whole segments."""


class IdentityLease(Value):
    """A task may act as this profile, there, until then."""

    lease_id: str
    task_id: str
    user_id: str
    profile_id: str
    handle: str
    """What the sandbox and the model see; worth nothing outside the proxy."""
    injections: tuple[Injection, ...] = ()
    may_type: bool = False
    """Whether the browser may type the password on the leased sites."""
    until: datetime
    revoked_at: datetime | None = None
    parent: str = ""
    """The lease that this one is a part of."""


class TokenStatus(Value):
    """What is known of an OAuth login, without any of its tokens."""

    profile_id: str
    provider: str
    state: Literal["fresh", "expiring", "expired", "refreshing", "login_needed", "none"]
    expires_at: datetime | None = None
    refreshable: bool = False
    scopes: tuple[str, ...] = ()
    ref: SecretRef | None = None
    problem: str = ""


class NeedToken(Value):
    """A task needs a token that is good for so long."""

    task_id: str
    profile_id: str
    provider: str
    user_id: str
    seconds: float = 60.0
    refused: SecretRef | None = None
    """The version that a server answered 401 to."""


class RefreshRequest(Value):
    """Refresh one token, if it still is that version."""

    profile_id: str
    provider: str
    ref: SecretRef
    attempt_id: str
    """The same for every try of one refresh: a token that was stored under it is not refreshed again."""


class CredentialInput(Value):
    """What starts a CredentialWorkflow, and crosses its continue-as-new."""

    profile_id: str
    provider: str
    user_id: str
    status: TokenStatus | None = None
    sequence: int = 0
