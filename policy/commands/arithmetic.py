"""Arithmetic looks like numbers, but bash evaluates the text of variables in it, down to commands in subscripts."""

from typing import Protocol

from tree_sitter import Node

from policy.commands.grammar import descend, text_of
from policy.commands.scene import Scene
from policy.commands.state import State
from policy.commands.stream import Stream
from policy.commands.word import NUMBER
from policy.rules import Rule

_ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "++", "--", "<<=", ">>=", "&=", "|=", "^="})


class Substitutes(Protocol):
    """Runs what stands between `$(` and `)`."""

    @property
    def scene(self) -> Scene: ...

    def substitute(self, node: Node, state: State) -> Stream: ...


def judge_arithmetic(node: Node, shell: Substitutes, state: State) -> None:
    """Ask where a value could hold more than a number."""
    if shell.scene.charged:
        shell.scene.findings.ask(Rule.COMMAND_CHARGED, text_of(node))
    for inner in descend(node):
        if inner.type in ("command_substitution", "process_substitution"):
            shell.substitute(inner, state)
        elif inner.type in ("variable_name", "word"):
            _judge_name(text_of(inner), shell, state)
        elif inner.type in ("raw_string", "ansi_c_string"):
            shell.scene.findings.ask(Rule.COMMAND_CHARGED, text_of(inner))
    assigned_in(node, state)


def assigned_in(node: Node, state: State) -> None:
    """What arithmetic assigns is a number."""
    for inner in descend(node):
        if any(child.type in _ASSIGNS for child in inner.children):
            for child in inner.named_children[:1]:
                if child.type in ("variable_name", "word"):
                    state.assign(text_of(child), NUMBER)


def is_number(name: str, state: State) -> bool:
    """Whether the variable holds a plain number, or is none of the script's own."""
    value = state.variables.get(name)
    return value is None or value.numeric or value.text.strip().lstrip("+-").isalnum()


def _judge_name(name: str, shell: Substitutes, state: State) -> None:
    if not is_number(name, state):
        shell.scene.findings.ask(Rule.COMMAND_CHARGED, name)
