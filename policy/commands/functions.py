"""Functions of a script: judged where they are called, except for what only a definition shows."""

from tree_sitter import Node

from policy.commands.catalogue import is_program
from policy.commands.grammar import descend, text_of
from policy.commands.shell import Shell
from policy.commands.state import State
from policy.commands.stream import EMPTY, Stream
from policy.rules import Rule

_HOOKS = frozenset({"command_not_found_handle", "command_not_found_handler"})


def run_definition(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None or node.children_by_field_name("redirect"):
        shell.scene.findings.ask(Rule.COMMAND_GRAMMAR, text_of(node))
    if name is not None and body is not None:
        _define(shell, text_of(name), body, state)
    return EMPTY


def _define(shell: Shell, name: str, body: Node, state: State) -> None:
    calls = [inner for inner in descend(body) if inner.type == "command_name" and text_of(inner) == name]
    if any(_runs_beside(call, body) for call in calls):
        shell.scene.findings.deny(Rule.COMMAND_FORK_BOMB, name)
    elif calls:
        shell.scene.findings.ask(Rule.COMMAND_FORK_BOMB, name)
    if name in _HOOKS or is_program(name):
        shell.scene.findings.ask(Rule.COMMAND_STATE, name)
    state.functions[name] = (*state.functions.get(name, ()), body)


def _runs_beside(call: Node, body: Node) -> bool:
    """Whether the call is part of a pipeline or sent to the background, so that each call makes more of them."""
    node: Node | None = call
    while node is not None and node.id != body.id:
        behind = node.next_sibling
        if node.type == "pipeline" or (behind is not None and behind.type == "&"):
            return True
        node = node.parent
    return False
