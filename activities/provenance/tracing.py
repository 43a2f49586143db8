"""The arguments of one call, taken to their sources, as policy is asked about them."""

import re
from collections.abc import Iterable
from functools import reduce

from activities.playbook.progress import CONTENT
from activities.provenance.gathering import Gathered
from contracts.provenance import ArgumentKind, Provenance, ToolLabels, Traced
from contracts.tools import ToolCall
from contracts.values import JsonObject
from policy.provenance.sources import Sources
from policy.provenance.tracing import trace

FILLED = CONTENT | {("shell", "env")}
"""Where a plan by rules puts what earlier steps gave: as content that steers nothing; a script has it in variables."""

OF_RULES = Provenance(trusted=True, origins=("user",))


def traced(
    call: ToolCall, args: JsonObject, labels: ToolLabels, gathered: Gathered | None, *, tainted: bool
) -> tuple[Traced, ...]:
    """Without sources, or with only a part of them, nobody can say of what the planner made something."""
    found = trace(args, labels, gathered.sources if gathered else Sources(()))
    if call.own_words:
        return tuple(_of_rules(call.tool, each) for each in found)
    if gathered is None and tainted:
        return tuple(_unknown(each) for each in found)
    if gathered is not None and not gathered.whole:
        return tuple(_unknown(each) if each.how == "made" else each for each in found)
    return found


def given(call: ToolCall, found: Iterable[Traced], *, tainted: bool) -> Provenance:
    """Of all that a call was given together: what it writes is no better than that."""
    parts = tuple(found)
    if not parts:
        trusted = bool(call.own_words) or not tainted
        origins = ("user",) if call.own_words else ("planner",)
        return Provenance(trusted=trusted, origins=origins, confidentiality="public")
    joined = reduce(Provenance.joined, (each.provenance for each in parts))
    return joined.model_copy(update={"trusted": all(map(_says_nothing_foreign, parts))})


def _says_nothing_foreign(each: Traced) -> bool:
    """A number, a date, or an id of a list says nothing, whoever chose it."""
    return not each.steered and (each.provenance.trusted or each.how in ("typed", "listed"))


def destinations_in(found: Iterable[Traced]) -> tuple[tuple[ArgumentKind, str], ...]:
    """Where a call with these arguments goes, each place once; what a text merely mentions is no such place."""
    named = (each for each in found if each.kind in ("destination", "recipient") and each.text)
    return tuple(dict.fromkeys((each.kind, each.text) for each in named if "#" not in each.name))


def _of_rules(tool: str, each: Traced) -> Traced:
    """Rules made it of the person's own words, whatever else may read the same; content alone may be foreign."""
    root = re.split(r"[.\[#]", each.name, maxsplit=1)[0]
    if (tool, root) not in FILLED or (tool, root) == ("shell", "script"):
        return each.model_copy(update={"how": "said", "provenance": OF_RULES})
    return each.model_copy(update={"how": "made"}) if each.steered else each


def _unknown(each: Traced) -> Traced:
    provenance = each.provenance.model_copy(update={"trusted": False})
    return each.model_copy(update={"how": "unknown", "provenance": provenance})
