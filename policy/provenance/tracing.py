"""Take each argument of a call to where it came from."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from contracts.provenance import ArgumentKind, How, Provenance, Source, ToolLabels, Traced
from contracts.values import JsonObject
from policy.provenance.moments import is_clock, moment_of
from policy.provenance.numbers import number_of
from policy.provenance.places import accounts_in, is_account, is_link, is_mail, links_in
from policy.provenance.sources import Sources

MAX_SEARCHES = 16
"""How many values are looked for in foreign texts; further ones are `unknown`, which is judged the same."""

_FREE: tuple[ArgumentKind, ...] = ("text", "query")
"""In a long context nobody looks where free words came from: that they may be a stranger's is all that counts."""

MAX_LINKS = 20
SHOWN_CHARACTERS = 2_000
LARGEST = 1e9
"""A typed number is no larger: many digits can spell out a text."""

_CHOICE_CHARACTERS = 32
_REACHED: tuple[ArgumentKind, ...] = ("destination", "recipient")
_POINTING: tuple[ArgumentKind, ...] = ("destination", "recipient", "identifier", "path", "query")
_OWN: tuple[How, ...] = ("said", "contact", "approved", "made")


@dataclass
class _Tracer:
    """One call's arguments against one context."""

    sources: Sources
    searches: int = 0

    def traced(self, name: str, kind: ArgumentKind, text: str, *, is_plain: bool) -> Traced:
        """`is_plain` says that the value is no text at all, but a number or a truth value."""
        how = self._how(kind, text, is_plain)
        holders: tuple[Source, ...] = ()
        if how == "unknown" and self.searches < MAX_SEARCHES and (kind not in _FREE or self.sources.are_short):
            self.searches += 1
            holders = self.sources.holders(text)
            how = "foreign" if holders else how
        secret = how in ("foreign", "unknown") and self.sources.hold_secrets
        return Traced(
            name=name,
            kind=kind,
            text=text[:SHOWN_CHARACTERS],
            how=how,
            provenance=Provenance(
                trusted=how in _OWN,
                origins=tuple(dict.fromkeys(o for s in holders for o in s.provenance.origins)) or _ORIGINS[how],
                confidentiality="secret" if secret else "private",
            ),
            pointed=any(source.pointed for source in holders),
        )

    def is_named(self, kind: ArgumentKind, text: str) -> bool:
        """Whether it is the person who named the value."""
        return self._how(kind, text, is_plain=False) in ("said", "approved")

    def _how(self, kind: ArgumentKind, text: str, is_plain: bool) -> How:
        if not text.strip():
            return "typed"
        if self.sources.words.say(text, kind):
            return "said"
        if kind in _REACHED and self.sources.approves(text):
            return "approved"
        if kind in _REACHED and self.sources.resolves(text):
            return "contact"
        if kind in (*_REACHED, "identifier", "path") and self.sources.lists(text):
            return "listed"
        if not self.sources.tainted:
            return "made"
        return "typed" if _is_typed(kind, text, is_plain) else "unknown"


_ORIGINS: dict[How, tuple[str, ...]] = {
    "said": ("user",),
    "contact": ("contacts",),
    "approved": ("approved",),
    "listed": ("list",),
    "typed": ("planner",),
    "made": ("planner",),
    "unknown": ("planner",),
    "foreign": (),
}


def trace(args: JsonObject, labels: ToolLabels, sources: Sources) -> tuple[Traced, ...]:
    """Every single value in the arguments, with how it came about; a text's links and accounts on their own as well,
    as `body#link[0]`, since whoever reads the text may follow them. Pure.
    """
    tracer = _Tracer(sources)
    found: list[Traced] = []
    for name, value in _values("", args):
        kind = _kind_of(name, labels)
        text = _text_of(value)
        one = tracer.traced(name, kind, text, is_plain=not isinstance(value, str))
        found.append(one)
        if kind == "text" and one.how != "said":
            found.extend(_carried(tracer, name, text))
    return tuple(found)


def points(args: JsonObject, labels: ToolLabels, sources: Sources) -> bool:
    """Whether the person named with their own words what a call reads; its result is then a source they pointed to."""
    tracer = _Tracer(sources)
    values = ((_kind_of(name, labels), value) for name, value in _values("", args))
    return any(kind in _POINTING and tracer.is_named(kind, _text_of(value)) for kind, value in values)


def _values(path: str, value: JsonValue) -> Iterator[tuple[str, str | float | bool]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _values(f"{path}.{name}" if path else name, inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _values(f"{path}[{index}]", inner)
    elif value is not None:
        yield path, value


def _kind_of(path: str, labels: ToolLabels) -> ArgumentKind:
    """Of the longest beginning of the path that the labels name, places in lists left out."""
    parts = [part.split("[", 1)[0] for part in path.split(".")]
    for end in range(len(parts), 0, -1):
        kind = labels.arguments.get(".".join(parts[:end]))
        if kind is not None:
            return kind
    return "text"


def _text_of(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _is_typed(kind: ArgumentKind, text: str, is_plain: bool) -> bool:
    """A date, a number, one word of a choice: things that cannot say anything."""
    match kind:
        case "time":
            return moment_of(text) is not None or is_clock(text)
        case "number":
            number = number_of(text)
            return number is not None and abs(number) <= LARGEST
        case "choice":
            return is_plain or (
                len(text) <= _CHOICE_CHARACTERS
                and text.replace("_", "").replace("-", "").isalnum()
                and not is_account(text)
            )
        case "text" | "query":
            return is_plain
        case _:
            return False


def _carried(tracer: _Tracer, name: str, text: str) -> Iterator[Traced]:
    """Where a text leads whoever reads it."""
    if is_link(text) or is_mail(text):
        links: tuple[str, ...] = (text,) if is_link(text) else ()
    else:
        links = links_in(text)
    for index, link in enumerate(links[:MAX_LINKS]):
        yield tracer.traced(f"{name}#link[{index}]", "destination", link, is_plain=False)
    for index, account in enumerate(accounts_in(text)[:MAX_LINKS]):
        yield tracer.traced(f"{name}#account[{index}]", "recipient", account, is_plain=False)
    if len(links) > MAX_LINKS:
        yield tracer.traced(f"{name}#link", "destination", f"{len(links)} links", is_plain=False)
