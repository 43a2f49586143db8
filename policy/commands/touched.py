"""List the paths that an action touches, as far as its text says: pure, and without a verdict."""

import posixpath
from dataclasses import dataclass

from contracts.verdicts import Action, CommandAction, FileAction
from policy.commands.analysis import judge_command
from policy.commands.touches import Touches, as_walked
from policy.findings import Findings
from policy.globs import quoted
from policy.roles import CommandRules, Role
from policy.setting import SANDBOX
from policy.urls import KnownHosts

_NOBODY = Role("nobody", cli=CommandRules())
"""Which paths a command names does not depend on whom it is judged for."""


@dataclass(frozen=True)
class Touched:
    """Absolute paths of the sandbox; wildcards are live, and `..` stands where it was written."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()
    """Names that cease to be; a link among them is not followed."""
    runs: tuple[str, ...] = ()
    """Files of code that would run."""
    sends: tuple[str, ...] = ()
    """Files whose content would leave the sandbox."""

    @property
    def operands(self) -> tuple[str, ...]:
        """Files whose content a yes depends on."""
        return tuple(dict.fromkeys((*self.runs, *self.sends)))


def touched_paths(action: Action) -> Touched:
    """What cannot be resolved is not listed: it is asked about in any case."""
    match action:
        case CommandAction():
            touches = Touches()
            judge_command(action, _NOBODY, KnownHosts(), Findings(), touches=touches)
            return Touched(*map(tuple, (touches.reads, touches.writes, touches.removes, touches.runs, touches.sends)))
        case FileAction():
            return _of_file(action)
        case _:
            return Touched()


def tool_path(path: str) -> str:
    """A path that a tool was given, absolute: nothing in it is a wildcard or a variable."""
    at_home = path == "~" or path.startswith("~/")
    return as_walked(posixpath.join(SANDBOX.workspace, SANDBOX.home + path[1:] if at_home else path))


def _of_file(action: FileAction) -> Touched:
    path = (quoted(tool_path(action.path)),) if action.path and "\0" not in action.path else ()
    match action.operation:
        case "read" | "list":
            return Touched(reads=path)
        case "write":
            return Touched(writes=path)
        case "delete":
            return Touched(removes=path)
