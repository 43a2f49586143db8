"""An installation whose owner has paired a Telegram chat with it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.stack import Installation, eventually, installation
from tests.e2e.telegram_cloud import Talk, TelegramCloud, telegram_cloud

OWNER = 100
STRANGER = 666


@dataclass(frozen=True)
class Paired:
    """Both ends, and what led to the pairing."""

    asos: Installation
    cloud: TelegramCloud
    code: str
    shown_by_up: str
    """What a second `asos up` printed before the pairing."""

    def talk(self) -> Talk:
        return Talk(self.cloud, OWNER)


@contextmanager
def paired(folder: Path, extra: Mapping[str, str] | None = None) -> Iterator[Paired]:
    with telegram_cloud() as cloud, installation(folder, {**(extra or {}), **cloud.settings}) as asos:
        code = eventually(lambda: asos.asos("status", "--json").json["pairing_code"] or None)
        shown = asos.asos("up").out
        talk = Talk(cloud, OWNER)
        talk.say(code)
        talk.hears("Welcome")
        yield Paired(asos, cloud, code, shown)
