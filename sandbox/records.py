"""What a host must remember of its leases beyond its own life: epochs and open hosts."""

import json
import secrets
from pathlib import Path

from contracts.messages import HostGrant
from contracts.values import Value


class Record(Value):
    """One leased sandbox."""

    sandbox_id: str
    task_id: str
    epoch: int
    egress: tuple[HostGrant, ...] = ()


class Records:
    """One small file for each lease; and the name of this installation, so that two on one engine do not mix."""

    def __init__(self, state_dir: Path) -> None:
        self._root = state_dir / "leases"
        self._name = state_dir / "installation"

    def installation(self) -> str:
        """Made at the first call, and the same ever after."""
        self._name.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with self._name.open("x", encoding="ascii") as file:
                file.write(secrets.token_hex(4))
        except FileExistsError:
            pass
        return self._name.read_text(encoding="ascii").strip()

    def read(self, sandbox_id: str) -> Record | None:
        try:
            return Record.model_validate_json(self._path(sandbox_id).read_bytes())
        except (FileNotFoundError, ValueError):
            return None

    def write(self, record: Record) -> None:
        path = self._path(record.sandbox_id)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = path.with_suffix(f".{secrets.token_hex(4)}")
        part.write_text(json.dumps(record.model_dump(mode="json")), encoding="utf-8")
        part.replace(path)

    def remove(self, sandbox_id: str) -> None:
        self._path(sandbox_id).unlink(missing_ok=True)

    def _path(self, sandbox_id: str) -> Path:
        return self._root / f"{sandbox_id}.json"
