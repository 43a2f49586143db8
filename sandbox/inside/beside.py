"""Files that the host takes and puts itself, where it can reach the folders: it asks here where, and whether it may."""

from __future__ import annotations

import os

from sandbox.inside.files import mode_of
from sandbox.inside.places import located

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.inside.words import Plain


def destination(path: bytes) -> dict[str, Plain]:
    """Where new content of this file is to be put, and with which mode. Raises: Refused, OSError."""
    place = located(path, make=True)
    try:
        return {"root": place.root.decode(), "mode": mode_of(place)}
    finally:
        place.close()


def adopt(part: bytes, path: bytes) -> dict[str, Plain]:
    """Put a file in the place of another; both are below the same root. Raises: Refused, OSError."""
    source = located(part)
    try:
        place = located(path, make=True)
        try:
            mode_of(place)
            os.rename(source.name, place.name, src_dir_fd=source.folder, dst_dir_fd=place.folder)
        finally:
            place.close()
    finally:
        source.close()
    return {}


def remove(path: bytes) -> dict[str, Plain]:
    """Shows that what the host makes there is seen here. Raises: Refused, OSError."""
    place = located(path)
    try:
        os.unlink(place.name, dir_fd=place.folder)
    finally:
        place.close()
    return {}


ACTS: dict[str, Callable[..., dict[str, Plain]]] = {"destination": destination, "adopt": adopt, "remove": remove}
