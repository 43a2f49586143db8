"""Which of the two languages a text is in."""

from typing import Literal

Language = Literal["en", "zh"]


def language_of(text: str) -> Language:
    """Chinese as soon as one CJK ideograph occurs: people mix English terms into Chinese, seldom the reverse."""
    return "zh" if any("\u4e00" <= character <= "\u9fff" for character in text) else "en"
