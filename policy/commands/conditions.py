"""`[ … ]` and `[[ … ]]`: words are expanded, and numbers computed with all that bash makes of them."""

from tree_sitter import Node

from policy.commands.arithmetic import is_number
from policy.commands.expansion import expand_one
from policy.commands.grammar import descend, text_of
from policy.commands.shell import Shell
from policy.commands.state import State
from policy.commands.stream import EMPTY, Stream
from policy.rules import Rule

_COMPUTES = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_LOOKS_UP = frozenset({"-v", "-R"})


def run_test(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    _judge_part(shell, node, state, double=node.children[0].type == "[[")
    return EMPTY


def _judge_part(shell: Shell, node: Node, state: State, *, double: bool) -> None:
    operators = {text_of(child) for child in node.children if child.type == "test_operator"}
    if operators & _LOOKS_UP or (double and operators & _COMPUTES):
        _judge_computed(shell, node, state)
    for child in node.named_children:
        if child.type.endswith("_expression"):
            _judge_part(shell, child, state, double=double)
        elif child.type not in ("test_operator", "comment"):
            expand_one(child, shell, state)


def _judge_computed(shell: Shell, node: Node, state: State) -> None:
    names = [text_of(inner) for inner in descend(node) if inner.type == "variable_name"]
    texts = [
        text_of(inner) for inner in descend(node) if inner.type in ("word", "raw_string", "string", "ansi_c_string")
    ]
    foreign = any(inner.type == "command_substitution" for inner in descend(node))
    if (
        foreign
        or shell.scene.charged
        or any("[" in text for text in texts)
        or not all(is_number(n, state) for n in names)
    ):
        shell.scene.findings.ask(Rule.COMMAND_CHARGED, text_of(node))
