"""Words of a person or a sandbox in the audit log: known secrets are taken out and the rest is sealed, for the log lies
open."""

import base64
from collections.abc import Callable

from runtime.keys import Keyring

PLACE = b"asos/audit/words"


class Confidential:
    """Opened only by who has the installation's keyring."""

    def __init__(self, keyring: Keyring, redact: Callable[[str], str]) -> None:
        self._keyring = keyring
        self._redact = redact

    def seal(self, text: str) -> str:
        """Base64; nothing stays nothing."""
        if not text:
            return ""
        plain = self._redact(text).encode("utf-8", "surrogatepass")
        return base64.b64encode(self._keyring.seal(plain, PLACE)).decode("ascii")

    def unseal(self, box: str) -> str:
        """Raises: UnknownKey, SealBroken."""
        if not box:
            return ""
        return self._keyring.unseal(base64.b64decode(box), PLACE).decode("utf-8", "surrogatepass")
