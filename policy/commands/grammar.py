"""Parse bash, and notice where the parser may read a script otherwise than bash does."""

import re
from collections.abc import Iterator

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_bash.language()))
MAX_DEPTH = 60
_EXPANDED = frozenset({"word", "string_content", "regex", "extglob_pattern", "heredoc_body", "heredoc_content"})
_DELIMITER = re.compile(r"""^(?:\\?[A-Za-z_][A-Za-z0-9_]*|'[A-Za-z_][A-Za-z0-9_]*'|"[A-Za-z_][A-Za-z0-9_]*")$""")


def parse(script: str) -> Node:
    return _PARSER.parse(script.encode()).root_node


def text_of(node: Node) -> str:
    return (node.text or b"").decode()


def descend(node: Node) -> Iterator[Node]:
    """The node and everything below it, in the order of the text."""
    yield node
    for child in node.children:
        yield from descend(child)


def is_too_deep(root: Node) -> bool:
    """Whether the tree is nested beyond what anybody writes, or could be walked."""
    level, depth = [root], 0
    while level and depth <= MAX_DEPTH:
        level = [child for node in level for child in node.children]
        depth += 1
    return depth > MAX_DEPTH


def is_sound(root: Node, script: str) -> bool:
    """Whether the tree leaves no doubt: no errors, nothing left out between words, here-documents as bash ends them."""
    if root.has_error:
        return False
    if any(_hides_a_substitution(node) for node in descend(root) if node.child_count == 0):
        return False
    documents = [node for node in descend(root) if node.type == "heredoc_redirect"]
    lines = [node.start_point.row for node in documents]
    return len(set(lines)) == len(lines) and all(_ends_as_in_bash(node, script) for node in documents)


def delimiter_of(document: Node) -> str:
    """The word that ends a here-document, still quoted."""
    return next((text_of(child) for child in document.children if child.type == "heredoc_start"), "")


def _hides_a_substitution(leaf: Node) -> bool:
    """Whether the parser took for plain text what bash would run."""
    document = leaf.parent if leaf.type == "heredoc_body" else None
    quoted = document is not None and any(mark in delimiter_of(document) for mark in "'\"\\")
    if leaf.type not in _EXPANDED or quoted:
        return False
    plain = re.sub(r"\\.", "", text_of(leaf), flags=re.DOTALL)
    return "`" in plain or "$(" in plain or "${" in plain


def _ends_as_in_bash(document: Node, script: str) -> bool:
    quoted = delimiter_of(document)
    if not _DELIMITER.match(quoted):
        return False
    strips_tabs = any(child.type == "<<-" for child in document.children)
    word = quoted.strip("\\'\"")
    first = document.start_point.row + 1
    lines = script.split("\n")
    for row in range(first, len(lines)):
        if (lines[row].lstrip("\t") if strips_tabs else lines[row]) == word:
            ends = [child.start_point.row for child in document.children if child.type == "heredoc_end"]
            return ends == [row]
    return False
