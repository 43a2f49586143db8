"""Where `/plan` finds its playbook: in the message, attached, among the shipped ones, or in the sandbox."""

import asyncio
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from activities.planners.requests import Request
from activities.planners.understanding import Do, Load, Say, Understood
from activities.playbook.load import load
from activities.playbook.model import Playbook
from activities.playbook.refusal import BadPlaybook
from contracts.blobs import Blobs
from contracts.language import Language
from contracts.messages import Attachment
from contracts.texts import planner as texts
from contracts.texts import playbook as playbook_texts
from contracts.tools import ToolSpec

SHIPPED = Path(__file__).parent / "playbooks"
LOADING = "!plan"
"""Name of the step that reads a playbook from the sandbox."""

_FENCE = re.compile(r"```(?:ya?ml)?\s*\n(.*?)```", re.DOTALL)
_YAML_NAME = re.compile(r".+\.ya?ml", re.IGNORECASE)


def shipped() -> tuple[str, ...]:
    """Names of the playbooks that come with the program."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.yaml")))


class Shelf:
    """Finds playbooks and checks them against the tools there are."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    async def take(self, rest: str, request: Request, tools: Sequence[ToolSpec], language: Language) -> Understood:
        """The playbook to run with its inputs, or what has to be read first."""
        first_line, _, below = rest.partition("\n")
        inline = _inline(rest, below)
        if inline is not None:
            words = (
                [] if rest.lstrip().startswith(("name:", "steps:", "```", "description:", "inputs:")) else [first_line]
            )
            return self._checked(inline, " ".join(words), tools, language)
        name, given = _name_and_inputs(first_line)
        attachment = _attached(name, request.attachments)
        if attachment is not None and attachment.blob is not None:
            content = await self._blobs.get(attachment.blob)
            return self._checked(content.decode(errors="replace"), first_line if not name else given, tools, language)
        if name in shipped():
            text = await asyncio.to_thread((SHIPPED / f"{name}.yaml").read_text, encoding="utf-8")
            return self._checked(text, given, tools, language)
        return self._from_sandbox(name, given, request, tools, language)

    def _from_sandbox(
        self, name: str, given: str, request: Request, tools: Sequence[ToolSpec], language: Language
    ) -> Understood:
        if not name:
            return Say(texts.NO_PLAYBOOK.say(language, known=", ".join(shipped())), "failed")
        outcome = request.outcomes.get(LOADING)
        if outcome is None:
            return Load(name)
        if not outcome.ok or outcome.result is None:
            reason = outcome.headline
            return Say(texts.PLAYBOOK_UNREADABLE.say(language, name=name, reason=reason), "failed")
        text = outcome.result.data.get("text")
        found = self._checked(text if isinstance(text, str) else outcome.result.text, given, tools, language)
        return replace(found, own_words=False) if isinstance(found, Do) else found

    def _checked(self, text: str, given: str, tools: Sequence[ToolSpec], language: Language) -> Understood:
        try:
            playbook = load(text, tools)
        except BadPlaybook as error:
            problem = playbook_texts.REFUSED.say(language, line=error.line, problem=error.say(language))
            return Say(problem, "failed")
        values = dict(pair for word in _words(given) if (pair := _pair(word)))
        return _with_inputs(playbook, values, language)


def _with_inputs(playbook: Playbook, values: dict[str, str], language: Language) -> Understood:
    unknown = [name for name in values if name not in playbook.inputs]
    if unknown:
        known = ", ".join(playbook.inputs) or "–"
        say = playbook_texts.INPUT_UNKNOWN.say(language, playbook=playbook.name, names=", ".join(unknown), known=known)
        return Say(say, "failed")
    inputs = {name: values.get(name, default) for name, default in playbook.inputs.items()}
    missing = [name for name, value in inputs.items() if value is None]
    if missing:
        say = playbook_texts.INPUT_MISSING.say(
            language, playbook=playbook.name, names=", ".join(missing), example=f"{missing[0]}=…"
        )
        return Say(say, "failed")
    return Do(playbook, {name: value for name, value in inputs.items() if value is not None})


def _inline(rest: str, below: str) -> str | None:
    """YAML in the message itself; without a fence its lines keep their numbers within the YAML."""
    fenced = _FENCE.search(rest)
    if fenced:
        return fenced[1]
    for text in (rest, below):
        if re.match(r"\s*(?:#[^\n]*\n\s*)*(?:name|description|inputs|steps|answer)\s*:", text):
            return text
    return below if below.strip() else None


def _name_and_inputs(line: str) -> tuple[str, str]:
    """The first word that is no `key=value`, and the rest."""
    words = _words(line)
    if words and _pair(words[0]) is None:
        return words[0], shlex.join(words[1:])
    return "", line


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _pair(word: str) -> tuple[str, str] | None:
    name, equals, value = word.partition("=")
    return (name, value) if equals and re.fullmatch(r"[A-Za-z][\w-]*", name) else None


def _attached(name: str, attachments: Sequence[Attachment]) -> Attachment | None:
    """The attachment of that name; without a name, the only one that can be a playbook."""
    if name:
        return next((item for item in attachments if item.name == name), None)
    fitting = [item for item in attachments if _YAML_NAME.fullmatch(item.name)] or list(attachments)
    return fitting[0] if len(fitting) == 1 else None
