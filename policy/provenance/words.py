"""The person's own words, made ready for the question whether they hold a value."""

import re
from collections.abc import Iterable
from functools import cached_property

from contracts.provenance import ArgumentKind
from policy.provenance.moments import days_in, is_clock, moment_of, names_day
from policy.provenance.numbers import number_of, numbers_in
from policy.provenance.places import accounts_in, address_of, compact, is_account, is_link, is_mail, links_in, mails_in
from policy.provenance.wording import folded, holds, holds_number, tells, tokens

_FEW_CHARACTERS = 3
"""A value this short stands anywhere by chance."""


class Words:
    """All that the person has written in a task."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.raw = "\n".join(texts)

    @cached_property
    def text(self) -> str:
        return folded(self.raw)

    @cached_property
    def mails(self) -> frozenset[str]:
        return mails_in(self.text)

    @cached_property
    def accounts(self) -> tuple[str, ...]:
        return accounts_in(self.text)

    def say(self, value: str, kind: ArgumentKind) -> bool:
        """Whether the person wrote this value, as the kind of thing that it is."""
        if not self.raw or not value.strip():
            return False
        match kind:
            case "amount" | "number":
                number = number_of(value)
                return number is not None and number in self._numbers
            case "time":
                return self._say_time(value)
            case "destination" | "recipient" | "identifier" | "path":
                return self._say_name(value)
            case "command" | "secret":
                return holds(self.raw, value)
            case "choice" | "query" | "text":
                return tells(self._tokens, tokens(folded(value)))

    def name(self, value: str) -> bool:
        """Whether the person wrote this name."""
        return holds(self.text, folded(value.strip()))

    @cached_property
    def _tokens(self) -> tuple[str, ...]:
        return tokens(self.text)

    @cached_property
    def _numbers(self) -> frozenset[float]:
        return numbers_in(self.text)

    @cached_property
    def _addresses(self) -> frozenset[tuple[str, str]]:
        return frozenset(filter(None, map(address_of, links_in(self.raw))))

    def _say_time(self, value: str) -> bool:
        moment = moment_of(value)
        if moment is not None:
            return names_day(days_in(self.text), moment)
        return is_clock(value) and holds(self.text, value.strip())

    def _say_name(self, value: str) -> bool:
        plain = folded(value.strip())
        if is_mail(plain):
            return plain in self.mails
        if is_link(value):
            return address_of(value) in self._addresses
        if is_account(plain):
            return self._say_account(compact(plain))
        if len(plain) < _FEW_CHARACTERS and plain.isdigit():
            return holds_number(self.text, plain)
        return holds(self.text, plain)

    def _say_account(self, account: str) -> bool:
        """However it was grouped."""
        spelled = "[ -]?".join(map(re.escape, account))
        return re.search(rf"(?<![A-Z0-9@._-]){spelled}(?![A-Z0-9@_-])", self.text.upper()) is not None
