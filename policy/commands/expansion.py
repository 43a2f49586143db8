"""Expand one word of the tree as bash would: quotes, variables, substitutions, braces, tildes."""

import re
from dataclasses import replace
from typing import Protocol

from tree_sitter import Node

from policy.commands.arithmetic import judge_arithmetic
from policy.commands.braces import TooMany, expand_braces, has_braces
from policy.commands.grammar import descend, text_of
from policy.commands.quoting import Truncated, unescape_ansi, unescape_bare, unescape_double
from policy.commands.scene import Scene
from policy.commands.state import State
from policy.commands.stream import Stream
from policy.commands.word import HOLE, UNKNOWN, Piece, Word, join
from policy.rules import Rule
from policy.setting import SANDBOX

_ASSIGNED_TILDE = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=(?=~)")
_SECRET_NAME = re.compile(r"(SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|PRIVATE_?KEY|CREDENTIAL)", re.IGNORECASE)
_DYNAMIC = frozenset(
    [
        "PWD",
        "OLDPWD",
        "UID",
        "EUID",
        "PPID",
        "GROUPS",
        "DIRSTACK",
        "FUNCNAME",
        "RANDOM",
        "SRANDOM",
        "SECONDS",
        "LINENO",
        "BASHPID",
        "REPLY",
        "OPTARG",
        "OPTIND",
        "PIPESTATUS",
        "EPOCHSECONDS",
        "EPOCHREALTIME",
        "HISTCMD",
        "SHELLOPTS",
        "BASHOPTS",
        "COPROC",
        "MAPFILE",
        "BASH",
        "_",
        "SHLVL",
        "COMP_WORDS",
    ]
)
"""Variables that the shell sets itself, whatever a script assigns to them."""
_NUMBERS = frozenset("?#$!")
_LITERAL_NODES = frozenset({"word", "number", "concatenation", "brace_expression"})


class Substitutes(Protocol):
    """Runs what stands between `$(` and `)`, or `<(` and `)`."""

    @property
    def scene(self) -> Scene: ...

    def substitute(self, node: Node, state: State) -> Stream: ...


def expand(node: Node, shell: Substitutes, state: State) -> list[Word]:
    """The words that a node becomes as an argument."""
    if _is_brace_word(node):
        return _expand_braces(node, state, shell)
    return join(_pieces(node, shell, state))


def expand_one(node: Node, shell: Substitutes, state: State) -> Word:
    """The value of a node where bash does not split: assignments, `case`, here-strings."""
    return join(_pieces(node, shell, state), splits=False)[0]


def expand_body(node: Node, shell: Substitutes, state: State) -> Word:
    """The text of a here-document whose delimiter is not quoted."""
    raw, pieces, at = node.text or b"", [], node.start_byte
    for child in node.named_children:
        if child.type == "heredoc_content":
            continue
        pieces.append(Piece(_body_text(raw[at - node.start_byte : child.start_byte - node.start_byte]), quoted=True))
        pieces.extend(replace(piece, quoted=True, expanded=False) for piece in _pieces(child, shell, state))
        at = child.end_byte
    pieces.append(Piece(_body_text(raw[at - node.start_byte :]), quoted=True))
    return join(pieces, splits=False)[0]


def _body_text(raw: bytes) -> str:
    return re.sub(r"\\([$`\\\n])", lambda found: "" if found[1] == "\n" else found[1], raw.decode())


def _pieces(node: Node, shell: Substitutes, state: State) -> list[Piece]:
    match node.type:
        case "word" | "number" | "extglob_pattern" | "regex" | "variable_name" | "test_operator":
            return _with_tilde([Piece(t, quoted=q) for t, q in unescape_bare(text_of(node))], state)
        case "raw_string":
            return [Piece(text_of(node)[1:-1], quoted=True)]
        case "ansi_c_string":
            return [_ansi(text_of(node)[2:-1])]
        case "string" | "translated_string":
            return _string(node, shell, state)
        case "concatenation" | "command_name" | "array":
            parts = [piece for child in node.children for piece in _pieces(child, shell, state)]
            return _with_tilde(parts, state)
        case "simple_expansion" | "expansion":
            return _variable(node, shell, state)
        case "command_substitution":
            return [_of_word(shell.substitute(node, state).as_word(), state)]
        case "process_substitution":
            stream = shell.substitute(node, state)
            return [Piece("/dev/fd/63", quoted=True, fetched=stream.fetched)]
        case "arithmetic_expansion":
            judge_arithmetic(node, shell, state)
            return [Piece("0", numeric=True)]
        case "$" | "[" | "]" | "{" | "}" | "..":
            return [Piece(text_of(node))]
        case _:
            shell.scene.findings.ask(Rule.COMMAND_GRAMMAR, text_of(node))
            return [Piece(HOLE, expanded=True)]


def _string(node: Node, shell: Substitutes, state: State) -> list[Piece]:
    """Double quotes; also the blanks between parts count, which the tree leaves out."""
    raw, at = node.text or b"", node.start_byte
    pieces: list[Piece] = [Piece("", quoted=True)]
    for child in node.children:
        between = raw[at - node.start_byte : child.start_byte - node.start_byte].decode()
        at = child.end_byte
        pieces.append(Piece(unescape_double(between), quoted=True))
        if child.type == "string_content":
            pieces.append(Piece(unescape_double(text_of(child)), quoted=True))
        elif child.type == "string":
            pieces.extend(_string(child, shell, state))
        elif child.is_named:
            pieces.extend(_quoted(piece) for piece in _pieces(child, shell, state))
        elif child.type not in ('"', '$"'):
            pieces.append(Piece(text_of(child), quoted=True))
    return pieces


def _quoted(piece: Piece) -> Piece:
    return piece if piece.is_list else replace(piece, quoted=True, expanded=False)


def _ansi(inside: str) -> Piece:
    try:
        return Piece(unescape_ansi(inside), quoted=True)
    except Truncated:
        return Piece(HOLE, quoted=True)


def _of_word(word: Word, state: State) -> Piece:
    text = word.text if state.plain_ifs or word.numeric else HOLE
    return Piece(text, expanded=True, numeric=word.numeric, fetched=word.fetched, globbed=word.glob)


def _variable(node: Node, shell: Substitutes, state: State) -> list[Piece]:
    names = [child for child in node.children if child.type in ("variable_name", "special_variable_name")]
    plain = len(names) == 1 and len([c for c in node.children if c.type not in ("$", "${", "}")]) == 1
    if plain:
        return _value(text_of(names[0]), shell, state)
    for inner in descend(node):
        if inner.type in ("command_substitution", "process_substitution"):
            shell.substitute(inner, state)
    _judge_operators(node, shell, state)
    counts = any(child.type == "#" for child in node.children[:2])
    return [Piece("0", numeric=True)] if counts else [Piece(HOLE, expanded=True)]


def _judge_operators(node: Node, shell: Substitutes, state: State) -> None:
    """Some expansions assign, look up by a computed name, or run what a value holds."""
    operators = {child.type for child in node.children if not child.is_named}
    if operators & {"@", "!"} or (shell.scene.charged and operators & {"[", ":"}):
        shell.scene.findings.ask(Rule.COMMAND_UNRESOLVED, text_of(node))
    if operators & {":=", "="}:
        for child in node.children:
            if child.type == "variable_name":
                state.assign(text_of(child), UNKNOWN)
    if any(child.type == "subscript" for child in node.children) and shell.scene.charged:
        shell.scene.findings.ask(Rule.COMMAND_CHARGED, text_of(node))
    if _SECRET_NAME.search(text_of(node)):
        shell.scene.findings.ask(Rule.APPROVAL_CREDENTIAL, text_of(node))


def _value(name: str, shell: Substitutes, state: State) -> list[Piece]:
    if name in _NUMBERS:
        return [Piece("0", numeric=True)]
    if name in ("@", "*") and state.positional is not None:
        return _all_arguments(state)
    if name.isdigit() and state.positional is not None:
        index = int(name)
        return (
            [_of_word(state.positional[index], state)] if index < len(state.positional) else [Piece("", expanded=True)]
        )
    if name in _DYNAMIC:
        return [_pwd(state) if name == "PWD" else Piece(HOLE, expanded=True)]
    if _SECRET_NAME.search(name) and name not in state.variables:
        shell.scene.findings.ask(Rule.APPROVAL_CREDENTIAL, f"${name}")
    return [_of_word(state.variables.get(name, UNKNOWN), state)]


def _pwd(state: State) -> Piece:
    here = state.cwds | state.failed if state.cwds is not None else frozenset()
    return Piece(next(iter(here)) if len(here) == 1 else HOLE, expanded=True)


def _all_arguments(state: State) -> list[Piece]:
    """`$@`: each argument a word of its own, as long as none of them holds what a shell would split or expand."""
    words = state.positional[1:] if state.positional else ()
    if any(word.glob or not word.text or any(c.isspace() for c in word.text) for word in words):
        return [Piece(HOLE, expanded=True, is_list=True)]
    pieces = [piece for word in words for piece in (_of_word(word, state), Piece(" ", expanded=True))][:-1]
    return [replace(piece, is_list=True) for piece in pieces]


def _with_tilde(pieces: list[Piece], state: State) -> list[Piece]:
    first = pieces[0] if pieces else Piece("")
    found = _ASSIGNED_TILDE.match(first.text)
    start = found.end() if found else 0
    if first.quoted or first.expanded or first.text[start : start + 1] != "~":
        return pieces
    name, slash, rest = first.text[start + 1 :].partition("/")
    home = _home_of(name, state)
    return [Piece(first.text[:start]), Piece(home.text, quoted=True), Piece(slash + rest), *pieces[1:]]


def _home_of(name: str, state: State) -> Word:
    if name == "":
        return state.variables.get("HOME", UNKNOWN)
    if name in ("+", "-") or name[0].isdigit():
        return UNKNOWN
    return Word("/root" if name == "root" else SANDBOX.home if name == SANDBOX.user else f"/home/{name}")


def _is_brace_word(node: Node) -> bool:
    return node.type in _LITERAL_NODES and has_braces(text_of(node))


def _expand_braces(node: Node, state: State, shell: Substitutes) -> list[Word]:
    text = text_of(node)
    literal = all(inner.type in _LITERAL_NODES or not inner.is_named for inner in descend(node))
    if not literal or "\\" in text:
        join(_pieces(node, shell, state))
        return [UNKNOWN]
    try:
        words = expand_braces(text)
    except TooMany:
        shell.scene.findings.ask(Rule.COMMAND_COMPLEX, text)
        return [UNKNOWN]
    return [word for part in words for word in join(_with_tilde([Piece(part)], state))]
