"""The file of the kill switch: written whole, proven by a key, and read as "everything is stopped" if it is damaged."""

import hashlib
import hmac
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field, ValidationError

from contracts.kill import Kill
from contracts.values import Value
from runtime.files import create_atomically, write_atomically
from runtime.keys import Keyring
from runtime.paths import FOLDER_MODE, DataPaths

PURPOSE = b"asos kill switch v1"
DAMAGED = "damaged"
"""How the id of the stop begins that a damaged file stands for."""
MOST_BYTES = 4_194_304


class State(Value):
    """What is in force."""

    written: int = 0
    """Nanoseconds since the epoch, and always more than before: an older copy that was put back shows by it."""
    kills: tuple[Kill, ...] = ()


class _Signed(Value):
    """The file. The proof is an HMAC over `state` as it stands here."""

    state: str
    proof: str = Field(pattern=r"^[0-9a-f]{64}$")


@dataclass(frozen=True)
class Stamp:
    """Differs as soon as the file does, since it is only ever replaced."""

    inode: int
    size: int
    changed_ns: int


@dataclass(frozen=True)
class StateFile:
    """The file of one installation. Without its folder nothing was ever pulled; a folder without it is a damage."""

    path: Path
    key: bytes

    @classmethod
    def of(cls, paths: DataPaths, keyring: Keyring) -> "StateFile":
        return cls(paths.kill_switch, keyring.derived_naming(PURPOSE))

    def stamp(self) -> Stamp | None:
        """None if there is no file; what else keeps it from being looked at is raised. Raises: OSError."""
        try:
            found = os.stat(self.path)  # noqa: PTH116  asked before every effect: half the time of Path.stat
        except FileNotFoundError:
            return None
        return Stamp(found.st_ino, found.st_size, found.st_mtime_ns)

    def read(self) -> State:
        """Never raises: what cannot be read stands for a stop of everything."""
        try:
            with self.path.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            return damaged("it is missing", "missing") if self.path.parent.exists() else State()
        except OSError as error:
            return damaged(error.strerror or type(error).__name__, "unreadable")
        return self._parsed(content)

    def write(self, state: State) -> None:
        """On disk when this returns. Raises: OSError."""
        text = state.model_dump_json()
        content = _Signed(state=text, proof=self._proof(text)).model_dump_json().encode()
        if self.path.parent.exists():
            write_atomically(self.path, content)
            return
        # Nobody may see the folder without the file.
        made = self.path.parent.with_name(f".{self.path.parent.name}.{os.getpid()}.{state.written}")
        made.mkdir(mode=FOLDER_MODE, parents=True)
        create_atomically(made / self.path.name, content)
        try:
            made.rename(self.path.parent)
        except OSError:  # somebody else was quicker
            (made / self.path.name).unlink()
            made.rmdir()
            write_atomically(self.path, content)

    def _parsed(self, content: bytes) -> State:
        try:
            signed = _Signed.model_validate_json(content)
            if not hmac.compare_digest(signed.proof, self._proof(signed.state)):
                raise ValueError("its proof is wrong")
            return State.model_validate_json(signed.state)
        except (ValidationError, ValueError) as error:
            reason = "it is no state of the switch" if isinstance(error, ValidationError) else str(error)
            return damaged(reason, hashlib.sha256(content).hexdigest()[:12])

    def _proof(self, text: str) -> str:
        return hmac.new(self.key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def damaged(reason: str, mark: str) -> State:
    """Everything is stopped until somebody lifts it; the mark keeps a proof for one damage from lifting another."""
    kill = Kill(
        kill_id=f"{DAMAGED}-{mark}",
        level="all",
        by="asos",
        reason=f"the file of the kill switch cannot be trusted: {reason}",
        at=datetime.now(UTC),
    )
    return State(kills=(kill,))


def purpose_of(kills: tuple[Kill, ...]) -> str:
    """What a second factor confirms that lifts exactly these; a later stop is another purpose."""
    return "lift:" + ",".join(sorted(kill.kill_id for kill in kills))


def as_json(kills: tuple[Kill, ...]) -> str:
    """For programs."""
    return json.dumps([kill.model_dump(mode="json") for kill in kills], ensure_ascii=False)
