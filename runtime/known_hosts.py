"""Where the further hosts of an installation are, kept so that a stop reaches them while Temporal is away."""

import logging
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from runtime.files import write_atomically
from runtime.paths import private_folder

_HOSTS = TypeAdapter(dict[str, str])
_log = logging.getLogger(__name__)


class KnownHosts:
    """A small file, written when a host appears or moves."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, str] | None = None

    def all(self) -> dict[str, str]:
        """Addresses by the names of hosts; none of an unreadable file."""
        try:
            return _HOSTS.validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return {}

    def seen(self, host_id: str, url: str) -> None:
        """Remember it; that it cannot be written keeps nobody from working."""
        if self._known is None:
            self._known = self.all()
        if not urlsplit(url).hostname or self._known.get(host_id) == url:
            return
        self._known[host_id] = url
        try:
            private_folder(self._path.parent)
            write_atomically(self._path, _HOSTS.dump_json({**self.all(), host_id: url}))
        except OSError as error:
            _log.warning("%s cannot be written: %s", self._path, error)
