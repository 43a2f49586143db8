"""The tools of this installation by name, each with its argument schema compiled once."""

from collections.abc import Iterable

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from activities.arguments import shown_value
from activities.tool import BadArguments, Tool
from contracts.tools import ToolSpec
from contracts.values import JsonObject


class DuplicateTool(Exception):
    """Raised when two tools have the same name."""


class Catalogue:
    """Finds tools, and refuses arguments that do not fit them."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        """Raises: DuplicateTool, jsonschema.SchemaError."""
        self._tools: dict[str, Tool] = {}
        self._validators: dict[str, Draft202012Validator] = {}
        for tool in tools:
            self._add(tool)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What planners are told, by name."""
        return tuple(self._tools[name].spec for name in sorted(self._tools))

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def check(self, name: str, args: JsonObject) -> None:
        """Raises: BadArguments with the first thing that does not fit."""
        problem = best_match(self._validators[name].iter_errors(args))
        if problem is not None:
            raise BadArguments(_told(problem))

    def _add(self, tool: Tool) -> None:
        if tool.spec.name in self._tools:
            raise DuplicateTool(f"two tools are named {tool.spec.name!r}")
        Draft202012Validator.check_schema(tool.spec.parameters)
        self._tools[tool.spec.name] = tool
        self._validators[tool.spec.name] = Draft202012Validator(tool.spec.parameters)


def _told(problem: ValidationError) -> str:
    place = ".".join(str(part) for part in problem.absolute_path) or "arguments"
    rule = f"{problem.validator}: {shown_value(problem.validator_value)}"
    return f"{place}: expected {rule} (it is {shown_value(problem.instance)})"
