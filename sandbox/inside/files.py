"""Reads and writes files for the host, a piece at a time, as fast as it takes and gives them."""

from __future__ import annotations

import os
import stat

from sandbox.inside.link import Channel
from sandbox.inside.places import LASTING, Refused, complaint, entered, kind_of, located, opened, require_plain
from sandbox.inside.records import write_all
from sandbox.inside.wire import PIECE
from sandbox.inside.words import said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sandbox.inside.link import Link
    from sandbox.inside.places import Place

LONGEST_LIST = 10_000
PART = b".asos-"


class Reading(Channel):
    """The content of one file."""

    def __init__(self, link: Link, number: int, path: bytes, most: int, beside: int = 0) -> None:
        """Of one with `beside` bytes or more only the place is said, if it is in a folder that lasts; 0 is no file."""
        super().__init__(link, number)
        place = located(path)
        self._shown, self._most, self._sent = place.shown, most, 0
        try:
            self._file, facts = opened(place)
        finally:
            place.close()
        if facts.st_size > most:
            os.close(self._file)
            raise Refused(f"{self._shown} has {facts.st_size} bytes, more than the {most} that may be read")
        if 0 < beside <= facts.st_size and place.root in LASTING:
            os.close(self._file)
            self.reply({"size": facts.st_size, "root": place.root.decode(), "below": b"/".join(place.below).hex()})
        else:
            self.more()

    def more(self) -> None:
        while self.credit > 0:
            try:
                piece = os.read(self._file, min(PIECE, self.credit))
            except OSError as error:
                return self._finish(complaint(self._shown, error))
            if not piece:
                return self._finish(None)
            self._sent += len(piece)
            if self._sent > self._most:
                return self._finish(f"{self._shown} grew beyond the {self._most} bytes that may be read")
            self.give(piece)
        return None

    def drop(self) -> None:
        os.close(self._file)

    def _finish(self, trouble: str | None) -> None:
        os.close(self._file)
        self.reply({"error": trouble} if trouble else {"size": self._sent})


class Writing(Channel):
    """New content of one file, which replaces the old one at the end."""

    def __init__(self, link: Link, number: int, path: bytes, most: int) -> None:
        super().__init__(link, number)
        self._most, self._size = most, 0
        self._place = located(path, make=True)
        try:
            self._mode = mode_of(self._place)
            self._part = PART + os.urandom(8).hex().encode()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            self._file = os.open(self._part, flags, 0o600, dir_fd=self._place.folder)
        except BaseException:
            self._place.close()
            raise

    def take(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._most:
            return self._fail(f"{self._place.shown} would have more than the {self._most} bytes allowed")
        try:
            write_all(self._file, data)
        except OSError as error:
            return self._fail(complaint(self._place.shown, error))
        return self.took(len(data))

    def end(self) -> None:
        place = self._place
        try:
            mode_of(place)
            os.fchmod(self._file, self._mode)
            os.rename(self._part, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
        except OSError as error:
            return self._fail(complaint(place.shown, error))
        except Refused as error:
            return self._fail(str(error))
        self._close()
        return self.reply({"size": self._size})

    def drop(self) -> None:
        try:
            os.unlink(self._part, dir_fd=self._place.folder)
        except OSError:
            pass
        self._close()

    def _fail(self, trouble: str) -> None:
        self.drop()
        self.reply({"error": trouble})

    def _close(self) -> None:
        os.close(self._file)
        self._place.close()


class Lines(Channel):
    """Many small facts, a line each, which `found` gathers."""

    def __init__(self, link: Link, number: int) -> None:
        super().__init__(link, number)
        self.found: list[bytes] = []
        self._text = b""
        self._complete = self._dropped = False

    def send_all(self) -> None:
        self._text, self._complete = b"\n".join(self.found), True
        self.more()

    def more(self) -> None:
        while self._text and self.credit > 0:
            size = min(PIECE, self.credit)
            piece, self._text = self._text[:size], self._text[size:]
            self.give(piece)
        if self._complete and not self._text:
            self._complete = False
            self.reply({})

    def drop(self) -> None:
        self._dropped = True


class Listing(Lines):
    """The names in one folder."""

    def __init__(self, link: Link, number: int, path: bytes) -> None:
        super().__init__(link, number)
        place = located(path)
        try:
            folder = entered(place)
        finally:
            place.close()
        try:
            self._look(folder, place.shown)
        finally:
            os.close(folder)
        self.send_all()

    def _look(self, folder: int, shown: str) -> None:
        with os.scandir(folder) as names:
            for entry in names:
                if len(self.found) >= LONGEST_LIST:
                    raise Refused(f"{shown} holds more than {LONGEST_LIST} names: list a folder below it")
                try:
                    facts = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                name = os.fsencode(entry.name).decode("utf-8", "replace")
                self.found.append(said([name, kind_of(facts), facts.st_size, facts.st_mtime]).encode("ascii"))


def mode_of(place: Place) -> int:
    """Mode for the new content: that of the file it replaces. Raises: Refused."""
    facts = place.facts()
    if facts is None:
        return 0o644
    require_plain(place.shown, facts)
    return stat.S_IMODE(facts.st_mode) & 0o777
