"""What flows out of one command into the next, as far as it is known."""

from dataclasses import dataclass

from policy.commands.word import HOLE, UNKNOWN, Word


@dataclass(frozen=True)
class Stream:
    """Text that is known, or names of files that are known by their folder, or neither."""

    text: str | None = None
    items: tuple[Word, ...] = ()
    """What each line or name may be, where the producer lists files."""
    fetched: bool = False
    """True if it came, or may have come, over the network."""

    def as_word(self) -> Word:
        """As the value of a command substitution."""
        if self.text is not None and HOLE not in self.text:
            return Word(self.text.rstrip("\n"), fetched=self.fetched)
        return Word(UNKNOWN.text, fetched=self.fetched, many=True)

    def names(self) -> tuple[Word, ...]:
        """As arguments that xargs makes of it."""
        if self.text is not None and not any(character in self.text for character in "'\"\\" + HOLE):
            return tuple(Word(part) for part in self.text.split())
        return self.items or (Word(UNKNOWN.text, fetched=self.fetched, many=True),)

    def lines(self) -> tuple[Word, ...]:
        """As whole lines, the way `xargs -I` takes them."""
        if self.text is not None and HOLE not in self.text:
            return tuple(Word(line.strip(), fetched=self.fetched) for line in self.text.splitlines() if line.strip())
        return self.names()


OPAQUE = Stream()
EMPTY = Stream(text="")


def together(outputs: list[Stream]) -> Stream:
    """What several commands write one after the other; their text is only known if it is all of one."""
    if len(outputs) == 1:
        return outputs[0]
    if all(output.text is not None for output in outputs):
        return Stream(text="".join(output.text or "" for output in outputs), fetched=any(o.fetched for o in outputs))
    return Stream(fetched=any(output.fetched for output in outputs))
