"""One call of a program, and what a program's judge may say about it."""

from collections.abc import Sequence
from dataclasses import dataclass

from policy.commands.options import Parsed, Spec
from policy.commands.scene import Scene
from policy.commands.shell import Shell
from policy.commands.state import State
from policy.commands.stream import OPAQUE, Stream
from policy.commands.word import Word
from policy.rules import Rule


@dataclass(frozen=True)
class Call:
    """`name` is the bare name of the program, `arguments` what follows it."""

    name: str
    arguments: tuple[Word, ...]
    stdin: Stream | None
    state: State
    shell: Shell

    @property
    def scene(self) -> Scene:
        return self.shell.scene

    @property
    def shown(self) -> str:
        return " ".join([self.name, *(word.text for word in self.arguments)])

    def ask(self, rule: Rule, detail: str | None = None) -> Stream:
        self.scene.findings.ask(rule, self.shown if detail is None else detail)
        return OPAQUE

    def deny(self, rule: Rule, detail: str | None = None) -> Stream:
        self.scene.findings.deny(rule, self.shown if detail is None else detail)
        return OPAQUE

    def run(self, words: Sequence[Word], stdin: Stream | None = None) -> Stream:
        """Another command that this one starts."""
        return self.shell.run_words(words, self.state, stdin if stdin is not None else self.stdin)

    def judge(self, spec: Spec) -> Parsed:
        """Read the arguments by the specification and apply every role in it."""
        parsed = spec.parse(self.arguments)
        for use in parsed.uses:
            self.apply(use.role, use.value, use.name)
        for operand in parsed.operands:
            self.apply(spec.operands, operand, "")
        if spec.strict and parsed.unknown:
            self.ask(Rule.COMMAND_FLAG, f"{self.name} {parsed.unknown[0].text}")
        self.beware_of_flags(spec, parsed)
        return parsed

    def beware_of_flags(self, spec: Spec, parsed: Parsed) -> None:
        """A word that is not known might turn out to be a flag that matters."""
        guarded = next((i for i, word in enumerate(self.arguments) if word.text == "--"), len(self.arguments))
        before = self.arguments[:guarded]
        for word in parsed.operands if spec.is_touchy else ():
            may_be_flag = word.known_start == "" and word.is_open
            wild = spec.strict and word.glob and word.text[0] in "*?["
            if (may_be_flag or wild) and word in before:
                self.scene.unresolved(word)
        for word in parsed.unknown if spec.is_touchy else ():
            if word.is_open:
                self.scene.unresolved(word)

    def apply(self, role: str, word: Word | None, flag: str) -> None:
        """Say what becomes of one value. Switches come here too, with no value."""
        if role == "text":
            return
        if role in _SWITCH_RULES:
            self.ask(_SWITCH_RULES[role], f"{self.name} {flag}".strip())
        elif word is not None:
            self._apply_value(role, word)

    def _apply_value(self, role: str, word: Word) -> None:
        match role:
            case "read" | "tree":
                if word.text != "-":
                    self.scene.read(word, self.state, whole_tree=role == "tree")
            case "upload" | "upload_tree":
                if word.text != "-":
                    self.scene.send(word, self.state, whole_tree=role == "upload_tree")
            case "list":
                self.scene.look(word, self.state)
            case "write":
                if word.text != "-":
                    self.scene.write(word, self.state)
            case "delete":
                self.scene.delete(word, self.state)
            case "script":
                self.run_text(word)
            case "url":
                self.scene.visit(word)
            case _:
                raise LookupError(f"the notation of {self.name} has an unknown role {role!r}")

    def run_text(self, word: Word, positional: tuple[Word, ...] | None = None, stdin: Stream | None = None) -> Stream:
        """A word that a shell will read as a script."""
        if word.fetched:
            return self.deny(Rule.COMMAND_FETCHED)
        if word.is_open or word.glob:
            self.scene.unresolved(word)
            return OPAQUE
        return self.shell.run_script(word.text, self.state, stdin, positional)


_SWITCH_RULES = {
    "ask": Rule.COMMAND_FLAG,
    "net": Rule.COMMAND_NETWORK,
    "send": Rule.COMMAND_SENDS,
    "later": Rule.COMMAND_PERSISTENCE,
}
