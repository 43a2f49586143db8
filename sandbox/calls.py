"""What is known of one running command: the news that its supervisor sends, or what its files say."""

import asyncio
import signal
from dataclasses import dataclass, field
from typing import Literal

Stream = Literal["stdout", "stderr"]
STREAMS: tuple[Stream, Stream] = ("stdout", "stderr")


@dataclass(frozen=True)
class Exit:
    """The end of a command's first process, as the supervising shell saw it."""

    code: int
    killed: bool
    seconds: float

    @classmethod
    def parsed(cls, words: list[str]) -> "Exit":
        code, killed, started, ended = words
        return cls(int(code), killed == "1", max(0.0, float(ended) - float(started)))

    @property
    def signal_name(self) -> str | None:
        """Such as `KILL`; None for an exit of its own. Shells report a signal as 128 plus its number."""
        if not self.killed or self.code <= 128:
            return None
        try:
            return signal.Signals(self.code - 128).name.removeprefix("SIG")
        except ValueError:
            return str(self.code - 128)


@dataclass(frozen=True)
class End:
    """The end of an output stream: bytes kept, or None where the kernel did not tell, and bytes dropped."""

    kept: int | None
    dropped: int


@dataclass
class Call:
    """Filled as news comes in; `changed` is set by each."""

    key: str
    joined: bool | None = None
    """None until the shell has answered whose call it is."""
    running_seconds: float = 0.0
    """How long an earlier attempt's command had been running when it was joined."""
    exit: Exit | None = None
    ends: dict[str, End] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, kind: str, words: list[str]) -> None:
        if kind == "exit":
            self.exit = Exit.parsed(words)
        elif kind == "end":
            stream, kept, dropped = words
            self.ends[stream] = End(None if int(kept) < 0 else int(kept), int(dropped))
        elif kind in ("new", "old"):
            self.joined = kind == "old"
        self.changed.set()

    @property
    def drained(self) -> bool:
        return all(stream in self.ends for stream in STREAMS)
