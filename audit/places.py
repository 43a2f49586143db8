"""Where one audit log lies: its records, and apart from them the signed head, the public key and the private key."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True)
class AuditPlaces:
    """The head belongs on another disk than the records: who can change both with the key can change the past."""

    database: Path
    head: Path
    private_key: Path

    @classmethod
    def below(cls, folder: Path) -> Self:
        """All in one folder, each in its own."""
        return cls(folder / "audit.db", folder / "audit-head" / "head.json", folder / "keys" / "audit-signing.pem")

    @property
    def public_key(self) -> Path:
        """Beside the head."""
        return self.head.with_name(f"{self.head.name}.pub")
