"""Values in shell scripts: they go in as variables, never as code, and nowhere where a shell would read them again."""

import re

from activities.playbook.references import Known, as_text, spans

READ_AGAIN = re.compile(
    r"(?<![\w./-])(?:eval|source|trap|let|declare|typeset|unset|alias|read|mapfile|readarray|getopts)(?![\w-])"
    r"|(?<![\w-])(?:xargs|parallel|watch|awk|gawk|mawk|sed|perl|ssh|su|sudo)(?![\w-])"
    r"|printf\s+-v|(?:\[|\btest)\s+(?:!\s+)?-v\b|(?:^|[;&|(]\s*)\.\s|-(?:exec|ok)(?:dir)?\b|(?<!\S)-[a-z]*[cS](?!\S)"
    r"|\(\(|\[\[|\$\[|\w\[|\$\{(?!\w+\})|`"
    r"|<<|\|\s*&?\s*(?:\S*/)?(?:ba|da|z|k|a)?sh\b|\|\s*(?:\S*/)?(?:python|node|ruby|php)[\d.]*(?!\s+-m\b)",
    re.MULTILINE,
)
"""Where a value could be taken for code after all: a second reading by a shell, arithmetic, or an interpreter."""

_COMMAND_PLACE = re.compile(
    r"(?:^|[;&|({\n!]|\b(?:if|then|elif|else|while|until|do|exec|env|nohup|command|builtin|time|coproc))\s*[\"']?$"
)


class UnsafeScript(Exception):
    """Raised when a reference stands where its value could run as code; the text quotes the place."""


def check(script: str) -> None:
    """Raises: UnsafeScript, BadReference."""
    places = [start for start, _, _ in spans(script)]
    again = READ_AGAIN.search(script) if places else None
    if again:
        raise UnsafeScript(again[0].strip())
    for start in places:
        if _quote_at(script, start) in ("'", "\\") or _COMMAND_PLACE.search(script[:start]):
            raise UnsafeScript(script[max(0, start - 10) : start + 12].strip())


def fill_script(script: str, known: Known) -> tuple[str, dict[str, str]]:
    """The script with `"${asos_1}"` for each reference, and the environment that gives these variables their values.

    Raises: Unresolved, UnsafeScript, BadReference.
    """
    check(script)
    values: dict[str, str] = {}
    parts: list[str] = []
    at = 0
    for number, (start, end, reference) in enumerate(spans(script), start=1):
        values[f"asos_{number}"] = as_text(known.value_of(reference)).replace("\0", "")
        name = f"${{asos_{number}}}"
        parts += [script[at:start], name if _quote_at(script, start) == '"' else f'"{name}"']
        at = end
    return "".join([*parts, script[at:]]), values


def _quote_at(script: str, position: int) -> str:
    """The quotation mark that is open there, a backslash if that is just before, or nothing."""
    quote = ""
    at = 0
    while at < position:
        character = script[at]
        if character == "\\" and quote != "'":
            at += 1
            if at == position:
                return "\\"
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        at += 1
    return quote
