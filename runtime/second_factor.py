"""The second factor of an installation: a TOTP secret (RFC 6238) whose codes confirm what a yes alone may not."""

import fcntl
import hmac
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pyotp
from pydantic import ValidationError

from contracts.approvals import StepUp
from contracts.audit import Event, EventKind
from contracts.texts import factor as texts
from contracts.texts.sentence import Sentence
from contracts.values import Value
from runtime.files import write_atomically
from runtime.keys import Keyring, SealBroken, UnknownKey
from runtime.paths import FILE_MODE, DataPaths, private_folder

STEP_SECONDS = 30
WINDOW = 1
"""A code of the step before or after counts, too: clocks differ, and people type slowly."""

WRONG_ALLOWED = 5
FIRST_WAIT = timedelta(minutes=1)
LONGEST_WAIT = timedelta(days=1)

PROOF_LASTS = timedelta(hours=24)
"""How long a confirmed step may wait for its execution, such as in a task that is paused."""

ISSUER = "Agent Sandbox OS"

_SEALED_FOR = b"second factor"


class FactorRefused(Exception):
    """Raised when a code confirms nothing; `sentence` and its values say why, and what helps."""

    def __init__(self, sentence: Sentence, **values: str) -> None:
        super().__init__(sentence.say("en", **values))
        self.sentence = sentence
        self.values = values


class FactorStatus(Value):
    """What may be seen of the second factor."""

    added_at: datetime
    wrong: int = 0
    """Wrong codes since the last right one."""
    locked_until: datetime | None = None


class _Stored(Value):
    """The sealed file."""

    secret: str
    added_at: datetime
    last_step: int
    """Of the last code that was taken: neither it nor an earlier one counts again."""
    wrong: int = 0
    locked_until: datetime | None = None


class SecondFactor:
    """One for the installation: whoever holds it acts for the owner. Several processes may ask at the same time.

    All of it reads and writes a small file: call it off the event loop.
    """

    def __init__(
        self, paths: DataPaths, keyring: Keyring, record: Callable[[Event], None] = lambda _event: None
    ) -> None:
        """`record` is told of everything, after it is on disk; what it raises refuses the code."""
        self._path = paths.second_factor
        self._keyring = keyring
        self._record = record

    def status(self) -> FactorStatus | None:
        """None if there is no factor. Raises: FactorRefused if its file cannot be read."""
        stored = self._read()
        if stored is None:
            return None
        return FactorStatus(added_at=stored.added_at, wrong=stored.wrong, locked_until=stored.locked_until)

    def confirm(self, code: str, purpose: str, by: str, now: datetime) -> StepUp:
        """Use a code up for one purpose. Raises: FactorRefused."""
        with self._locked():
            self._taken(code, purpose, by, now)
        self._tell("factor.used", by, purpose)
        return StepUp(purpose=purpose, by=by, at=now, proof=self._proof(purpose, by, now))

    def verify(self, step_up: StepUp | None, purpose: str, now: datetime) -> bool:
        """Whether this factor has confirmed exactly this purpose, not longer than PROOF_LASTS ago."""
        if step_up is None or step_up.purpose != purpose:
            return False
        proof = self._proof(step_up.purpose, step_up.by, step_up.at)
        fresh = -timedelta(minutes=1) <= now - step_up.at <= PROOF_LASTS
        return fresh and hmac.compare_digest(proof.encode(), step_up.proof.encode("utf-8", "replace"))

    def enrol(self, secret: str, code: str, by: str, now: datetime, old_code: str = "") -> None:
        """Set up a secret whose code proves that the app has it; one that is there already has to agree.

        Raises: FactorRefused.
        """
        with self._locked():
            if self._read() is not None:
                self._taken(old_code, "factor:replace", by, now)
            step = _step_of(secret, code, now)
            if step is None:
                self._tell("factor.refused", by, "factor:add")
                raise FactorRefused(texts.WRONG)
            self._write(_Stored(secret=secret, added_at=now, last_step=step))
        self._tell("factor.enrolled", by, "factor:add")

    def remove(self, code: str, by: str, now: datetime) -> None:
        """Raises: FactorRefused."""
        with self._locked():
            self._taken(code, "factor:remove", by, now)
            self._path.unlink()
        self._tell("factor.removed", by, "factor:remove")

    def _taken(self, code: str, purpose: str, by: str, now: datetime) -> None:
        """Use the code up, or count it as wrong."""
        stored = self._read()
        if stored is None:
            refusal: FactorRefused | None = FactorRefused(texts.NOT_ENROLLED)
        else:
            after, refusal = _looked_at(stored, code, now)
            self._write(after)
        if refusal is not None:
            self._tell("factor.refused", by, purpose)
            raise refusal

    def _proof(self, purpose: str, by: str, at: datetime) -> str:
        said = json.dumps([purpose, by, at.astimezone(UTC).isoformat()]).encode()
        return hmac.new(self._keyring.derived_naming(_SEALED_FOR), said, sha256).hexdigest()

    def _tell(self, kind: EventKind, by: str, purpose: str) -> None:
        self._record(Event(kind=kind, actor=by, data={"purpose": purpose}))

    def _read(self) -> _Stored | None:
        try:
            return _Stored.model_validate_json(self._keyring.unseal(self._path.read_bytes(), _SEALED_FOR))
        except FileNotFoundError:
            return None
        except OSError as error:
            reason = error.strerror or type(error).__name__
        except (UnknownKey, SealBroken, ValidationError) as error:
            reason = type(error).__name__
        raise FactorRefused(texts.UNREADABLE, reason=reason, path=str(self._path))

    def _write(self, stored: _Stored) -> None:
        write_atomically(self._path, self._keyring.seal(stored.model_dump_json().encode(), _SEALED_FOR))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time, so that one code is never taken twice."""
        private_folder(self._path.parent)
        handle = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def new_secret() -> str:
    """A secret for `enrol`; 160 bits in base 32."""
    return pyotp.random_base32()


def address_of(secret: str) -> str:
    """What a QR code holds for an authenticator app."""
    return pyotp.TOTP(secret).provisioning_uri(name="owner", issuer_name=ISSUER)


def _looked_at(stored: _Stored, code: str, now: datetime) -> tuple[_Stored, FactorRefused | None]:
    """What is stored after a code was tried, and why it does not count. While locked no code is looked at."""
    if stored.locked_until is not None and now < stored.locked_until:
        return stored, FactorRefused(texts.LOCKED, until=f"{stored.locked_until:%Y-%m-%d %H:%M:%S}")
    step = _step_of(stored.secret, code, now)
    if step is not None and step > stored.last_step:
        return stored.model_copy(update={"last_step": step, "wrong": 0, "locked_until": None}), None
    if step is not None:
        return stored, FactorRefused(texts.USED)
    wrong = stored.wrong + 1
    until = now + _wait_after(wrong) if wrong >= WRONG_ALLOWED else None
    after = stored.model_copy(update={"wrong": wrong, "locked_until": until})
    return after, FactorRefused(texts.WRONG)


def _wait_after(wrong: int) -> timedelta:
    # Doubling more often than this only leads to numbers that are too large for a date.
    doublings = min(wrong - WRONG_ALLOWED, 16)
    return min(LONGEST_WAIT, FIRST_WAIT * (1 << doublings))


def _step_of(secret: str, code: str, now: datetime) -> int | None:
    """The time step that a code belongs to, if it is one of those that count now."""
    said = "".join(code.split())
    totp, current = pyotp.TOTP(secret, interval=STEP_SECONDS), int(now.timestamp()) // STEP_SECONDS
    found = None
    for step in range(current - WINDOW, current + WINDOW + 1):
        if hmac.compare_digest(totp.generate_otp(step).encode(), said.encode("utf-8", "replace")):
            found = step
    return found
