"""The owner's token: proves to the gateway's pages that a request comes from who holds the installation."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from runtime.files import create_atomically
from runtime.paths import private_folder

COOKIE = "asos_owner"


@dataclass(frozen=True)
class Owner:
    """Compares in constant time; the cookie is derived, so that a stolen one does not give the token away."""

    token: str = field(repr=False)

    @classmethod
    def load(cls, path: Path) -> "Owner":
        """Read the token, or make it at the first start."""
        private_folder(path.parent)
        create_atomically(path, secrets.token_urlsafe(32).encode())
        return cls(path.read_text().strip())

    @property
    def cookie(self) -> str:
        return hmac.new(self.token.encode(), b"asos cookie", hashlib.sha256).hexdigest()

    def is_token(self, said: str) -> bool:
        return hmac.compare_digest(said.encode("utf-8", "replace"), self.token.encode())

    def is_cookie(self, said: str) -> bool:
        return hmac.compare_digest(said.encode("utf-8", "replace"), self.cookie.encode())
