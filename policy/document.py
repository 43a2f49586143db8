"""YAML or JSON as entries that know their line, so that every mistake can be shown where it stands."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import yaml

MAX_DEPTH = 12


class PolicyError(Exception):
    """Raised when a policy file cannot be used; the text names the file, the line, the value and the remedy."""

    def __init__(self, name: str, line: int, problem: str) -> None:
        super().__init__(f"{name}:{line}: {problem}")
        self.line = line


@dataclass(frozen=True)
class Entry:
    """One value of the document, and where it stands."""

    node: yaml.Node
    path: str
    name: str
    """Of the file."""

    def error(self, problem: str) -> PolicyError:
        return PolicyError(
            self.name, self.node.start_mark.line + 1, f"{self.path}: {problem}" if self.path else problem
        )

    @property
    def is_empty(self) -> bool:
        return isinstance(self.node, yaml.ScalarNode) and self.node.tag == "tag:yaml.org,2002:null"

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.node, yaml.MappingNode)

    def fields(self, known: Sequence[str]) -> dict[str, "Entry"]:
        """The entries of a mapping that have a value. Raises: PolicyError for an unknown or doubled key."""
        if self.is_empty:
            return {}
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(f"expected keys and values, found {_shown(self.node)}; known keys are {', '.join(known)}")
        found: dict[str, Entry] = {}
        seen: set[str] = set()
        for key, value in self.node.value:
            entry = Entry(key, self.path, self.name)
            text = entry.text()
            if text not in known:
                raise entry.error(f"unknown key {text!r}; known keys are {', '.join(known)}")
            if text in seen:
                raise entry.error(f"the key {text!r} is there twice: keep one")
            seen.add(text)
            child = Entry(value, f"{self.path}.{text}".lstrip("."), self.name)
            if not child.is_empty:
                found[text] = child
        return found

    def stated(self) -> dict[str, "Entry"]:
        """The entries of a mapping whose keys have been looked at before; none of what is no mapping."""
        keys = [key for key, _ in self.node.value] if isinstance(self.node, yaml.MappingNode) else []
        return self.fields([Entry(key, self.path, self.name).text() for key in keys]) if keys else {}

    def items(self) -> list["Entry"]:
        """The entries of a list; a single value counts as a list of one."""
        if self.is_empty:
            return []
        if isinstance(self.node, yaml.SequenceNode):
            return [Entry(node, f"{self.path}[{index}]", self.name) for index, node in enumerate(self.node.value)]
        return [self]

    def text(self) -> str:
        """Raises: PolicyError if this is no plain value."""
        return self.whole_text().strip()

    def whole_text(self) -> str:
        """With blanks and lines as they stand. Raises: PolicyError if this is no plain value."""
        if not isinstance(self.node, yaml.ScalarNode) or self.is_empty:
            raise self.error(f"expected a text, found {_shown(self.node)}")
        return str(self.node.value)

    def error_at(self, offset: int, problem: str) -> PolicyError:
        """About a line within a text that was written as a block (`|`); other texts have one line for all."""
        in_block = isinstance(self.node, yaml.ScalarNode) and self.node.style == "|"
        line = self.node.start_mark.line + 1 + (1 + offset if in_block else 0)
        return PolicyError(self.name, line, f"{self.path}: {problem}")


def read_document(text: str, name: str) -> Entry:
    """Raises: PolicyError."""
    source = re.sub(r"^\t+", lambda tabs: "  " * len(tabs[0]), text, flags=re.MULTILINE) if _is_json(text) else text
    try:
        _refuse_growth(source, name)
        node = yaml.compose(source, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise PolicyError(name, _line_of(error), f"not YAML or JSON: {_problem_of(error)}") from error
    if node is None:
        raise PolicyError(name, 1, "the file is empty: write at least `role` and `permissions`")
    return Entry(node, "", name)


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def _refuse_growth(source: str, name: str) -> None:
    """Aliases make a small file grow without end, and deep nesting a parser; a policy needs neither."""
    depth = 0
    for event in yaml.parse(source, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            line = _line_at(event.start_mark)
            raise PolicyError(name, line, f"the alias *{event.anchor} is not read: write the value out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise PolicyError(
                name, _line_at(event.start_mark), f"more than {MAX_DEPTH} levels: a policy has at most six"
            )


def _line_of(error: Exception) -> int:
    return _line_at(getattr(error, "problem_mark", None))


def _line_at(mark: object) -> int:
    return mark.line + 1 if isinstance(mark, yaml.Mark) else 1


def _problem_of(error: Exception) -> str:
    return str(getattr(error, "problem", None) or error).splitlines()[0]


def _shown(node: yaml.Node) -> str:
    if isinstance(node, yaml.MappingNode):
        return "keys and values"
    return "a list" if isinstance(node, yaml.SequenceNode) else repr(node.value)[:60]
