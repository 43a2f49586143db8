"""A small notation for what a program's flags and operands mean, and the reading of arguments by it.

`"-o|--output:write -k: -i!ask -v"`: `-o` takes a value that is a path to write, `-k` one that means nothing to us, `-i`
is a switch that is asked about, `-v` a harmless one. Switches need to be written down only where a specification
is strict.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from policy.commands.word import Word


@dataclass(frozen=True)
class Flag:
    """What one flag means; `role` says what happens to its value, or to the call where it takes none."""

    role: str
    takes_value: bool


@dataclass(frozen=True)
class Use:
    """One flag as it was given."""

    name: str
    role: str
    value: Word | None = None


@dataclass(frozen=True)
class Parsed:
    """Arguments sorted out."""

    uses: tuple[Use, ...]
    operands: tuple[Word, ...]
    unknown: tuple[Word, ...]
    """Flags that the specification does not name."""

    def has(self, *names: str) -> bool:
        return any(use.name in names for use in self.uses)

    def values(self, *names: str) -> list[Word]:
        return [use.value for use in self.uses if use.name in names and use.value is not None]


@dataclass(frozen=True)
class Spec:
    """How to read the arguments of one program."""

    notation: str = ""
    operands: str = "text"
    """The role of every operand."""
    strict: bool = False
    """True if a flag that is not written down must be asked about."""
    stops: bool = False
    """True if flags end at the first operand, as for programs that run another one."""
    single_dash: bool = False
    """True if long flags begin with one dash, as `-name`; then letters do not combine."""

    @cached_property
    def flags(self) -> dict[str, Flag]:
        found: dict[str, Flag] = {}
        for entry in self.notation.split():
            names, mark, role = _cut(entry)
            for name in names.split("|"):
                found[name] = Flag(role or "text", mark == ":")
        return found

    @cached_property
    def is_touchy(self) -> bool:
        """Whether a word that turns out to be a flag could matter."""
        return self.strict or any(flag.role != "text" for flag in self.flags.values())

    def parse(self, arguments: Sequence[Word]) -> Parsed:
        return _Reading(self).read(list(arguments))

    def long_flag(self, name: str) -> tuple[str, Flag] | None:
        """The flag of this name, or one that the name may abbreviate; the gravest one, if there are several."""
        if name in self.flags:
            return name, self.flags[name]
        candidates = [(full, flag) for full, flag in self.flags.items() if len(name) > 2 and full.startswith(name)]
        return max(candidates, key=lambda item: item[1].role != "text", default=None)


def _cut(entry: str) -> tuple[str, str, str]:
    for mark in (":", "!"):
        if mark in entry:
            names, _, role = entry.partition(mark)
            return names, mark, role
    return entry, "", "text"


class _Reading:
    """One pass over the arguments."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.uses: list[Use] = []
        self.operands: list[Word] = []
        self.unknown: list[Word] = []

    def read(self, words: list[Word]) -> Parsed:
        while words:
            word = words.pop(0)
            if word.text == "--" and word.is_exact:
                self.operands += words
                break
            if word.text.startswith("--") and not self.spec.single_dash:
                self._long(word, words)
            elif len(word.text) > 1 and word.text.startswith("-"):
                self._single(word, words) if self.spec.single_dash else self._cluster(word, words)
            else:
                self.operands.append(word)
                if self.spec.stops:
                    self.operands += words
                    break
        return Parsed(tuple(self.uses), tuple(self.operands), tuple(self.unknown))

    def _long(self, word: Word, words: list[Word]) -> None:
        name, equals, _ = word.text.partition("=")
        found = self.spec.long_flag(name)
        if found is None:
            self.unknown.append(word)
        elif equals:
            self.uses.append(Use(found[0], found[1].role, word.after(len(name) + 1)))
        else:
            self._use(*found, None, words)

    def _single(self, word: Word, words: list[Word]) -> None:
        name = word.text.split("=", 1)[0] if "=" in word.text else word.text
        name = "-" + name.lstrip("-") if name.startswith("--") else name
        flag = self.spec.flags.get(name)
        if flag is None:
            self.unknown.append(word)
        else:
            glued = word.after(word.text.index("=") + 1) if "=" in word.text else None
            self._use(name, flag, glued, words)

    def _cluster(self, word: Word, words: list[Word]) -> None:
        if word.text in self.spec.flags:
            return self._use(word.text, self.spec.flags[word.text], None, words)
        for index in range(1, len(word.text)):
            name = "-" + word.text[index]
            flag = self.spec.flags.get(name)
            if flag is None:
                self.unknown.append(word)
            elif flag.takes_value:
                rest = word.after(index + 1)
                return self._use(name, flag, rest if rest.text else None, words)
            else:
                self._use(name, flag, None, words)
        return None

    def _use(self, name: str, flag: Flag, glued: Word | None, words: list[Word]) -> None:
        value = glued
        if flag.takes_value and value is None and words:
            value = words.pop(0)
        self.uses.append(Use(name, flag.role, value))
