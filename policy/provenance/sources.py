"""All that a planner has seen, made ready once and asked for many values."""

import re
from collections.abc import Iterable
from functools import cached_property

from contracts.provenance import Source
from policy.provenance.places import address_of, compact, is_account, is_link, is_mail, mails_in
from policy.provenance.wording import folded
from policy.provenance.words import Words

LONGEST_ID = 120
"""Nothing longer is an id, whatever a list says; a list of names that strangers chose may hold whole sentences."""

SHORTEST_FOUND = 3
LONGEST_FOUND = 4_000
"""Bounds of what is looked for in foreign texts: their origin is shown to the person, and decides nothing."""

SHORT_CHARACTERS = 200_000

_ENTRY = re.compile(r"\n\s*\n|\n(?=\s*- )")
_FIELD = re.compile(r"[\n,;<>|\t]|:\s")


class Sources:
    """Asks no source twice for the same: texts are folded on first use, and then kept."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._all = tuple(sources)
        self.words = Words(s.text for s in self._all if s.kind == "message" and s.provenance.trusted)
        self._foreign = tuple(source for source in self._all if not source.provenance.trusted)
        self.tainted = bool(self._foreign)
        self.hold_secrets = any(source.provenance.confidentiality == "secret" for source in self._all)
        self.ids = frozenset(id_ for source in self._all for id_ in source.ids if 0 < len(id_) <= LONGEST_ID)

    def resolves(self, value: str) -> bool:
        """Whether the person's address book has the value under a name that the person wrote."""
        plain = folded(value.strip())
        entries = [entry for entry in self._contacts if plain in entry]
        return any(self._named(entry - {plain}) for entry in entries)

    def lists(self, value: str) -> bool:
        """Whether the value is an id of a list, or anywhere in the person's address book."""
        return value in self.ids or any(folded(value.strip()) in entry for entry in self._contacts)

    def approves(self, value: str) -> bool:
        return folded(value.strip()) in self._approved

    def holders(self, value: str) -> tuple[Source, ...]:
        """The foreign sources whose texts hold the value."""
        if not SHORTEST_FOUND <= len(value) <= LONGEST_FOUND:
            return ()
        texts, plain = self._foreign_texts, folded(value.strip())
        if is_account(plain):
            texts, plain = self._foreign_accounts, compact(plain)
        elif (address := address_of(plain) if is_link(plain) else None) is not None:
            plain = "".join(address)
        return tuple(source for source, text in zip(self._foreign, texts, strict=True) if plain in text)

    @cached_property
    def are_short(self) -> bool:
        """Whether looking through all foreign texts costs nothing to speak of."""
        return sum(len(source.text) for source in self._foreign) <= SHORT_CHARACTERS

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Entries of closed lists that the person wrote, and that are names rather than numbers."""
        return tuple(id_ for id_ in sorted(self.ids) if not id_.isdigit() and len(id_) > 2 and self.words.name(id_))

    @cached_property
    def _foreign_texts(self) -> tuple[str, ...]:
        return tuple(folded(source.text) for source in self._foreign)

    @cached_property
    def _foreign_accounts(self) -> tuple[str, ...]:
        """Without the blanks that accounts are grouped by."""
        return tuple(compact(text) for text in self._foreign_texts)

    @cached_property
    def _approved(self) -> frozenset[str]:
        return frozenset(folded(s.text.strip()) for s in self._all if s.kind == "approved" and s.provenance.trusted)

    @cached_property
    def _contacts(self) -> tuple[frozenset[str], ...]:
        """The fields of each entry of the address book."""
        texts = [folded(s.text) for s in self._all if s.kind == "contact" and s.provenance.trusted]
        entries = (entry for text in texts for entry in _entries(text))
        return tuple(frozenset(field.strip(" -\"'") for field in _FIELD.split(entry)) - {""} for entry in entries)

    def _named(self, fields: frozenset[str]) -> bool:
        """By a whole name, or by a first name that only one entry has."""
        names = [field for field in fields if not is_mail(field) and _is_name(field)]
        if any(self.words.name(name) for name in names):
            return True
        firsts = {name.split()[0] for name in names if " " in name and len(name.split()[0]) > 2}
        return any(self.words.name(first) and self._bearers(first) == 1 for first in firsts)

    def _bearers(self, first: str) -> int:
        return sum(any(field.split()[:1] == [first] for field in entry) for entry in self._contacts)


_FIELD_NAMES = frozenset(("name", "email", "mail", "e-mail", "phone", "address", "id", "contact", "account", "iban"))


def _is_name(field: str) -> bool:
    return field not in _FIELD_NAMES and len(field) > (2 if field.isascii() else 1)


def _entries(text: str) -> list[str]:
    """One for each contact: a line that names somebody and their address, or a block of lines."""
    lines = text.splitlines()
    if any(mails_in(line) and len(_FIELD.split(line)) > 2 for line in lines):
        return lines
    return _ENTRY.split(text)
