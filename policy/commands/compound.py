"""Lists, pipelines, branches and loops: which way a script may go, and what is known where the ways meet."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from tree_sitter import Node

from policy.commands.arithmetic import judge_arithmetic
from policy.commands.declarations import assign, assignment
from policy.commands.expansion import expand, expand_one
from policy.commands.grammar import text_of
from policy.commands.shell import Shell
from policy.commands.state import State
from policy.commands.stream import EMPTY, OPAQUE, Stream, together
from policy.commands.word import UNKNOWN, Word
from policy.rules import Rule

MAX_UNROLLED = 16
"""A loop over more known values than this is taken as one over unknown ones."""

ROUNDS = 3
"""Loops that have not come to rest after so many rounds may be in any folder."""


def run_list(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    """`a && b`: b sees what a did. `a || b`: it may not have."""
    outputs = []
    missed: frozenset[str] = frozenset()
    for child in node.children:
        if child.is_named and child.type != "comment":
            outputs.append(shell.run(child, state, stdin))
        elif child.type == "&&":
            missed, state.failed = missed | state.failed, frozenset()
        elif child.type == "||":
            state.failed |= missed
            state.settle()
    state.failed |= missed
    return together(outputs)


def run_pipeline(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    return run_stages(shell, [child for child in node.named_children if child.type != "comment"], state, stdin)


def run_stages(shell: Shell, stages: Sequence[Node], state: State, stdin: Stream | None) -> Stream:
    """Each stage in a shell of its own; what was fetched stays fetched, whatever it passes through."""
    flow, fetched = stdin, bool(stdin and stdin.fetched)
    for stage in stages:
        output = shell.run(stage, state.copy(), flow)
        fetched = fetched or output.fetched
        flow = replace(output, fetched=fetched)
    return flow or OPAQUE


def run_if(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    """Conditions run on; each branch starts from there, and all of them meet behind it."""
    ways: list[State] = []
    outputs = []
    way: State | None = None
    for child in node.children:
        if child.type == "then":
            way = state.copy()
        elif child.type in ("elif_clause", "else_clause"):
            branch = state.copy()
            outputs.append(shell.run(child, branch, stdin))
            ways.append(branch)
        elif child.is_named and child.type != "comment":
            outputs.append(shell.run(child, way or state, stdin))
            (way or state).settle()
    for other in [*ways, *([way] if way else [])]:
        state.join(other)
    return together(outputs)


def run_while(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    fetched = []
    if _multiplies(node):
        shell.scene.findings.ask(Rule.COMMAND_FORK_BOMB, text_of(node))

    def once(point: State) -> None:
        for child in node.named_children:
            fetched.append(shell.run(child, point, stdin).fetched)
            point.settle()

    _repeat(once, state)
    return Stream(fetched=any(fetched))


def _multiplies(loop: Node) -> bool:
    """Whether an endless loop starts processes beside itself and waits for nothing."""
    condition, body = loop.child_by_field_name("condition"), loop.child_by_field_name("body")
    if body is None or condition is None or text_of(condition).strip() not in ("true", ":", "((1))", "[ 1 ]"):
        return False
    pauses = ("wait", "sleep", "break", "read", "exit", "timeout")
    beside = any(child.type == "&" for child in body.children)
    return beside and not any(
        text_of(child).startswith(pauses) and (child.next_sibling is None or child.next_sibling.type != "&")
        for child in body.named_children
    )


def run_for(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    """Each known value in turn; without `in`, the arguments of the script."""
    variable = node.child_by_field_name("variable")
    body = node.child_by_field_name("body")
    values = [word for child in node.children_by_field_name("value") for word in expand(child, shell, state)]
    if variable is None or body is None:
        return OPAQUE
    if not values or len(values) > MAX_UNROLLED:
        values = [UNKNOWN]
    return _for_each(shell, text_of(variable), values, body, state, stdin)


def _for_each(shell: Shell, name: str, values: list[Word], body: Node, state: State, stdin: Stream | None) -> Stream:
    outputs = []

    def once(point: State) -> None:
        for value in values:
            assign(shell, name, value, point)
            outputs.append(shell.run(body, point, stdin))
            point.settle()

    if len(values) == 1 and values[0].is_exact:
        once(state)
        return outputs[0]
    _repeat(once, state)
    return Stream(fetched=any(output.fetched for output in outputs))


def run_counted(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    """`for ((…; …; …))`."""
    body = node.child_by_field_name("body")
    for child in node.named_children:
        if child.type == "variable_assignment":
            assign(shell, *assignment(shell, child, state), state)
        elif child != body:
            judge_arithmetic(child, shell, state)

    def once(point: State) -> None:
        if body is not None:
            shell.run(body, point, stdin)

    _repeat(once, state)
    return OPAQUE


def run_case(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    """Any of the branches, or none."""
    ways: list[State] = []
    for child in node.named_children:
        if child.type == "case_item":
            way = state.copy()
            _run_item(shell, child, way, stdin)
            ways.append(way)
        elif child.type != "comment":
            expand_one(child, shell, state)
    for way in ways:
        state.join(way)
    return OPAQUE if ways else EMPTY


def _run_item(shell: Shell, node: Node, state: State, stdin: Stream | None) -> None:
    values = node.children_by_field_name("value")
    for child in node.named_children:
        if child in values:
            expand_one(child, shell, state)
        else:
            shell.run(child, state, stdin)
            state.settle()


def _repeat(once: Callable[[State], None], state: State) -> None:
    """None, one or many rounds: go on until another round tells nothing new."""
    for _ in range(ROUNDS):
        before = state.copy()
        after = state.copy()
        once(after)
        state.join(after)
        if state.same_as(before):
            return
    state.cwds = None
    after = state.copy()
    once(after)
    state.join(after)
