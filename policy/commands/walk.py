"""Walk a script statement by statement, the way bash would run it, and judge each command on the way."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from tree_sitter import Node

from policy.commands import compound, conditions, declarations, functions, redirection
from policy.commands.arithmetic import judge_arithmetic
from policy.commands.declarations import assignment
from policy.commands.environment import judge_assignment
from policy.commands.expansion import expand
from policy.commands.grammar import is_sound, is_too_deep, parse, text_of
from policy.commands.invoke import invoke
from policy.commands.scene import Scene
from policy.commands.screen import screen
from policy.commands.shell import Shell
from policy.commands.state import State
from policy.commands.stream import EMPTY, OPAQUE, Stream, together
from policy.commands.word import Word
from policy.rules import Rule

MAX_DEPTH = 12
"""Scripts within scripts, and functions within functions."""

_PASSIVE = frozenset({"comment", "word", "number", "file_descriptor"})


class Walk:
    """The shell of shell.py."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def run(self, node: Node, state: State, stdin: Stream | None) -> Stream:
        if node.type in _PASSIVE:
            return EMPTY
        statement = _STATEMENTS.get(node.type)
        if statement is None:
            self.scene.findings.ask(Rule.COMMAND_GRAMMAR, text_of(node))
            statement = _sequence
        return statement(self, node, state, stdin)

    def run_command(self, node: Node, state: State, stdin: Stream | None, extra: tuple[Word, ...]) -> Stream:
        words: list[Word] = []
        assigned: list[tuple[str, Word]] = []
        for child in node.children:
            if child.type == "variable_assignment":
                assigned.append(assignment(self, child, state))
            elif child.type in ("herestring_redirect", "file_redirect"):
                stdin = redirection.judge_redirect(self, child, state) or stdin
            elif child.type in ("subshell", "heredoc_redirect") or not child.is_named:
                self.scene.findings.ask(Rule.COMMAND_GRAMMAR, text_of(node))
            else:
                words += expand(child, self, state)
        return self._with_assigned(assigned, (*words, *extra), state, stdin)

    def run_words(self, words: Sequence[Word], state: State, stdin: Stream | None = None) -> Stream:
        return invoke(self, tuple(words), state, stdin)

    def run_script(
        self, text: str, state: State, stdin: Stream | None = None, positional: tuple[Word, ...] | None = None
    ) -> Stream:
        return self._nested(text, replace(state.copy(), positional=positional), stdin)

    def run_here(self, text: str, state: State, stdin: Stream | None = None) -> Stream:
        return self._nested(text, state, stdin)

    def run_function(self, name: str, words: tuple[Word, ...], state: State, stdin: Stream | None) -> Stream:
        outputs = []
        outer, state.positional = state.positional, words
        before = dict(state.variables)
        for body in state.functions[name]:
            if self._enter():
                outputs.append(self.run(body, state, stdin))
                self.scene.depth -= 1
        state.positional = outer
        state.blur(before)
        return together(outputs)

    def substitute(self, node: Node, state: State) -> Stream:
        if node.children and node.children[0].type == "`" and "\\" in text_of(node):
            self.scene.findings.ask(Rule.COMMAND_GRAMMAR, text_of(node))
        inner = state.copy()
        fed = OPAQUE if node.children and node.children[0].type == ">(" else None
        return together([self.run(child, inner, fed) for child in node.named_children if child.type != "comment"])

    def _with_assigned(
        self, assigned: Sequence[tuple[str, Word]], words: tuple[Word, ...], state: State, stdin: Stream | None
    ) -> Stream:
        """Assignments before a command hold for this command alone."""
        before = dict(state.variables), state.plain_ifs
        for name, value in assigned:
            if not (name == "IFS" and words and words[0].text == "read"):
                judge_assignment(self.scene, name, value, state)
            state.assign(name, value)
        output = invoke(self, words, state, stdin)
        for name, _ in assigned:
            state.variables.pop(name, None)
            if name in before[0]:
                state.variables[name] = before[0][name]
        state.plain_ifs = before[1] if assigned else state.plain_ifs
        return output

    def _nested(self, text: str, state: State, stdin: Stream | None) -> Stream:
        if not screen(text, self.scene.findings) or not self._enter():
            return OPAQUE
        root = parse(text)
        if is_too_deep(root):
            self.scene.findings.ask(Rule.COMMAND_COMPLEX, text)
            self.scene.depth -= 1
            return OPAQUE
        if not is_sound(root, text):
            self.scene.findings.ask(Rule.COMMAND_GRAMMAR, text)
        output = self.run(root, state, stdin)
        self.scene.depth -= 1
        return output

    def _enter(self) -> bool:
        if self.scene.depth >= MAX_DEPTH:
            self.scene.findings.ask(Rule.COMMAND_COMPLEX, f"{MAX_DEPTH} levels")
            return False
        self.scene.depth += 1
        return True


def _sequence(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    if node.type == "compound_statement" and node.children[0].type == "((":
        judge_arithmetic(node, shell, state)
        return EMPTY
    outputs = []
    for child in node.named_children:
        if child.type != "comment":
            behind = child.next_sibling
            beside = behind is not None and behind.type == "&"
            outputs.append(shell.run(child, state.copy() if beside else state, stdin))
            state.settle()
    return together(outputs)


def _subshell(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    return _sequence(shell, node, state.copy(), stdin)


def _command(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    return shell.run_command(node, state, stdin, ())


_STATEMENTS: dict[str, Callable[[Shell, Node, State, Stream | None], Stream]] = {
    "program": _sequence,
    "compound_statement": _sequence,
    "do_group": _sequence,
    "negated_command": _sequence,
    "subshell": _subshell,
    "command": _command,
    "list": compound.run_list,
    "pipeline": compound.run_pipeline,
    "if_statement": compound.run_if,
    "elif_clause": compound.run_if,
    "else_clause": _sequence,
    "while_statement": compound.run_while,
    "for_statement": compound.run_for,
    "c_style_for_statement": compound.run_counted,
    "case_statement": compound.run_case,
    "redirected_statement": redirection.run_redirected,
    "file_redirect": redirection.run_bare,
    "variable_assignment": declarations.run_assignments,
    "variable_assignments": declarations.run_assignments,
    "declaration_command": declarations.run_declaration,
    "unset_command": declarations.run_unset,
    "function_definition": functions.run_definition,
    "test_command": conditions.run_test,
}
