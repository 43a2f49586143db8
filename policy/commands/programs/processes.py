"""Ending processes: one that is named may be ended, all of them at once never."""

import re

from policy.commands.call import Call
from policy.commands.program import Program, judged, table
from policy.commands.stream import OPAQUE, Stream
from policy.rules import Rule

_SIGNAL = re.compile(r"^-(?:[A-Za-z][A-Za-z0-9+-]*|\d+)$")


def _kill(call: Call) -> Stream:
    words = list(call.arguments)
    if words and words[0].text in ("-l", "-L", "--list", "--table"):
        return OPAQUE
    if words and words[0].text in ("-s", "-n", "--signal"):
        words = words[2:]
    elif words and _SIGNAL.match(words[0].text) and len(words) > 1:
        words = words[1:]
    for word in words:
        _judge_target(call, word.text, exact=word.is_exact)
    return OPAQUE


def _judge_target(call: Call, text: str, *, exact: bool) -> None:
    if text == "--":
        return
    if text in ("-1", "1", "0", "-0", "+1", "01"):
        call.deny(Rule.COMMAND_KILL)
    elif text.startswith("-"):
        call.ask(Rule.COMMAND_KILL)
    elif not (text.startswith("%") or text.isdigit()):
        call.ask(Rule.COMMAND_UNRESOLVED) if not exact else call.ask(Rule.COMMAND_KILL)


def _by_name(call: Call) -> Stream:
    if any(word.text in ("-l", "--list", "-V") for word in call.arguments):
        return OPAQUE
    wide = any(word.text in (".", ".*", "*", "") or word.text in ("-u", "-U", "--user") for word in call.arguments)
    return call.deny(Rule.COMMAND_KILL) if wide else call.ask(Rule.COMMAND_KILL)


PROGRAMS: dict[str, Program] = {
    "kill": judged(_kill),
    **table("pkill killall skill killall5 xkill fuser", judged(_by_name)),
    **table("renice lsof", judged(lambda call: call.ask(Rule.COMMAND_FLAG))),
}
