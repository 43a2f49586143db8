"""The marks between which a model is shown everything that is not the person's own word, and whose word it is."""

from contracts.quoting import own_words, quoted


class Marks:
    """`boundary` must be a word that no outsider can guess."""

    def __init__(self, boundary: str) -> None:
        self._boundary = boundary

    def data(self, text: str, *, trusted: bool) -> str:
        """Between marks; a text that holds the mark itself loses it."""
        trust = "trusted" if trusted else "untrusted"
        return f"<data {self._boundary} {trust}>\n{self.without(text)}\n</data {self._boundary}>"

    def note(self, text: str) -> str:
        """What the system itself says; nothing of others may be in it."""
        return f"[note {self._boundary}] {text}"

    def without(self, text: str) -> str:
        return text.replace(self._boundary, "…")

    def said(self, text: str) -> str:
        """The person's own lines as they are, and between marks what they quote or pass on."""
        own, others = self.without(own_words(text)).strip(), quoted(text)
        return "\n".join(filter(None, (own, self.data(others, trusted=False) if others.strip() else "")))
