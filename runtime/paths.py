"""Where everything lies in the data folder, which only its owner may enter."""

from dataclasses import dataclass
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600


class FolderUnusable(Exception):
    """Raised when a folder cannot be made, written, or closed to others; the text names it and the remedy."""


@dataclass(frozen=True)
class DataPaths:
    """The layout of one data folder."""

    root: Path

    @property
    def keyring(self) -> Path:
        return self.root / "keys" / "keyring.json"

    @property
    def second_factor(self) -> Path:
        """The sealed secret of the second factor; absent where none is set up."""
        return self.root / "keys" / "second-factor.box"

    @property
    def blobs(self) -> Path:
        return self.root / "blobs"

    @property
    def temporal_database(self) -> Path:
        return self.root / "temporal" / "temporal.db"

    @property
    def ledger(self) -> Path:
        return self.root / "audit" / "ledger.db"

    @property
    def standing(self) -> Path:
        """What people have allowed for good."""
        return self.root / "audit" / "standing.db"

    @property
    def audit_log(self) -> Path:
        return self.root / "audit" / "audit.db"

    @property
    def usage(self) -> Path:
        """What tasks and people have used up, and what people usually do."""
        return self.root / "audit" / "usage.db"

    @property
    def audit_head(self) -> Path:
        """The signed head, where no other place is set for it; the public key lies beside it."""
        return self.root / "audit-head" / "head.json"

    @property
    def audit_key(self) -> Path:
        """The private key that signs the audit log."""
        return self.root / "keys" / "audit-signing.pem"

    @property
    def gateway_database(self) -> Path:
        return self.root / "gateway" / "gateway.db"

    @property
    def vault(self) -> Path:
        """People's secrets, sealed."""
        return self.root / "identity" / "vault.db"

    @property
    def vault_head(self) -> Path:
        """Which state of the vault is the newest, where no other place is set for it."""
        return self.root / "identity-head" / "head.json"

    @property
    def notes(self) -> Path:
        """What the person asked to have remembered."""
        return self.root / "memory" / "notes.db"

    @property
    def contacts(self) -> Path:
        """People's address books, and the destinations that they have approved."""
        return self.root / "memory" / "contacts.db"

    @property
    def received(self) -> Path:
        """Where the terminal puts the files that tasks send."""
        return self.root / "received"

    @property
    def sandboxes(self) -> Path:
        return self.root / "sandboxes"

    @property
    def snapshots(self) -> Path:
        return self.root / "snapshots"

    @property
    def egress(self) -> Path:
        """The certificate authority for inspected hosts, and what tasks have sent and received."""
        return self.root / "egress"

    @property
    def policy(self) -> Path:
        return self.root / "policy.yaml"

    @property
    def policy_state(self) -> Path:
        """Which policy is in force, and why a change to it is not."""
        return self.root / "state" / "policy.json"

    @property
    def kill_switch(self) -> Path:
        """What is stopped; alone in its folder, so that its absence tells."""
        return self.root / "kill" / "switch.json"

    @property
    def known_hosts(self) -> Path:
        """Addresses of the further hosts of this installation, so that a stop reaches them without Temporal."""
        return self.root / "state" / "hosts.json"

    @property
    def pairing_code(self) -> Path:
        """Holds the one-time code by which a first contact is paired; absent when there is none to show."""
        return self.root / "gateway" / "pairing-code"

    @property
    def owner_token(self) -> Path:
        """Proves to the gateway's pages who the owner is."""
        return self.root / "gateway" / "owner-token"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def stack_state(self) -> Path:
        return self.root / "run" / "stack.json"

    @property
    def stack_lock(self) -> Path:
        return self.root / "run" / "stack.lock"

    def prepare(self) -> None:
        """Make every folder, closed to all but its owner. Raises: FolderUnusable."""
        files = (
            self.keyring,
            self.temporal_database,
            self.ledger,
            self.audit_head,
            self.gateway_database,
            self.notes,
            self.stack_state,
        )
        for folder in (self.root, self.blobs, self.sandboxes, self.egress, self.logs, *(file.parent for file in files)):
            private_folder(folder)


def private_folder(folder: Path) -> None:
    """Make a folder and its parents, and take all rights of group and others from it. Raises: FolderUnusable."""
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077:
            folder.chmod(FOLDER_MODE)
    except OSError as error:
        raise FolderUnusable(
            f"cannot use the folder {folder}: {error.strerror}; make it writable for you, or set ASOS_DATA_DIR"
        ) from error
