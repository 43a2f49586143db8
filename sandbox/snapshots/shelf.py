"""Where sealed objects lie; it need not be trusted with anything but keeping them."""

from collections.abc import Collection
from pathlib import Path
from typing import Protocol


class ObjectMissing(Exception):
    """Raised when there is no object of that name."""


class ShelfUnreachable(Exception):
    """Raised when the store does not answer or refuses; the text names it. It may work later."""


class Shelf(Protocol):
    """A store of objects by name, `folder/name`. All raise ShelfUnreachable."""

    async def put(self, name: str, content: bytes) -> None:
        """There as a whole and to stay when this returns, or not at all."""
        ...

    async def get(self, name: str) -> bytes:
        """Raises: ObjectMissing."""
        ...

    async def local(self, name: str, scratch: Path) -> Path:
        """A file of this machine with the object's content, in the folder `scratch` if it has to be brought here.
        Raises: ObjectMissing."""
        ...

    async def names(self, folder: str) -> list[str]:
        """Whole names of all objects in a folder."""
        ...

    async def missing(self, names: Collection[str]) -> set[str]:
        """Those of these objects that are not there."""
        ...

    async def delete(self, names: Collection[str]) -> None:
        """Absent ones are no error."""
        ...

    async def tidy(self, older_than_seconds: float) -> None:
        """Remove what writes left behind that never came to their end."""
        ...
