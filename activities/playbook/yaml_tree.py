"""YAML as plain values that know their line. Aliases, repeated keys and tags beyond plain data are refused."""

from dataclasses import dataclass
from typing import Protocol

import yaml
from pydantic import JsonValue

from activities.playbook.refusal import BadPlaybook
from contracts.texts import playbook as texts

MAX_BYTES = 65_536


@dataclass(frozen=True)
class Tree:
    """One node: its value is a scalar, a tuple of trees, or trees by key."""

    line: int
    value: "str | int | float | bool | tuple[Tree, ...] | dict[str, Tree] | None"

    def plain(self) -> JsonValue:
        """The value without lines."""
        if isinstance(self.value, tuple):
            return [item.plain() for item in self.value]
        if isinstance(self.value, dict):
            return {key: item.plain() for key, item in self.value.items()}
        return self.value


def read(text: str) -> Tree:
    """Raises: BadPlaybook."""
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise BadPlaybook(1, texts.TOO_LONG, limit=MAX_BYTES)
    try:
        _refuse_aliases(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is None:
            raise BadPlaybook(1, texts.EMPTY)
        return _tree(node)
    except yaml.MarkedYAMLError as error:
        raise BadPlaybook(
            _line(error.problem_mark or error.context_mark), texts.NOT_YAML, detail=error.problem or ""
        ) from None
    except yaml.YAMLError as error:
        raise BadPlaybook(1, texts.NOT_YAML, detail=str(error).splitlines()[0]) from None
    except RecursionError:
        raise BadPlaybook(1, texts.TOO_DEEP) from None


def _refuse_aliases(text: str) -> None:
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise BadPlaybook(_line(event.start_mark), texts.NO_ALIASES, name=event.anchor)


def _tree(node: yaml.Node) -> Tree:
    line = _line(node.start_mark)
    if isinstance(node, yaml.SequenceNode):
        return Tree(line, tuple(_tree(item) for item in node.value))
    if isinstance(node, yaml.MappingNode):
        return Tree(line, _mapping(node))
    return Tree(line, _scalar(node))


def _mapping(node: yaml.MappingNode) -> dict[str, Tree]:
    found: dict[str, Tree] = {}
    for key, value in node.value:
        line = _line(key.start_mark)
        if not isinstance(key, yaml.ScalarNode):
            raise BadPlaybook(line, texts.KEY_NOT_WORD)
        if key.value in found:
            raise BadPlaybook(line, texts.KEY_TWICE, name=key.value)
        found[key.value] = _tree(value)
    return found


def _scalar(node: yaml.Node) -> str | int | float | bool | None:
    """Only what JSON knows as well; dates and the like stay as they are written."""
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    text = str(node.value)
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in ("true", "yes", "on")
    if kind == "int" and text.lstrip("+-").isdecimal():
        return int(text) if len(text) < 18 else text
    if kind == "float" and len(text) < 18 and text.lstrip("+-").replace(".", "", 1).isdecimal():
        return float(text)
    if kind in ("str", "int", "float", "timestamp"):
        return text
    raise BadPlaybook(_line(node.start_mark), texts.BAD_TAG, name=node.tag)


class _Mark(Protocol):
    """A place in the text, as both the Python and the C reader give it."""

    line: int


def _line(mark: _Mark | None) -> int:
    return mark.line + 1 if mark is not None else 1
