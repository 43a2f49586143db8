"""Says where paths lead, links followed, and what lies there: looked at without being touched.

What it says holds for the moment of the look. A process of the sandbox that changes a link right after it is not seen.
"""

from __future__ import annotations

import os
import posixpath
import stat

from sandbox.inside.files import Lines
from sandbox.inside.places import FOLDER, kind_of
from sandbox.inside.words import said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.inside.link import Link
    from sandbox.inside.loop import Loop

MOST_NAMES = 200_000
"""Names that are looked at for wildcards, in one exchange."""
MOST_FOUND = 5_000
"""Links that wildcards may lead to."""
LARGEST, LARGEST_TOGETHER = 16 * 1_048_576, 256 * 1_048_576
PIECE = 1_048_576
LIVE = (b"*", b"?", b"[")


class TooMuch(Exception):
    """Raised when there is more than can be looked at in one exchange."""


class Following(Lines):
    """One line for each path, and for each link that a wildcard leads to."""

    def __init__(self, loop: Loop, link: Link, number: int, paths: list[bytes], digests: bool) -> None:
        super().__init__(link, number)
        self._left = LARGEST_TOGETHER
        loop.in_background(self._steps(paths, digests))

    def _steps(self, paths: list[bytes], digests: bool) -> Iterator[None]:
        try:
            for path in paths:
                for name in followed(path, digests):
                    yield
                    if self._dropped:
                        return
                    if name is not None:
                        yield from self._found(name, digests)
        except (OSError, TooMuch) as error:
            self.found = []
            if not self._dropped:
                self.reply({"error": str(error)})
        else:
            if not self._dropped:
                self.send_all()

    def _found(self, name: bytes, digests: bool) -> Iterator[None]:
        real = real_path(name)
        content = ""
        if digests:
            taking = Taking(real, self._left)
            yield from taking.steps()
            self._left -= taking.size
            content = taking.content
        words = [one.decode("utf-8", "replace") for one in (name, real)]
        self.found.append(said([*words, content]).encode("ascii"))


class Taking:
    """The digest of one file, taken a piece at a time."""

    def __init__(self, real: bytes, most: int) -> None:
        self.content = "unreadable"
        """SHA-256, or why there is none."""
        self.size = 0
        self._real = real
        self._most = min(most, LARGEST)

    def steps(self) -> Iterator[None]:
        try:
            file = self._opened()
        except (FileNotFoundError, NotADirectoryError):
            self.content = "absent"
            return
        except OSError:
            return
        if file is None:
            return
        try:
            yield from self._read(file)
        except OSError:
            self.content = "unreadable"
        finally:
            os.close(file)

    def _opened(self) -> int | None:
        """The path has no link in it, so that one which is there now has been put in the way: it is not followed.

        What is no plain file is never opened: it might wait for ever, or do something."""
        folder = os.open(b"/", FOLDER)
        try:
            *names, last = [name for name in self._real.split(b"/") if name] or [b"."]
            for name in names:
                below = os.open(name, FOLDER, dir_fd=folder)
                os.close(folder)
                folder = below
            facts = os.stat(last, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(facts.st_mode):
                self.content = "folder" if kind_of(facts) == "folder" else "unreadable"
                return None
            file = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        finally:
            os.close(folder)
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            return None
        return file

    def _read(self, file: int) -> Iterator[None]:
        import hashlib  # noqa: PLC0415  it takes 15 ms, and few need it

        digest = hashlib.sha256()
        if os.fstat(file).st_size > self._most:
            self.content = "too_large"
            return
        while piece := os.read(file, PIECE):
            self.size += len(piece)
            if self.size > self._most:
                self.content = "too_large"
                return
            digest.update(piece)
            yield
        self.content = digest.hexdigest()


def followed(path: bytes, every: bool = False) -> Iterator[bytes | None]:
    """The path itself, or with wildcards those of its names that lead elsewhere, or `every` one. None is a pause.

    Raises: TooMuch, OSError."""
    start, parts = _cut(path)
    if not parts:
        yield start
        return
    if real_path(start) != posixpath.normpath(start):
        yield start
    found = 0
    for name in _matching(start, parts, [0]):
        if name is not None and (every or real_path(name) != posixpath.normpath(name)):
            found += 1
            if found > MOST_FOUND:
                raise TooMuch(f"more than {MOST_FOUND} names fit {path.decode('utf-8', 'replace')!r}")
            yield name
        else:
            yield None


def real_path(path: bytes) -> bytes:
    """With all links followed; what does not exist stays as it is. This process's own /proc is anybody's."""
    real = os.path.realpath(path)
    own = b"/proc/%d" % os.getpid()
    return b"/proc/self" + real[len(own) :] if real == own or real.startswith(own + b"/") else real


def _cut(path: bytes) -> tuple[bytes, list[bytes]]:
    """The part before the first wildcard, taken literally, and what follows."""
    parts = [part for part in path.split(b"/") if part]
    fixed = 0
    while fixed < len(parts) and _literal(parts[fixed]) is not None:
        fixed += 1
    return b"/" + b"/".join(_literal(part) or part for part in parts[:fixed]), parts[fixed:]


def _literal(part: bytes) -> bytes | None:
    """A name whose wildcards all stand in brackets for themselves; None if one is live."""
    plain, at = b"", 0
    while at < len(part):
        if part[at : at + 1] not in LIVE:
            plain, at = plain + part[at : at + 1], at + 1
        elif part[at : at + 1] == b"[" and part[at + 1 : at + 2] in LIVE and part[at + 2 : at + 3] == b"]":
            plain, at = plain + part[at + 1 : at + 2], at + 3
        else:
            return None
    return plain


def _matching(folder: bytes, parts: list[bytes], seen: list[int]) -> Iterator[bytes | None]:
    import fnmatch  # noqa: PLC0415  with re it takes long, and few need it
    import re  # noqa: PLC0415  as the other

    part, rest = parts[0], parts[1:]
    literal = _literal(part)
    names = [literal] if literal is not None else None
    if names is None:
        fits = re.compile(fnmatch.translate(part.decode("utf-8", "surrogateescape"))).match
        try:
            listed = os.listdir(folder)
        except OSError:
            return
        seen[0] += len(listed)
        if seen[0] > MOST_NAMES:
            raise TooMuch(f"more than {MOST_NAMES} names to look at")
        hidden = part.startswith((b".", b"["))
        names = [n for n in listed if fits(n.decode("utf-8", "surrogateescape")) and (hidden or n[:1] != b".")]
    for name in names:
        whole = posixpath.join(folder, name)
        if not rest:
            yield whole if literal is None or os.path.lexists(whole) else None
        elif os.path.isdir(whole):
            yield None
            yield from _matching(whole, rest, seen)
