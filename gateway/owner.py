"""The owner's token: proves to the gateway's pages that a request comes from who holds the installation."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from runtime.files import create_atomically
from runtime.paths import private_folder

COOKIE = "asos_owner"
TICKET_LASTS = timedelta(minutes=10)
PROOF_CHARACTERS = 32
"""128 bits, so that a login address fits on a line."""


@dataclass(frozen=True)
class Owner:
    """Compares in constant time; cookie and tickets are derived, so that a stolen one does not give the token away."""

    token: str = field(repr=False)

    @classmethod
    def load(cls, path: Path) -> "Owner":
        """Read the token, or make it at the first start."""
        private_folder(path.parent)
        create_atomically(path, secrets.token_urlsafe(32).encode())
        return cls(path.read_text().strip())

    @property
    def cookie(self) -> str:
        return self._derived("asos cookie")

    def ticket(self, now: datetime) -> str:
        """What a login address carries; it opens for TICKET_LASTS."""
        until = str(int((now + TICKET_LASTS).timestamp()))
        return f"{until}.{self._proof(until)}"

    @property
    def form(self) -> str:
        """What a form of our own pages carries, and no other page can know."""
        return self._derived("asos form")

    def is_form(self, said: str) -> bool:
        return _same(said, self.form)

    def is_token(self, said: str) -> bool:
        return _same(said, self.token)

    def is_cookie(self, said: str) -> bool:
        return _same(said, self.cookie)

    def is_ticket(self, said: str, now: datetime) -> bool:
        until, _, proof = said.partition(".")
        if not _same(proof, self._proof(until)):
            return False
        return now < datetime.fromtimestamp(int(until), UTC)

    def _proof(self, until: str) -> str:
        return self._derived(f"asos ticket {until}")[:PROOF_CHARACTERS]

    def _derived(self, purpose: str) -> str:
        return hmac.new(self.token.encode(), purpose.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def _same(said: str, true: str) -> bool:
    return hmac.compare_digest(said.encode("utf-8", "replace"), true.encode())
