"""What programs and statements may ask of the shell that is walking a script."""

from collections.abc import Sequence
from typing import Protocol

from tree_sitter import Node

from policy.commands.scene import Scene
from policy.commands.state import State
from policy.commands.stream import Stream
from policy.commands.word import Word


class Shell(Protocol):
    """Runs nothing; knows what would run."""

    @property
    def scene(self) -> Scene: ...

    def run(self, node: Node, state: State, stdin: Stream | None) -> Stream:
        """Judge one statement; `state` moves on to the point behind it."""
        ...

    def run_command(self, node: Node, state: State, stdin: Stream | None, extra: tuple[Word, ...]) -> Stream:
        """Judge a simple command with words that stand elsewhere in the text."""
        ...

    def run_words(self, words: Sequence[Word], state: State, stdin: Stream | None = None) -> Stream:
        """Judge one command whose words are already expanded."""
        ...

    def run_script(
        self, text: str, state: State, stdin: Stream | None = None, positional: tuple[Word, ...] | None = None
    ) -> Stream:
        """Judge a script in a shell of its own."""
        ...

    def run_here(self, text: str, state: State, stdin: Stream | None = None) -> Stream:
        """Judge a script in the same shell, as `eval` does."""
        ...

    def run_function(self, name: str, words: tuple[Word, ...], state: State, stdin: Stream | None) -> Stream:
        """Judge the body, or all bodies that the name may have."""
        ...

    def substitute(self, node: Node, state: State) -> Stream:
        """Judge what stands in `$(…)`, backticks or `<(…)`; the outer shell's state stays as it is."""
        ...
