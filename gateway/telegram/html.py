"""Spans as Telegram's HTML. Every text is escaped, so that nothing in it can be taken for a tag."""

from html import escape

from gateway.rich import Mark, Span, Spans

_TAGS: dict[Mark, str] = {"bold": "b", "italic": "i", "strike": "s"}


def to_html(spans: Spans) -> str:
    """Neighbouring quoted spans share one blockquote; `code` and `pre` hold no other marks, as Telegram wants it."""
    parts: list[str] = []
    quoted = False
    for span in spans:
        if ("quote" in span.marks) is not quoted:
            parts.append("</blockquote>" if quoted else "<blockquote>")
            quoted = not quoted
        parts.append(_span(span))
    if quoted:
        parts.append("</blockquote>")
    return "".join(parts)


def _span(span: Span) -> str:
    text = escape(span.text, quote=False)
    if not span.text.strip():
        return text
    if "pre" in span.marks:
        return _pre(text, span.language)
    if "code" in span.marks:
        return f"<code>{text}</code>"
    for mark in reversed(span.marks):
        if mark in _TAGS:
            text = f"<{_TAGS[mark]}>{text}</{_TAGS[mark]}>"
    if span.href:
        text = f'<a href="{escape(span.href)}">{text}</a>'
    return text


def _pre(text: str, language: str) -> str:
    if language.replace("-", "").replace("+", "").replace("#", "").isalnum():
        return f'<pre><code class="language-{escape(language)}">{text}</code></pre>'
    return f"<pre>{text}</pre>"
