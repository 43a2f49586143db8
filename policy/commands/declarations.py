"""Assignments and the builtins that declare: what variables hold afterwards, and what that changes."""

from tree_sitter import Node

from policy.commands.arithmetic import judge_arithmetic
from policy.commands.environment import judge_assignment
from policy.commands.expansion import expand, expand_one
from policy.commands.grammar import text_of
from policy.commands.shell import Shell
from policy.commands.state import State
from policy.commands.stream import EMPTY, OPAQUE, Stream
from policy.commands.word import UNKNOWN, Word, literal
from policy.rules import Rule

_CODE_MARKS = ("$(", "`", "$[")
_HARMLESS_FLAGS = {"export": frozenset("n"), "local": frozenset("rxag")}
_DECLARE_FLAGS = frozenset("xraAg")


def run_assignments(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    for child in node.named_children if node.type == "variable_assignments" else (node,):
        assign(shell, *assignment(shell, child, state), state)
    return EMPTY


def assign(shell: Shell, name: str, value: Word, state: State) -> None:
    """A changed IFS is remembered rather than asked about."""
    if name != "IFS":
        judge_assignment(shell.scene, name, value, state)
    state.assign(name, UNKNOWN if name in shell.scene.readonly else value)


def assignment(shell: Shell, node: Node, state: State) -> tuple[str, Word]:
    """The name and the value; arrays and additions are not followed."""
    target, value = node.children[0], node.child_by_field_name("value")
    name = text_of(target).split("[", 1)[0]
    if target.type == "subscript":
        judge_arithmetic(target, shell, state)
    word = UNKNOWN
    if value is None:
        word = literal("")
    elif value.type == "array":
        for child in value.named_children:
            expand(child, shell, state)
    else:
        word = expand_one(value, shell, state)
    if any(mark in word.text for mark in _CODE_MARKS):
        shell.scene.charged = True
    followed = target.type != "subscript" and all(child.type != "+=" for child in node.children)
    return name, word if followed else UNKNOWN


def run_declaration(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    keyword = node.children[0].type
    named = node.named_children
    flags = {text_of(child) for child in named if child.type == "word"}
    if keyword == "readonly" or any("r" in flag for flag in flags):
        shell.scene.readonly.update(_names(named))
    for child in named:
        if child.type == "variable_assignment":
            assign(shell, *assignment(shell, child, state), state)
        elif child.type != "variable_name":
            _judge_flag(shell, keyword, expand_one(child, shell, state))
    if not any(child.type in ("variable_assignment", "variable_name") for child in named):
        shell.scene.findings.ask(Rule.APPROVAL_CREDENTIAL, keyword)
    return OPAQUE


def _names(nodes: list[Node]) -> list[str]:
    return [text_of(n.children[0] if n.type == "variable_assignment" else n).split("[")[0] for n in nodes]


def _judge_flag(shell: Shell, keyword: str, flag: Word) -> None:
    """Flags that make a name stand for another one, or its value be computed, change what later words mean."""
    allowed = _HARMLESS_FLAGS.get(keyword, _DECLARE_FLAGS)
    if not flag.is_exact or flag.text[:1] not in ("-", "+") or not set(flag.text[1:]) <= allowed:
        shell.scene.findings.ask(Rule.COMMAND_STATE, f"{keyword} {flag.text}")


def run_unset(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    for child in node.named_children:
        word = expand_one(child, shell, state)
        if "[" in word.text or word.is_open:
            shell.scene.findings.ask(Rule.COMMAND_STATE, text_of(node))
        if word.text == "IFS":
            state.plain_ifs = True
        state.variables.pop(word.text, None)
    return EMPTY
