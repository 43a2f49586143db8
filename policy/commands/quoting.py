"""Take shell quotes and escapes off, one kind a function."""

import re

_ANSI = re.compile(r"\\(?:x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_ANSI_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Truncated(Exception):
    """Raised when a string holds a NUL, at which bash cuts it off."""


def unescape_bare(text: str) -> list[tuple[str, bool]]:
    """An unquoted word as runs of text, each with whether a backslash protects it."""
    runs: list[tuple[str, bool]] = []
    for part in re.findall(r"\\.|[^\\]+|\\$", text, re.DOTALL):
        escaped = part.startswith("\\") and len(part) == 2
        if not (escaped and part[1] == "\n"):
            runs.append((part[1:] if escaped else part, escaped))
    return runs


def unescape_double(text: str) -> str:
    """The inside of double quotes, where a backslash protects only five characters."""
    return re.sub(r"\\([$`\"\\\n])", lambda found: "" if found[1] == "\n" else found[1], text)


def unescape_ansi(text: str) -> str:
    """The inside of `$'…'`. Raises: Truncated."""
    plain = _ANSI.sub(_ansi_character, text)
    if "\0" in plain:
        raise Truncated(text)
    return plain


def _ansi_character(found: re.Match[str]) -> str:
    code = found[0][1:]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\0"
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    if code[0] == "c" and len(code) == 2:
        return chr(ord(code[1]) & 0x1F)
    return _ANSI_LETTERS.get(code, code if code in "\\'\"?" else "\\" + code)
