"""An authenticator app for one installation: set up at its own command line, and read like a phone."""

import re
import time

import pyotp

from runtime.second_factor import STEP_SECONDS
from tests.e2e.stack import Installation, eventually

_SECRET = re.compile(r"\b[A-Z2-7]{32}\b")


class Authenticator:
    """Gives each code once: the present one or a neighbour of it, so that nothing waits for the next half minute."""

    def __init__(self, given: Installation) -> None:
        with given.start("factor", "add", typing=True) as adding:
            assert adding.stdout is not None
            assert adding.stdin is not None
            found = next(place[0] for line in adding.stdout if (place := _SECRET.search(line)))
            self._totp = pyotp.TOTP(found, interval=STEP_SECONDS)
            self._used = _step() - 2
            self.said, _ = adding.communicate(self.code() + "\n", timeout=60)
        assert adding.returncode == 0, self.said

    def code(self) -> str:
        self._used = max(self._used + 1, _step() - 1)
        eventually(lambda: True if self._used <= _step() + 1 else None)
        return self._totp.at(self._used * STEP_SECONDS)


def _step() -> int:
    return int(time.time()) // STEP_SECONDS
