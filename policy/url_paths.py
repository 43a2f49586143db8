"""The path of an address as servers may read it, so that no spelling slips by a blocked path."""

import unicodedata
from urllib.parse import unquote

DECODINGS = 5
"""More layers of percent-encoding than this are nobody's honest spelling; what is left then stays as it is."""


def path_parts(path: str) -> tuple[str, ...]:
    """Decoded however often it was encoded, folded in case and width, dots resolved, parameters cut off."""
    text = path
    for _ in range(DECODINGS):
        decoded = unquote(text, errors="replace")
        if decoded == text:
            break
        text = decoded
    text = unicodedata.normalize("NFKC", text).casefold().replace("\\", "/")
    parts: list[str] = []
    for part in text.split("/"):
        name = _bare(part)
        if name == "..":
            del parts[-1:]
        elif name not in ("", "."):
            parts.append(name)
    return tuple(parts)


def _bare(part: str) -> str:
    """Without `;parameters`, and without control and blank characters around, which some servers drop."""
    name = part.split(";", 1)[0]
    return "".join(character for character in name if character.isprintable()).strip()
