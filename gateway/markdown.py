"""Markdown, as models write it, into spans; what is not markdown stays the text that it is."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from gateway.rich import Mark, Span, Spans, text_of

# Definitions of references would vanish, and entities would turn into other text than was written.
_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(["reference", "entity"])
_INLINE: dict[str, Mark] = {"strong": "bold", "em": "italic", "s": "strike"}
_LINK_SCHEMES = frozenset({"http", "https", "mailto"})


def to_spans(markdown: str) -> Spans:
    """Every visible character of the source arrives, formatted or not."""
    writer = _Writer()
    for token in _PARSER.parse(markdown):
        writer.block(token)
    return writer.finish()


@dataclass
class _Writer:
    spans: list[Span] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    lists: list[int | None] = field(default_factory=list)
    """The next number of each open list, None for bullets."""
    hrefs: list[str] = field(default_factory=list)
    row: list[str] | None = None

    def block(self, token: Token) -> None:
        match token.type:
            case "heading_open":
                self.marks.append("bold")
            case "blockquote_open":
                self.marks.append("quote")
            case "heading_close" | "blockquote_close":
                self.marks.pop()
                self._break(2)
            case "paragraph_close":
                self._break(1 if self.lists else 2)
            case "bullet_list_open":
                self.lists.append(None)
            case "ordered_list_open":
                self.lists.append(int(token.attrGet("start") or 1))
            case "bullet_list_close" | "ordered_list_close":
                self.lists.pop()
                self._break(1 if self.lists else 2)
            case "list_item_open":
                self._item()
            case "fence" | "code_block":
                self._add(token.content.rstrip("\n"), ("pre",), language=token.info.split(" ")[0])
                self._break(2)
            case "hr":
                self._add("———")
                self._break(2)
            case "tr_open":
                self.row = []
            case "tr_close":
                self._add(" | ".join(self.row or []), ("code",))
                self.row = None
                self._break(1)
            case "table_close":
                self._break(2)
            case "inline":
                self._inline(token)

    def finish(self) -> Spans:
        while self.spans and not self.spans[-1].text.strip("\n"):
            self.spans.pop()
        return tuple(_joined(self.spans))

    def _inline(self, token: Token) -> None:
        children = token.children or []
        if self.row is not None:
            cell = _Writer()
            for child in children:
                cell._child(child)
            self.row.append(text_of(cell.spans))
            return
        for child in children:
            self._child(child)

    def _child(self, token: Token) -> None:
        name = token.tag
        match token.type:
            case "strong_open" | "em_open" | "s_open":
                self.marks.append(_INLINE[name])
            case "strong_close" | "em_close" | "s_close":
                self.marks.pop()
            case "link_open":
                self.hrefs.append(str(token.attrGet("href") or ""))
            case "link_close":
                self.hrefs.pop()
            case "code_inline":
                self._add(token.content, ("code",))
            case "softbreak" | "hardbreak":
                self._add("\n")
            case "image":
                self._image(token)
            case _:
                self._add(token.content)

    def _image(self, token: Token) -> None:
        self.hrefs.append(str(token.attrGet("src") or ""))
        self._add(token.content or "image")
        self.hrefs.pop()

    def _item(self) -> None:
        number = self.lists[-1]
        indent = "  " * (len(self.lists) - 1)
        if number is None:
            self._add(f"{indent}• ")
        else:
            self._add(f"{indent}{number}. ")
            self.lists[-1] = number + 1

    def _add(self, text: str, marks: tuple[Mark, ...] = (), language: str = "") -> None:
        if not text:
            return
        href = self.hrefs[-1] if self.hrefs and _is_link(self.hrefs[-1]) else ""
        around = tuple(dict.fromkeys(self.marks))
        link: tuple[Mark, ...] = ("link",) if href else ()
        self.spans.append(Span(text, (*link, *around, *marks), href=href, language=language))

    def _break(self, lines: int) -> None:
        if not self.spans:
            return
        have = len(self.spans[-1].text) if not self.spans[-1].text.strip("\n") else 0
        if have < lines:
            self.spans.append(Span("\n" * (lines - have)))


def _is_link(href: str) -> bool:
    return urlsplit(href).scheme.lower() in _LINK_SCHEMES


def _joined(spans: list[Span]) -> Iterator[Span]:
    """Neighbours with the same marks as one, so that a message needs fewer marks."""
    current: Span | None = None
    for span in spans:
        if current is None:
            current = span
        elif (span.marks, span.href, span.language) == (current.marks, current.href, current.language):
            current = Span(current.text + span.text, span.marks, span.href, span.language)
        else:
            yield current
            current = span
    if current is not None:
        yield current
