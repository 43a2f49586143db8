"""How many tokens a text is likely to take, without any model's own tokenizer; errs on the high side."""

LATIN_CHARACTERS_PER_TOKEN = 3.5


def tokens_of(text: str) -> int:
    """An upper estimate: one token for a character outside ASCII, and one for 3.5 characters inside it."""
    wide = sum(1 for character in text if character > "\x7f")
    return wide + int((len(text) - wide) / LATIN_CHARACTERS_PER_TOKEN) + 1


def clip(text: str, max_tokens: int) -> str:
    """Keep the beginning and the end, and say how much was left out between them."""
    if tokens_of(text) <= max_tokens:
        return text
    keep = max(40, int(len(text) * max_tokens / tokens_of(text)) - 40)
    head, tail = text[: keep * 2 // 3], text[len(text) - keep // 3 :]
    return f"{head}\n[… {len(text) - len(head) - len(tail)} characters left out …]\n{tail}"
