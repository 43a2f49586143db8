"""What all parts of one analysis share: the rules, the findings, and the files that the script itself made."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from contracts.verdicts import VisitAction
from policy.commands.state import State
from policy.commands.touches import NOTHING_REAL, Touches, as_walked, leads
from policy.commands.word import Word
from policy.files import judge_delete, judge_list, judge_read, judge_write
from policy.findings import Findings
from policy.globs import is_glob, overlaps, quoted, segments
from policy.paths import is_within, resolve
from policy.patterns import CommandPattern
from policy.places import is_device
from policy.roles import BrowserRules, Role
from policy.rules import Rule
from policy.setting import SANDBOX
from policy.urls import KnownHosts, judge_visit

MAX_STEPS = 2_000
"""Statements looked at in one script, those of loops and functions counted each time."""


_NO_CODE = (".txt", ".log", ".out", ".md", ".csv", ".html", ".xml")
"""Files of these names do not change what a project's tools do."""


MAX_PATH_CHARACTERS = 4_096
"""As the kernel has it."""
MAX_PATH_DEPTH = 100

_PROCESS_LINK = re.compile(r"/proc/[^/]+/(?:task/[^/]+/)?(?:root|cwd|fd|exe|map_files)\b")


@dataclass
class Scene:
    """One script under judgement."""

    role: Role
    known: KnownHosts
    findings: Findings
    steps: int = 0
    depth: int = 0
    made: set[str] = field(default_factory=set)
    """Paths, or patterns, that the script has written so far."""
    readonly: set[str] = field(default_factory=set)
    """Variables that later assignments do not change."""
    folders: set[str] = field(default_factory=set)
    """Every folder that the script has been in."""
    lost: bool = False
    """True once it may have been in any folder."""
    traps: list[str] = field(default_factory=list)
    """Scripts that run at some later point."""
    charged: bool = False
    """True once a variable holds text that would run as code inside of arithmetic."""
    touches: Touches = field(default_factory=Touches)
    """Every path that the script names, and what it is named for."""
    real: Mapping[str, str] = field(default_factory=lambda: NOTHING_REAL)
    """Where paths lead whose links have been followed; they are judged as well as the paths themselves."""

    def paths(self, word: Word, state: State) -> tuple[str, ...]:
        """Every path that the word may mean; none if that is not known."""
        if word.is_open or (state.cwds is None and not word.text.startswith("/")):
            return ()
        if len(word.text) > MAX_PATH_CHARACTERS or word.text.count("/") > MAX_PATH_DEPTH:
            return ()
        return tuple(resolve(word.text or ".", cwd) for cwd in sorted(state.cwds or ("/",)))

    def read(self, word: Word, state: State, *, whole_tree: bool = False) -> None:
        for path in self._known_paths(word, state, self.touches.reads):
            judge_read(path, self.role, self.findings, whole_tree=whole_tree)

    def send(self, word: Word, state: State, *, whole_tree: bool = False) -> None:
        """Its content leaves the sandbox."""
        for path in self._known_paths(word, state, self.touches.sends):
            judge_read(path, self.role, self.findings, whole_tree=whole_tree)

    def look(self, word: Word, state: State) -> None:
        self.findings.affect("read")
        for path in (*self.paths(word, state), *self._followed(word, state, self.touches.reads)):
            judge_list(path, self.role, self.findings)

    def write(self, word: Word, state: State) -> None:
        for path in self._known_paths(word, state, self.touches.writes):
            judge_write(path, self.role, self.findings)
            if not is_device(path):
                self.made.add(path)

    def delete(self, word: Word, state: State) -> None:
        for path in self._known_paths(word, state, self.touches.removes):
            judge_delete(path, self.role, self.findings, filtered=word.chosen)

    def visit(self, word: Word, *, write: bool = False) -> None:
        """A program fetches this address; what is not known of it could carry data out."""
        self.findings.affect("egress")
        start = word.known_start
        if word.is_open:
            self.findings.ask(Rule.COMMAND_UNRESOLVED, word.text)
            if start.count("/") < 3:
                self.findings.ask(Rule.COMMAND_SENDS, word.text)
                return
        judge_visit(VisitAction(url=start, write=write), self.browser, self.known, self.findings)

    def run_code(self, program: str, arguments: tuple[Word, ...], files: tuple[Word, ...], state: State) -> None:
        """A program runs code that policy cannot look into, from these files or from the project around it."""
        self.findings.affect("execute")
        paths = [path for word in files for path in self._known_paths(word, state, self.touches.runs)]
        for path in paths:
            judge_read(path, self.role, self.findings)
        if any(overlaps(segments(path), segments(made)) for path in paths for made in self.made):
            self.findings.ask(Rule.COMMAND_RUNS_WRITTEN, paths[0])
        elif not files and not all(made.endswith(_NO_CODE) for made in self.made):
            self.findings.ask(Rule.COMMAND_RUNS_WRITTEN, program)
        elif not self._may_execute(program, arguments, paths):
            self.findings.ask(Rule.COMMAND_OPAQUE, " ".join([program, *(word.text for word in arguments)]))

    @property
    def browser(self) -> BrowserRules:
        return self.role.browser or BrowserRules()

    def unresolved(self, word: Word) -> None:
        if word.fetched:
            self.findings.deny(Rule.COMMAND_FETCHED, word.text)
        self.findings.ask(Rule.COMMAND_UNRESOLVED, word.text)

    def step(self) -> bool:
        """Count one statement; False once there are too many to go on."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            self.findings.ask(Rule.COMMAND_COMPLEX, f"{MAX_STEPS} steps")
        return self.steps <= MAX_STEPS

    def _known_paths(self, word: Word, state: State, touched: dict[str, None]) -> tuple[str, ...]:
        """Every path that the word may mean, and where each of them leads."""
        paths = (*self.paths(word, state), *self._followed(word, state, touched))
        if not paths:
            self.findings.ask(Rule.COMMAND_UNRESOLVED, word.text)
        if _PROCESS_LINK.search(re.sub(r"/(\./)*/*", "/", word.text)):
            self.findings.deny(Rule.FILE_SECRET, word.text)
        return paths

    def _followed(self, word: Word, state: State, touched: dict[str, None]) -> Iterator[str]:
        """Note the paths as the kernel would walk them, and give those that are known to lead elsewhere."""
        for cwd in sorted(state.cwds or ("/",)) if self.paths(word, state) else ():
            walked = posixpath.join(quoted(cwd), word.text if word.glob else quoted(word.text or "."))
            touched.setdefault(as_walked(walked))
            yield from leads(walked, self.real)

    def _may_execute(self, program: str, arguments: tuple[Word, ...], paths: list[str]) -> bool:
        texts = [word.text for word in arguments]
        rules = self.role.cli.execute if self.role.cli else ()
        for rule in rules:
            if isinstance(rule, CommandPattern):
                if rule.permits(program, texts) and all(is_within(path, SANDBOX.workspace) for path in paths):
                    return True
            elif paths and all(rule.covers(path) and not is_glob(path) for path in paths):
                return True
        return False
