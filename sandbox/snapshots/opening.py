"""Which store an installation gets: a folder, or a bucket."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from obstore.exceptions import BaseError

from sandbox.snapshots.folder_shelf import FolderShelf
from sandbox.snapshots.s3_shelf import S3Shelf
from sandbox.snapshots.sealing import SnapshotKeys
from sandbox.snapshots.shelf import Shelf
from sandbox.snapshots.store import GRACE_SECONDS, Snapshots


class SnapshotStoreInvalid(Exception):
    """Raised when a location names no store; the text names it and the remedy."""


@dataclass(frozen=True)
class S3:
    """How an S3-compatible server is reached."""

    endpoint: str = ""
    """Empty takes that of AWS."""
    region: str = "us-east-1"
    access_key: str = ""
    """Empty takes what the surroundings give."""
    secret_key: str = ""


def open_snapshots(
    location: str,
    keys: SnapshotKeys,
    *,
    scratch: Path,
    s3: S3 | None = None,
    grace_seconds: float = GRACE_SECONDS,
) -> Snapshots:
    """The snapshots in a folder, or in a bucket if it is `s3://bucket/prefix`. Raises: SnapshotStoreInvalid."""
    return Snapshots(_shelf(location, s3 or S3()), keys, scratch=scratch, grace_seconds=grace_seconds)


def _shelf(location: str, s3: S3) -> Shelf:
    address = urlsplit(location)
    if not address.scheme:
        return FolderShelf(Path(location).expanduser().absolute())
    if address.scheme != "s3" or not address.netloc:
        raise SnapshotStoreInvalid(
            f"snapshot_store is {location!r}, which is neither a folder nor of the form s3://bucket/prefix"
        )
    try:
        return S3Shelf(
            address.netloc,
            address.path.strip("/"),
            endpoint=s3.endpoint,
            region=s3.region,
            access_key=s3.access_key,
            secret_key=s3.secret_key,
        )
    except (BaseError, ValueError) as error:
        raise SnapshotStoreInvalid(f"{location} cannot be used with these s3 settings: {error}") from error
