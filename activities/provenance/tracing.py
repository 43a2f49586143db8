"""The arguments of one call, taken to their sources, as policy is asked about them."""

from collections.abc import Iterable

from activities.playbook.progress import CONTENT
from activities.provenance.gathering import Gathered
from contracts.provenance import ArgumentKind, Provenance, ToolLabels, Traced
from contracts.tools import ToolCall
from contracts.values import JsonObject
from policy.provenance.tracing import Sources, trace

FILLED = CONTENT | {("shell", "env")}
"""Where a plan by rules puts what earlier steps gave: as content, which steers nothing; a script has it in variables."""

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
    trusted = bool(call.own_words) or not tainted
    whole = Provenance(trusted=trusted, origins=("user",) if call.own_words else ("planner",), confidentiality="public")
    parts = [each.provenance for each in found]
    if not parts:
        return whole
    joined = parts[0]
    for part in parts[1:]:
        joined = joined.joined(part)
    steered = any(each.steered for each in found)
    return joined.model_copy(update={"trusted": joined.trusted and not steered})


def destinations_in(found: Iterable[Traced]) -> tuple[tuple[ArgumentKind, str], ...]:
    """Where a call with these arguments goes, each place once."""
    places = ((each.kind, each.text) for each in found if each.kind in ("destination", "recipient") and each.text)
    return tuple(dict.fromkeys(places))


def _of_rules(tool: str, each: Traced) -> Traced:
    """Rules made it of the person's own words, whatever else may read the same; content alone may be foreign."""
    root = each.name.partition(".")[0].partition("[")[0]
    if (tool, root) not in FILLED or (tool, root) == ("shell", "script"):
        return each.model_copy(update={"how": "said", "provenance": OF_RULES})
    return each.model_copy(update={"kind": "text"})


def _unknown(each: Traced) -> Traced:
    provenance = each.provenance.model_copy(update={"trusted": False})
    return each.model_copy(update={"how": "unknown", "provenance": provenance})
