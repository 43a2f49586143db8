"""How `asos identity` reads secrets, and how it tells what went wrong."""

import getpass
import json
import sys
from collections.abc import Callable

from rich.console import Console

from contracts.identity import NoSuchSecret, VaultDamaged, VaultLocked, VaultUnusable, VersionConflict
from contracts.language import Language
from contracts.texts import identity as texts
from identity.backup import BackupOlder, BackupUnusable
from identity.passphrases import PassphraseTooShort
from identity.profiles import NoSuchProfile
from identity.sealing import wipe
from identity.unlocking import WrongKey

FAILED, USAGE = 1, 2
_STATES: tuple[tuple[type[Exception], str], ...] = (
    (VaultLocked, "locked"),
    (WrongKey, "locked"),
    (VaultDamaged, "damaged"),
    (VaultUnusable, "unreachable"),
)
_PLAIN = (BackupOlder, BackupUnusable, NoSuchProfile, NoSuchSecret, PassphraseTooShort, VersionConflict)

_errors = Console(stderr=True, soft_wrap=True, highlight=False)


class Refusal(Exception):
    """Raised for what the person has to say otherwise; its text is for them."""

    def __init__(self, sentence: str, exit_code: int = FAILED) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


def asked(prompt: str, language: Language, again: str = "") -> bytearray:
    """A secret from the prompt, or a line of standard input where that is no terminal; `again` asks for it twice.

    What Python itself reads, a string or bytes, cannot be wiped; only the copy that is given can. Raises: Refusal.
    """
    if not sys.stdin.isatty():
        secret = bytearray(sys.stdin.buffer.readline().rstrip(b"\r\n"))
    else:
        secret = bytearray(getpass.getpass(f"{prompt}: ").encode())
        if again:
            repeated = bytearray(getpass.getpass(f"{again}: ").encode())
            same = repeated == secret
            wipe(repeated)
            if not same:
                wipe(secret)
                raise Refusal(texts.NOT_THE_SAME.say(language))
    if not secret:
        raise Refusal(texts.NOTHING_GIVEN.say(language))
    return secret


def told(step: Callable[[], int], language: Language, *, as_json: bool) -> int:
    """Run it; what it raises becomes one line for people, or one object for programs, and the exit code."""
    try:
        return step()
    except Refusal as refusal:
        return _tell("refused", str(refusal), as_json, refusal.exit_code)
    except _PLAIN as error:
        return _tell(type(error).__name__, str(error), as_json, FAILED)
    except (VaultLocked, WrongKey, VaultDamaged, VaultUnusable) as error:
        state = next(state for kind, state in _STATES if isinstance(error, kind))
        return _tell(state, texts.STATES[state].say(language, detail=error), as_json, FAILED)


def _tell(kind: str, sentence: str, as_json: bool, code: int) -> int:
    if as_json:
        print(json.dumps({"error": kind, "detail": sentence}, ensure_ascii=False))  # noqa: T201  what programs read
    else:
        _errors.print(f"✗ {sentence}", style="red", markup=False)
    return code
