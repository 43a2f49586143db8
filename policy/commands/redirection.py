"""Redirections: files read and written by the shell itself, here-documents, and text given as input."""

from collections.abc import Sequence
from dataclasses import replace

from tree_sitter import Node

from policy.commands.compound import run_stages
from policy.commands.expansion import expand, expand_body, expand_one
from policy.commands.grammar import delimiter_of, text_of
from policy.commands.shell import Shell
from policy.commands.state import State
from policy.commands.stream import EMPTY, Stream
from policy.commands.word import Word
from policy.rules import Rule

_DUPLICATES = frozenset({">&", "<&", ">&-", "<&-"})


def run_redirected(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    body = node.child_by_field_name("body")
    redirects = [child for child in node.named_children if child != body]
    return _run(shell, body, redirects, state, stdin)


def run_bare(shell: Shell, node: Node, state: State, stdin: Stream | None) -> Stream:
    """`$(<file)`: a redirection without a command."""
    return judge_redirect(shell, node, state) or EMPTY


def judge_redirect(shell: Shell, node: Node, state: State) -> Stream | None:
    """Judge one redirection; what it gives as input, if it gives any."""
    if node.type == "herestring_redirect":
        word = expand_one(node.named_children[-1], shell, state)
        return Stream(text=word.text + "\n", fetched=word.fetched)
    operator = next((child.type for child in node.children if not child.is_named), "")
    targets = node.children_by_field_name("destination")
    if len(targets) > 1 or node.type != "file_redirect":
        shell.scene.findings.ask(Rule.COMMAND_GRAMMAR, text_of(node))
    for target in targets:
        if target.type == "process_substitution":
            return shell.substitute(target, state)
        for word in expand(target, shell, state) or [Word("")]:
            _judge_target(shell, operator, word, state)
    return Stream() if operator in ("<", "<>", "<&") else None


def _judge_target(shell: Shell, operator: str, word: Word, state: State) -> None:
    if operator in _DUPLICATES and word.is_exact and word.text.rstrip("-").isdigit() | (word.text == "-"):
        return
    if operator == "<":
        shell.scene.read(word, state)
    else:
        shell.scene.write(word, state)


def _run(shell: Shell, body: Node | None, redirects: Sequence[Node], state: State, stdin: Stream | None) -> Stream:
    """The parser hangs a redirection on a whole list or pipeline; to bash it belongs to the last command."""
    if body is not None and body.type == "list":
        return _run_list(shell, body, redirects, state, stdin)
    if body is not None and body.type == "pipeline":
        *former, last = [child for child in body.named_children if child.type != "comment"]
        flow = run_stages(shell, former, state, stdin)
        output = _run(shell, last, redirects, state.copy(), flow)
        return replace(output, fetched=output.fetched or flow.fetched)
    extra: tuple[Word, ...] = ()
    behind: list[tuple[str, Node]] = []
    for redirect in redirects:
        if redirect.type == "heredoc_redirect":
            stdin, words, behind = _here_document(shell, redirect, state)
            extra += words
        else:
            stdin = judge_redirect(shell, redirect, state) or stdin
    return _run_behind(shell, behind, _run_body(shell, body, state, stdin, extra), state)


def _run_body(shell: Shell, body: Node | None, state: State, stdin: Stream | None, extra: tuple[Word, ...]) -> Stream:
    if body is None:
        return EMPTY
    if body.type == "command":
        return shell.run_command(body, state, stdin, extra)
    if extra:
        shell.scene.findings.ask(Rule.COMMAND_GRAMMAR, text_of(body))
    return shell.run(body, state, stdin)


def _run_list(shell: Shell, body: Node, redirects: Sequence[Node], state: State, stdin: Stream | None) -> Stream:
    *former, last = [child for child in body.named_children if child.type != "comment"]
    for child in former:
        shell.run(child, state, stdin)
    missed, state.failed = state.failed, frozenset()
    if any(child.type == "||" for child in body.children):
        state.failed = missed
        state.settle()
    output = _run(shell, last, redirects, state, stdin)
    state.failed |= missed
    return output


def _here_document(shell: Shell, node: Node, state: State) -> tuple[Stream, tuple[Word, ...], list[tuple[str, Node]]]:
    """Its text, further arguments of the command, and the commands that the parser put in here although they follow."""
    quoted = any(character in "'\"\\" for character in delimiter_of(node))
    stream, words = EMPTY, list[Word]()
    behind: list[tuple[str, Node]] = []
    operator = ""
    for child in node.children:
        if child.type == "heredoc_body":
            body = Word(text_of(child)) if quoted else expand_body(child, shell, state)
            stream = Stream(text=body.text, fetched=body.fetched)
        elif child.type in ("&&", "||", ";"):
            operator = child.type
        elif child.type == "pipeline":
            behind.append(("|", child))
        elif child.type in ("file_redirect", "herestring_redirect"):
            judge_redirect(shell, child, state)
        elif child.is_named and operator:
            behind.append((operator, child))
        elif child.is_named and child.type not in ("heredoc_start", "heredoc_end", "comment"):
            words += expand(child, shell, state)
    return stream, tuple(words), behind


def _run_behind(shell: Shell, behind: Sequence[tuple[str, Node]], output: Stream, state: State) -> Stream:
    for operator, node in behind:
        if operator == "|":
            output = run_stages(shell, _flat(node), state, output)
        else:
            state.settle()
            output = shell.run(node, state, None)
    return output


def _flat(node: Node) -> list[Node]:
    """The stages of a pipeline that the parser nests."""
    stages: list[Node] = []
    for child in node.named_children:
        stages += _flat(child) if child.type == "pipeline" else [child] if child.type != "comment" else []
    return stages
