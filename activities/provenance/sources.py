"""From the turns of a task to the values that a call can have been made of, each with who may have written it.

Only a person's own lines are theirs: what they quote or pass on is somebody else's. What the planner itself wrote, and
what the system said about its calls, is no source, since nothing is in it that was not seen before.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from pydantic import JsonValue

from contracts.provenance import Provenance, Source, ToolLabels
from contracts.quoting import own_words, quoted
from contracts.tools import ToolResult
from contracts.transcript import PlannerTurn, ToolTurn, Turn, UserTurn
from contracts.values import JsonObject
from policy.provenance.sources import Sources
from policy.provenance.tracing import points

LabelsOf = Callable[[str], ToolLabels]

SAID = Provenance(trusted=True, origins=("user",))
QUOTED = Provenance(trusted=False, origins=("quoted",))
ATTACHED = Provenance(trusted=True, origins=("attachment",))

_IDS = ("id", "note_id", "file_id")
"""Fields of a row that tell one thing of the person's own from the others, and that no stranger chooses."""

_NAMES = (*_IDS, "path", "name")
"""And those that a stranger can choose, where none has been."""


def sources_in(
    turns: Sequence[Turn], results: Mapping[str, ToolResult], labels_of: LabelsOf, book: Sequence[Source] = ()
) -> tuple[Source, ...]:
    """Oldest first, then the person's `book`. `results` are by call id; one that is missing is told by `is_whole`."""
    said = tuple(source for turn in turns if isinstance(turn, UserTurn) for source in _of_message(turn))
    own = Sources((*said, *book))
    args = {call.call_id: call.args or {} for turn in turns if isinstance(turn, PlannerTurn) for call in turn.calls}
    found: list[Source] = []
    for turn in turns:
        if isinstance(turn, UserTurn):
            found += _of_message(turn)
        elif isinstance(turn, ToolTurn) and turn.call_id in results:
            labels = labels_of(turn.tool)
            pointed = points(args.get(turn.call_id, {}), labels, own)
            found += _of_result(results[turn.call_id], labels, pointed=pointed)
    return (*found, *book)


def is_whole(turns: Sequence[Turn], results: Mapping[str, ToolResult]) -> bool:
    """Whether every result that the planner can have read is there to be looked into."""
    return all(turn.call_id in results for turn in turns if isinstance(turn, ToolTurn) and turn.result_ref is not None)


def words_in(turns: Sequence[Turn]) -> tuple[str, ...]:
    """What the person said themselves, one text a message."""
    return tuple(filter(None, (own_words(turn.text).strip() for turn in turns if isinstance(turn, UserTurn))))


def quotes(turns: Sequence[Turn]) -> bool:
    """Whether a message passes on what somebody else wrote."""
    return any(bool(quoted(turn.text).strip()) for turn in turns if isinstance(turn, UserTurn))


def attaches(turns: Sequence[Turn]) -> bool:
    """Whether the person gave a file of their own."""
    return any(bool(turn.attachments) for turn in turns if isinstance(turn, UserTurn))


def _of_message(turn: UserTurn) -> Iterator[Source]:
    words, foreign = own_words(turn.text).strip(), quoted(turn.text).strip()
    if words:
        yield Source(kind="message", text=words, provenance=SAID)
    if foreign:
        yield Source(kind="result", text=foreign, provenance=QUOTED)
    for file in turn.attachments:
        # Somebody else named a file that is passed on with nothing but their words.
        passed_on = bool(foreign) and not words
        yield Source(
            kind="result",
            text=f"{file.name}\n{file.caption}".strip(),
            provenance=QUOTED if passed_on else ATTACHED,
            ids=() if passed_on else (file.name,),
        )


def ids_of(value: JsonValue, fields: Sequence[str]) -> Iterator[str]:
    """What a result names as things of a closed list, by the fields that the labels of its tool say."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in fields and isinstance(inner, str | int):
                yield str(inner)
            else:
                yield from ids_of(inner, fields)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, str) and "*" in fields:
                yield inner
            else:
                yield from ids_of(inner, fields)


def source_of(text: str, ids: Iterable[str], provenance: Provenance, labels: ToolLabels, *, pointed: bool) -> Source:
    """What a tool with these labels gave; `pointed` if the person named what it read."""
    kind: Literal["contact", "result"] = "contact" if labels.contacts and provenance.trusted else "result"
    return Source(kind=kind, text=text, provenance=provenance, ids=tuple(ids), pointed=pointed)


def _of_result(result: ToolResult, labels: ToolLabels, *, pointed: bool) -> Iterator[Source]:
    if result.tool == "recall":
        yield from _of_notes(result)
    else:
        yield source_of(_words_of(result), _ids(result, labels), result.provenance, labels, pointed=pointed)


def _of_notes(result: ToolResult) -> Iterator[Source]:
    """Each note for itself, since one that came from outside makes no other one foreign."""
    rows = result.data.get("notes")
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict):
            provenance = _of_note(row, result.provenance)
            yield Source(
                kind="memory", text=str(row.get("text", "")), provenance=provenance, ids=(str(row.get("note_id", "")),)
            )


def _of_note(row: JsonObject, whole: Provenance) -> Provenance:
    trusted, origins = row.get("trusted"), row.get("origins")
    return Provenance(
        trusted=trusted if isinstance(trusted, bool) else whole.trusted,
        origins=tuple(map(str, origins)) if isinstance(origins, list) else whole.origins,
        confidentiality=whole.confidentiality,
    )


def _words_of(result: ToolResult) -> str:
    """All that a planner can read of a result, each text once."""
    parts = [result.text]
    for text in (result.headline, *_leaves(result.data)):
        if text and not any(text in part for part in parts):
            parts.append(text)
    return "\n".join(parts)


def _leaves(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)


def _ids(result: ToolResult, labels: ToolLabels) -> tuple[str, ...]:
    """What names the rows of the lists in a result. The links of a page, or the names in an archive, are no ids, since
    whoever wrote them could put an address there."""
    if labels.ids:
        return tuple(ids_of(result.data, labels.ids))
    if result.provenance.trusted:
        return tuple(_named(result.data, _NAMES))
    return tuple(_named(result.data, _IDS)) if labels.output == "own" else ()


def _named(value: JsonValue, keys: Sequence[str]) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _named(item, keys)
    elif isinstance(value, list):
        for row in value:
            if isinstance(row, dict):
                yield from (name for key in keys if isinstance(name := row.get(key), str) and name)
