"""The list of malicious domains, held as sorted numbers: a million names take eight megabytes."""

import asyncio
import ipaddress
import logging
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from sandbox.addresses import is_number
from sandbox.grants import canonical_host

MOST_BYTES = 268_435_456
UNREADABLE_SHARE = 0.01
"""Public lists have a few odd lines; a file with more of them than this share is something else."""

PLAIN = re.compile(rb"(?:[a-z0-9_-]{1,63}\.)+[a-z0-9_-]{1,63}")

log = logging.getLogger(__name__)


class BlocklistBroken(Exception):
    """Raised when a file is no list of domains; the text names the file, the line and the remedy."""


class Blocklist:
    """Names that are closed, each with everything below it. Two names share a number once in 10^13 lists."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._numbers = array("q", (number for number, _ in groupby(sorted(numbers))))

    def __len__(self) -> int:
        return len(self._numbers)

    def rule_for(self, host: str) -> str | None:
        """The entry that closes a canonical host, or None."""
        if host in self:
            return host
        if is_number(host):
            return None
        labels = host.split(".")
        parents = (".".join(labels[start:]) for start in range(1, len(labels) - 1))
        return next((parent for parent in parents if parent in self), None)

    def __contains__(self, name: str) -> bool:
        number = _number(name.encode("utf-8", "surrogatepass"))
        place = bisect_left(self._numbers, number)
        return place < len(self._numbers) and self._numbers[place] == number


class BlocklistFile:
    """A file that is read again when it changes; a broken one leaves the former list in force."""

    def __init__(self, path: Path) -> None:
        """Raises: OSError, BlocklistBroken: what is to be closed must be known before anything starts."""
        self._path = path
        self._looking = asyncio.Lock()
        self._seen = _mark(path)
        self._list = read_blocklist(path)

    async def current(self) -> Blocklist:
        """What the file says now. Who asks first after a change waits until it has been read."""
        async with self._looking:
            mark = await asyncio.to_thread(_mark, self._path)
            if mark != self._seen:
                self._seen = mark  # before reading: a broken file is reported once, not with every request
                await asyncio.to_thread(self._read_again)
            return self._list

    def _read_again(self) -> None:
        try:
            self._list = read_blocklist(self._path)
        except (OSError, BlocklistBroken) as error:
            log.error("the blocklist cannot be read, the former one stays in force: %s", error)
        else:
            log.info("the blocklist %s has changed: %d names are in force", self._path, len(self._list))


def read_blocklist(path: Path) -> Blocklist:
    """Read a list of domains, or a file in the format of /etc/hosts. Raises: OSError, BlocklistBroken."""
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise BlocklistBroken(f"{path} has {size} bytes; at most {MOST_BYTES} are read: take a shorter list")
    numbers, lines, odd = array("q"), 0, []
    with path.open("rb") as file:
        for line_number, line in enumerate(file, 1):
            try:
                found = list(_numbers_of(line))
            except ValueError:
                found = []
                odd.append(line_number)
            lines += bool(found)
            numbers.extend(found)
            if b"\0" in line:
                raise BlocklistBroken(f"{path}:{line_number}: a NUL byte; the file is no text")
    if len(odd) > UNREADABLE_SHARE * (lines + len(odd)):
        raise BlocklistBroken(f"{path}:{odd[0]}: no domain, nor are {len(odd) - 1} further lines: is it a list?")
    if not lines:
        raise BlocklistBroken(f"{path} names no domain; to close none, leave ASOS_EGRESS_BLOCKLIST empty")
    if odd:
        log.warning("the blocklist %s has %d unreadable lines, such as line %d", path, len(odd), odd[0])
    return Blocklist(numbers)


def _numbers_of(line: bytes) -> Iterator[int]:
    """The names of one line. Raises: ValueError if it is neither a name nor an address and names."""
    words = line.partition(b"#")[0].lower().split()
    if len(words) > 1:
        _check_address(words[0])
        words = words[1:]
    for word in words:
        name = word.removeprefix(b"*").strip(b".")
        if PLAIN.fullmatch(name):
            yield _number(name)
        elif b"." in name or not name.isascii():
            yield _number(_spelled(name))
        elif not re.fullmatch(rb"[a-z0-9_-]{1,63}", name):
            raise ValueError("no name")
        # A name of one label, such as localhost, is a machine's own or a whole top-level domain: neither is meant.


@lru_cache(maxsize=64)  # a file in the format of /etc/hosts says the same address in every line
def _check_address(word: bytes) -> None:
    ipaddress.ip_address(word.partition(b"%")[0].decode("ascii", "replace"))


def _spelled(name: bytes) -> bytes:
    host = canonical_host(name.decode("utf-8"))
    if host is None:
        raise ValueError("no name")
    return host.encode("ascii")


def _number(name: bytes) -> int:
    """Python's own hash of bytes: 64 bits, and keyed anew in each process."""
    return hash(name)


def _mark(path: Path) -> tuple[int, int, int] | None:
    """Changes with the file; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
