"""Read a playbook, and refuse it with the line where it is wrong before any step has run."""

import re
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from activities.playbook.model import Playbook, Step
from activities.playbook.references import BadReference, Reference, parse, references_in
from activities.playbook.refusal import BadPlaybook
from activities.playbook.scripts import UnsafeScript, check
from activities.playbook.when import BadCondition, condition
from activities.playbook.yaml_tree import Tree, read
from contracts.texts import playbook as texts
from contracts.tools import ToolSpec
from contracts.values import JsonObject

MAX_STEPS = 100

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_KEYS = frozenset({"name", "description", "inputs", "steps", "answer"})
_STEP_KEYS = frozenset({"id", "tool", "args", "after", "approve", "when"})


def load(text: str, tools: Sequence[ToolSpec]) -> Playbook:
    """Raises: BadPlaybook."""
    tree = read(text)
    fields = _mapping(tree, "`playbook`")
    _known_keys(tree, fields, _KEYS)
    if "steps" not in fields:
        raise BadPlaybook(tree.line, texts.MISSING_KEY, name="steps")
    reader = _StepReader({spec.name: spec for spec in tools}, _inputs(fields.get("inputs")))
    steps = reader.read(fields["steps"])
    answer = _text(fields["answer"], "answer") if "answer" in fields else ""
    if answer:
        reader.references(answer, fields["answer"].line)
    return Playbook(
        name=_text(fields["name"], "name") if "name" in fields else "playbook",
        description=_text(fields["description"], "description") if "description" in fields else "",
        inputs=reader.inputs,
        steps=steps,
        answer=answer,
    )


class _StepReader:
    """Reads the steps of one playbook against the tools there are."""

    def __init__(self, tools: Mapping[str, ToolSpec], inputs: Mapping[str, str | None]) -> None:
        self._tools = tools
        self.inputs = inputs
        self._lines: dict[str, int] = {}

    def read(self, tree: Tree) -> tuple[Step, ...]:
        if not isinstance(tree.value, tuple) or not tree.value:
            raise BadPlaybook(tree.line, texts.NO_STEPS)
        if len(tree.value) > MAX_STEPS:
            raise BadPlaybook(tree.line, texts.TOO_MANY_STEPS, count=len(tree.value), limit=MAX_STEPS)
        for item in tree.value:
            self._note_id(item)
        steps = {step.id: step for step in map(self._step, tree.value)}
        return tuple(steps[step_id] for step_id in self._order(steps))

    def references(self, value: object, line: int) -> tuple[Reference, ...]:
        """All references of a value, each to something that exists."""
        try:
            found = tuple(references_in(value))  # type: ignore[arg-type]  # a Tree's plain value or a string
        except BadReference as error:
            raise BadPlaybook(line, texts.BAD_REFERENCE, name=error) from None
        for reference in found:
            self._exists(reference, line)
        return found

    def _exists(self, reference: Reference, line: int) -> None:
        known = self._lines if reference.source == "steps" else self.inputs
        if reference.name not in known:
            raise BadPlaybook(line, texts.NO_REFERENCE, name=f"{reference.source}.{reference.name}")

    def _note_id(self, tree: Tree) -> None:
        fields = _mapping(tree, "`steps`")
        if "id" not in fields:
            raise BadPlaybook(tree.line, texts.MISSING_KEY, name="id")
        step_id = _text(fields["id"], "id")
        if not _ID.fullmatch(step_id):
            raise BadPlaybook(fields["id"].line, texts.BAD_ID, name=step_id)
        if step_id in self._lines:
            raise BadPlaybook(fields["id"].line, texts.ID_TWICE, name=step_id, line=self._lines[step_id])
        self._lines[step_id] = tree.line

    def _step(self, tree: Tree) -> Step:
        fields = _mapping(tree, "`steps`")
        _known_keys(tree, fields, _STEP_KEYS)
        tool = self._tool(tree, fields)
        line = fields["args"].line if "args" in fields else tree.line
        args = self._args(fields.get("args"), tool, line)
        used = [found.name for found in self.references(args, line) if found.source == "steps"]
        when = None
        if "when" in fields:
            try:
                when = condition(_text(fields["when"], "when"))
            except (BadCondition, BadReference) as error:
                raise BadPlaybook(fields["when"].line, texts.BAD_CONDITION, name=str(error)) from None
            self._exists(parse(when.reference), fields["when"].line)
            used += [parse(when.reference).name] if when.reference.startswith("steps.") else []
        return Step(
            id=_text(fields["id"], "id"),
            tool=tool.name,
            args=args,
            after=tuple(dict.fromkeys([*self._after(fields.get("after")), *used])),
            approve=_flag(fields.get("approve")),
            when=when,
        )

    def _tool(self, tree: Tree, fields: Mapping[str, Tree]) -> ToolSpec:
        if "tool" not in fields:
            raise BadPlaybook(tree.line, texts.MISSING_KEY, name="tool")
        name = _text(fields["tool"], "tool")
        if name not in self._tools:
            raise BadPlaybook(fields["tool"].line, texts.NO_TOOL, name=name, known=", ".join(sorted(self._tools)))
        return self._tools[name]

    def _args(self, tree: Tree | None, tool: ToolSpec, line: int) -> JsonObject:
        given = _mapping(tree, "`args`") if tree is not None else {}
        allowed = tool.parameters.get("properties")
        if isinstance(allowed, dict) and tool.parameters.get("additionalProperties") is False:
            for name, value in given.items():
                if name not in allowed:
                    raise BadPlaybook(
                        value.line, texts.NO_ARGUMENT, tool=tool.name, name=name, known=", ".join(allowed)
                    )
        required = tool.parameters.get("required")
        for needed in required if isinstance(required, list) else []:
            if needed not in given:
                raise BadPlaybook(line, texts.NEEDS_ARGUMENT, tool=tool.name, name=needed)
        if tool.name == "shell" and "script" in given:
            _check_script(given["script"])
        return {name: value.plain() for name, value in given.items()}

    def _after(self, tree: Tree | None) -> tuple[str, ...]:
        if tree is None or tree.value is None:
            return ()
        items = tree.value if isinstance(tree.value, tuple) else (tree,)
        for item in items:
            if _text(item, "after") not in self._lines:
                raise BadPlaybook(item.line, texts.NO_STEP, name=item.value)
        return tuple(_text(item, "after") for item in items)

    def _order(self, steps: Mapping[str, Step]) -> tuple[str, ...]:
        try:
            return tuple(TopologicalSorter({step.id: step.after for step in steps.values()}).static_order())
        except CycleError as error:
            circle: list[str] = error.args[1]
            line = min(self._lines[step_id] for step_id in circle)
            raise BadPlaybook(line, texts.CYCLE, circle=" -> ".join(circle)) from None


def _check_script(tree: Tree) -> None:
    try:
        check(_text(tree, "script"))
    except UnsafeScript as error:
        raise BadPlaybook(tree.line, texts.UNSAFE_SCRIPT, place=str(error)) from None
    except BadReference as error:
        raise BadPlaybook(tree.line, texts.BAD_REFERENCE, name=error) from None


def _inputs(tree: Tree | None) -> dict[str, str | None]:
    """A list of names, or names with a default each."""
    if tree is None or tree.value is None:
        return {}
    if isinstance(tree.value, tuple):
        return {_text(item, "inputs"): None for item in tree.value}
    found: dict[str, str | None] = {}
    for name, value in _mapping(tree, "`inputs`").items():
        found[name] = None if value.value is None else _text(value, name)
    return found


def _mapping(tree: Tree, what: str) -> dict[str, Tree]:
    if not isinstance(tree.value, dict):
        raise BadPlaybook(tree.line, texts.NOT_A_MAPPING, what=what)
    return tree.value


def _known_keys(tree: Tree, fields: Mapping[str, Tree], known: frozenset[str]) -> None:
    for name, value in fields.items():
        if name not in known:
            raise BadPlaybook(value.line, texts.UNKNOWN_KEY, name=name, known=", ".join(sorted(known)))


def _text(tree: Tree, what: str) -> str:
    if isinstance(tree.value, tuple | dict) or tree.value is None:
        raise BadPlaybook(tree.line, texts.NOT_A_TEXT, what=f"`{what}`")
    return str(tree.value)


def _flag(tree: Tree | None) -> bool:
    if tree is None:
        return False
    if not isinstance(tree.value, bool):
        raise BadPlaybook(tree.line, texts.NOT_A_FLAG)
    return tree.value
