"""Look at the bare text of a script before any parser does: what cannot be shown honestly is not judged further."""

import re
import unicodedata

from policy.findings import Findings
from policy.rules import Rule

MAX_SCRIPT_CHARACTERS = 65_536
_SOCKET = re.compile(r"/dev/(tcp|udp)/")
_INVISIBLE = frozenset({"Cf", "Zl", "Zp", "Co", "Cn", "Cs"})


def screen(script: str, findings: Findings) -> bool:
    """Add what the characters alone tell; False if the text must not go to the parser."""
    if len(script) > MAX_SCRIPT_CHARACTERS:
        findings.ask(Rule.COMMAND_COMPLEX, f"{len(script)} characters")
        return False
    if control := next((c for c in script if _is_control(c)), None):
        findings.deny(Rule.COMMAND_CONTROL, control)
    if hidden := next((c for c in script if _is_invisible(c)), None):
        findings.ask(Rule.COMMAND_INVISIBLE, f"U+{ord(hidden):04X}")
    if _SOCKET.search(script):
        findings.deny(Rule.COMMAND_SOCKET, "/dev/tcp")
    return control is None and hidden is None


def _is_control(character: str) -> bool:
    return unicodedata.category(character) == "Cc" and character not in "\t\n"


def _is_invisible(character: str) -> bool:
    """Format characters, blanks that are no blanks to a shell, and whatever has no agreed look."""
    if character <= "\x7f":
        return False
    category = unicodedata.category(character)
    return (
        category in _INVISIBLE
        or (category == "Zs" and character != "\u3000")
        or character in "\u115f\u1160\u3164\ufffc\uffa0"
    )
