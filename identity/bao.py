"""The connection to OpenBao or HashiCorp Vault: logged in, renewed in time, and with errors that say what to do.

Requests go through hvac, which hands answers over as JSON strings: sealed boxes for the store, but the data keys that
the transit engine unwraps come as strings too, which Python cannot wipe.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Self, TypeVar

import hvac
import requests
from hvac import exceptions

from contracts.identity import VaultUnusable

TIMEOUT_SECONDS = 10
RENEWED_AFTER = 0.5
"""Part of a token's life after which it is renewed."""

Result = TypeVar("Result")


class Absent(Exception):
    """Raised when nothing is there under the path."""


class Refused(Exception):
    """Raised when the server does not take a request as it is, such as a stale compare-and-set."""


@dataclass(frozen=True)
class BaoAccess:
    """Where the server is, and who we are for it: a token, or an AppRole's two halves."""

    address: str
    token: str = ""
    role_id: str = ""
    secret_id: str = ""
    namespace: str = ""
    ca_file: Path | None = None

    def __repr__(self) -> str:
        """Without token and secret."""
        return f"BaoAccess({self.address!r})"


class Bao:
    """One logged-in client; calls run in threads, one after the other."""

    def __init__(self, access: BaoAccess, clock: Callable[[], float]) -> None:
        self._access = access
        self._clock = clock
        self._lock = Lock()
        self._renew_at: float | None = None
        self._renewable = False
        self._client = hvac.Client(
            url=access.address,
            timeout=TIMEOUT_SECONDS,
            namespace=access.namespace or None,
            verify=str(access.ca_file) if access.ca_file else True,
        )

    @classmethod
    async def open(cls, access: BaoAccess, clock: Callable[[], float] = time.monotonic) -> Self:
        """Log in. Raises: VaultUnusable."""
        bao = cls(access, clock)
        try:
            await asyncio.to_thread(bao._locked, bao._log_in)
        except BaseException:
            await bao.close()
            raise
        return bao

    @property
    def address(self) -> str:
        return self._access.address

    async def call(self, step: Callable[[hvac.Client], Result]) -> Result:
        """Raises: Absent, Refused, VaultUnusable."""
        return await asyncio.to_thread(self._locked, lambda: self._called(step))

    async def close(self) -> None:
        await asyncio.to_thread(self._client.adapter.close)

    def _locked(self, step: Callable[[], Result]) -> Result:
        with self._lock:
            try:
                return step()
            except exceptions.InvalidPath as error:
                raise Absent(str(error)) from None
            except exceptions.InvalidRequest as error:
                raise Refused("; ".join(map(str, error.errors or ())) or str(error)) from None
            except (exceptions.VaultError, requests.RequestException) as error:
                raise VaultUnusable(self._explained(error)) from error

    def _called(self, step: Callable[[hvac.Client], Result]) -> Result:
        if self._renew_at is not None and self._clock() >= self._renew_at:
            self._renew()
        try:
            return step(self._client)
        except exceptions.Forbidden:
            if not self._access.role_id:
                raise
            # The token may have ended or been revoked; the role gives another one.
            self._log_in()
            return step(self._client)

    def _log_in(self) -> None:
        if self._access.role_id:
            answer = self._client.auth.approle.login(self._access.role_id, self._access.secret_id)
            self._note(answer["auth"], "lease_duration")
        else:
            self._client.token = self._access.token
            self._note(self._client.auth.token.lookup_self()["data"], "ttl")

    def _renew(self) -> None:
        if self._renewable:
            try:
                self._note(self._client.auth.token.renew_self()["auth"], "lease_duration")
            except (exceptions.Forbidden, exceptions.InvalidRequest):
                if not self._access.role_id:
                    raise
            else:
                return
        if self._access.role_id:
            self._log_in()
        else:
            self._renew_at = None  # nothing can be done before its end

    def _note(self, facts: Mapping[str, Any], field: str) -> None:
        seconds = float(facts[field])
        self._renewable = bool(facts.get("renewable"))
        self._renew_at = self._clock() + RENEWED_AFTER * seconds if seconds else None

    def _explained(self, error: Exception) -> str:
        address = self._access.address
        if isinstance(error, exceptions.VaultDown):
            return f"the vault server {address} is sealed or stands by; unseal it: `bao operator unseal`"
        if isinstance(error, exceptions.Forbidden):
            what = "role" if self._access.role_id else "token"
            return (
                f"{address} forbids it: the {what} has ended, or its policy does not allow the path; give it a new one"
            )
        if isinstance(error, requests.Timeout):
            return f"the vault server {address} does not answer within {TIMEOUT_SECONDS} s"
        if isinstance(error, requests.exceptions.SSLError):
            return f"the certificate of {address} is not trusted; name its authority with ASOS_VAULT_CA_FILE"
        if isinstance(error, requests.RequestException):
            why = type(error).__name__
            return f"the vault server {address} cannot be reached ({why}); start it, or look at ASOS_VAULT_ADDRESS"
        return f"the vault server {address} failed: {error}"
