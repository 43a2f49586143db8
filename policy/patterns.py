"""Command patterns of a policy file: a program, and words that must follow."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class CommandPattern:
    """`git push --force` matches every spelling that has this program, these words and these flags."""

    text: str
    program: str
    words: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, text: str) -> "CommandPattern":
        """Raises: ValueError, with the remedy."""
        program, *rest = text.split() or [""]
        if not program:
            raise ValueError("an empty command pattern: name a program, such as `git push`")
        while rest and rest[-1] in ("*", "**"):
            rest.pop()
        words = tuple(word for word in rest if not _is_flag(word))
        return cls(text, program.rsplit("/", 1)[-1], words, frozenset(_flags(rest)))

    def matches(self, program: str, arguments: Sequence[str]) -> bool:
        """Whether the command is one of this kind; words may lie apart, but keep their order."""
        if not fnmatchcase(program, self.program) or not self.flags <= frozenset(_flags(arguments)):
            return False
        left = iter(word for word in arguments if not _is_flag(word))
        return all(any(fnmatchcase(word, wanted) for word in left) for wanted in self.words)

    def permits(self, program: str, arguments: Sequence[str]) -> bool:
        """As permission the words must be the first ones, and a bare `*` does not permit unseen code."""
        if self.program == "*" or not fnmatchcase(program, self.program):
            return False
        leading = [*arguments[: len(self.words)]]
        return len(leading) == len(self.words) and all(map(fnmatchcase, leading, self.words))


def _is_flag(word: str) -> bool:
    return len(word) > 1 and word.startswith("-")


def _flags(words: Sequence[str]) -> list[str]:
    """Long flags without their values, and each letter of the short ones."""
    found: list[str] = []
    for word in words:
        if word.startswith("--"):
            found.append(word.split("=", 1)[0])
        elif _is_flag(word):
            found.extend("-" + letter for letter in word[1:])
    return found
