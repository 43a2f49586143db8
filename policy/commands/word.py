"""One word of a command after expansion, as far as it is known."""

from dataclasses import dataclass, replace

from policy.globs import GLOB_CHARACTERS

HOLE = "\ufffc"
"""Stands in a text for a part that is not known; screened out of everything that comes in."""


@dataclass(frozen=True)
class Word:
    """What one argument will be; `text` holds a HOLE for each part that is not known."""

    text: str
    glob: bool = False
    """True if wildcards in the text are live; those that were quoted are then written as `[*]`."""
    numeric: bool = False
    """True if some part is a number that is not known, written here as 0."""
    fetched: bool = False
    """True if some part came over the network."""
    many: bool = False
    """True if it may become no word or several."""

    @property
    def is_open(self) -> bool:
        """Whether some part could be anything."""
        return HOLE in self.text

    @property
    def is_exact(self) -> bool:
        return not (self.is_open or self.numeric or self.glob)

    @property
    def is_path_known(self) -> bool:
        """Whether it says which path is meant, up to wildcards and numbers."""
        return not self.is_open

    @property
    def known_start(self) -> str:
        return self.text.split(HOLE, 1)[0]

    def after(self, start: int) -> "Word":
        """The rest of the word, as for the value that is glued to a flag."""
        return replace(self, text=self.text[start:])


def literal(text: str) -> Word:
    return Word(text)


UNKNOWN = Word(HOLE, many=True)
NUMBER = Word("0", numeric=True)


@dataclass(frozen=True)
class Piece:
    """A part of a word before splitting: text, whether quotes protect it, and where it came from."""

    text: str
    quoted: bool = False
    expanded: bool = False
    """True for the value of an unquoted expansion, which is split at blanks."""
    numeric: bool = False
    fetched: bool = False
    globbed: bool = False
    """True if the text is a pattern for names that are not known, so that it stays one within quotes."""
    is_list: bool = False
    """True for the parts of `$@`, which stay words of their own within quotes."""


def join(pieces: list[Piece], *, splits: bool = True) -> list[Word]:
    """Make words of pieces as bash does with the standard IFS; without `splits`, as in an assignment, always one."""
    fields: list[list[Piece]] = [[]]
    for piece in pieces:
        if not (splits and piece.expanded):
            fields[-1].append(piece)
            continue
        _split_into(fields, piece)
    words = [_word(field, splits=splits) for field in fields if field]
    return words or ([] if splits and pieces and all(p.expanded for p in pieces) else [Word("")])


def _split_into(fields: list[list[Piece]], piece: Piece) -> None:
    parts = piece.text.split()
    if piece.text[:1].isspace() and fields[-1]:
        fields.append([])
    for index, part in enumerate(parts):
        if index:
            fields.append([])
        fields[-1].append(replace(piece, text=part))
    if piece.text[-1:].isspace() and fields[-1]:
        fields.append([])


def _word(field: list[Piece], *, splits: bool) -> Word:
    live = splits and any(not p.quoted and not GLOB_CHARACTERS.isdisjoint(p.text) for p in field)
    glob = live or any(p.globbed for p in field)
    text = "".join(_protected(p.text) if glob and p.quoted and not p.globbed else p.text for p in field)
    return Word(
        text,
        glob=glob,
        numeric=any(p.numeric for p in field),
        fetched=any(p.fetched for p in field),
        many=live or (splits and any(p.expanded and HOLE in p.text for p in field)),
    )


def _protected(text: str) -> str:
    return "".join(f"[{character}]" if character in GLOB_CHARACTERS else character for character in text)
