"""The store of snapshots, with keys derived from the installation's own."""

from runtime.keys import Keyring, UnknownKey
from runtime.paths import DataPaths
from runtime.settings import Settings
from sandbox.snapshots.opening import S3, open_snapshots
from sandbox.snapshots.sealing import SnapshotKeys
from sandbox.snapshots.store import Snapshots

SEALING = b"asos/snapshots/seal"
NAMING = b"asos/snapshots/naming"


def snapshots_of(settings: Settings, paths: DataPaths, keyring: Keyring) -> Snapshots:
    """Raises: SnapshotStoreInvalid."""
    return open_snapshots(
        settings.snapshot_store or str(paths.snapshots),
        snapshot_keys(keyring),
        scratch=paths.sandboxes / "restoring",
        s3=S3(
            endpoint=settings.s3_endpoint,
            region=settings.s3_region,
            access_key=settings.s3_access_key.get_secret_value() if settings.s3_access_key else "",
            secret_key=settings.s3_secret_key.get_secret_value() if settings.s3_secret_key else "",
        ),
    )


def snapshot_keys(keyring: Keyring) -> SnapshotKeys:
    """Rotated together with the keyring; the older ones still open."""

    def key(key_id: str) -> bytes:
        try:
            return keyring.derived(key_id, SEALING)
        except UnknownKey as error:
            raise KeyError(key_id) from error

    return SnapshotKeys(active=lambda: keyring.active_key_id, key=key, naming=keyring.derived_naming(NAMING))
