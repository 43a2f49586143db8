"""Put what a person wants done into steps: pages side by side, everything else one after another."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from activities.planners.understanding import AskBack, Do, Say, Understood
from activities.playbook.model import Playbook, Step
from contracts.language import Language
from contracts.texts import planner as texts
from contracts.values import JsonObject

MAX_PAGES = 5


@dataclass(frozen=True)
class OpenPages:
    """Open the pages that the message names, in a browser."""


@dataclass(frozen=True)
class ReadPages:
    """Fetch the pages that the message names."""


@dataclass(frozen=True)
class Summarise:
    """Make it short."""


@dataclass(frozen=True)
class WriteFile:
    """Write what there is to a file."""

    path: str


@dataclass(frozen=True)
class SendFile:
    """Send a file, or what there is."""

    path: str = ""


@dataclass(frozen=True)
class ReadFile:
    """Show a file."""

    path: str


@dataclass(frozen=True)
class ListFiles:
    """Show what is in a folder."""

    path: str = "."


@dataclass(frozen=True)
class RunCommand:
    """Run a script."""

    script: str


Wish = OpenPages | ReadPages | Summarise | WriteFile | SendFile | ReadFile | ListFiles | RunCommand


def outline(
    wishes: Sequence[Wish], urls: Sequence[str], tools: frozenset[str], language: Language, file: str = ""
) -> Understood:
    """Steps for the wishes, or the one thing that is missing; `file` is the person's answer to which file."""
    if len(urls) > MAX_PAGES:
        return Say(texts.TOO_MANY_ADDRESSES.say(language, count=len(urls), limit=MAX_PAGES), "failed")
    writer = _Writer(urls, tools, language, file)
    for wish in wishes:
        problem = writer.add(wish, wishes)
        if problem is not None:
            return problem
    absent = next((step.tool for step in writer.steps if step.tool not in tools), None)
    if absent is not None:
        return Say(texts.TOOL_ABSENT.say(language, tool=absent), "failed")
    return Do(Playbook(name="request", steps=tuple(writer.steps), answer=writer.answer()), writer.inputs)


@dataclass
class _Writer:
    """The steps so far, what they yield, and the file that “it” means."""

    urls: Sequence[str]
    tools: frozenset[str]
    language: Language
    answered_file: str
    steps: list[Step] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    pages: list[str] = field(default_factory=list)
    source: str = ""
    """Reference to the text of a file or command that came last."""
    path: str = ""
    shortens: bool = False

    def add(self, wish: Wish, wishes: Sequence[Wish]) -> Say | AskBack | None:
        match wish:
            case OpenPages():
                return self._open("browse")
            case ReadPages():
                return self._open("read")
            case Summarise():
                return self._summarise()
            case RunCommand():
                self._step("run", "shell", {"script": wish.script}, verbatim=True)
                self.source = f"steps.{self.steps[-1].id}.stdout"
            case ReadFile():
                self._on_file("show", "read", wish.path)
                self.source, self.path = f"steps.{self.steps[-1].id}.text", wish.path
            case ListFiles():
                self._on_file("list", "list", wish.path)
            case WriteFile():
                return self._write(wish)
            case SendFile():
                return self._send(wish)
        return None

    def answer(self) -> str:
        """What the person reads besides the list of what was done."""
        if self.pages:
            return self._content(whole=False)
        return f"{{{{ {self.source} | summary }}}}" if self.shortens else ""

    def _open(self, tool: str) -> AskBack | None:
        if not self.urls:
            return AskBack("?page", texts.WHICH_PAGE.say(self.language))
        if self.pages:
            return None
        other = {"browse": "read", "read": "browse"}[tool]
        tool = tool if tool in self.tools or other not in self.tools else other
        for number, url in enumerate(self.urls, start=1):
            step_id = "open" if len(self.urls) == 1 else f"open{number}"
            self.inputs[step_id] = url
            self.steps.append(Step(step_id, tool, {"url": f"{{{{ inputs.{step_id} }}}}"}))
            self.pages.append(step_id)
        return None

    def _summarise(self) -> Say | AskBack | None:
        self.shortens = True
        if self.pages or (self.source and not self.urls):
            return None
        return self._open("read")

    def _write(self, wish: WriteFile) -> Say | None:
        if not self.pages and not self.source:
            return Say(texts.NOTHING_TO_WRITE.say(self.language, path=wish.path), "failed")
        text = self._content(whole=True) if self.pages else f"{{{{ {self.source} }}}}"
        if self.shortens and not self.pages:
            text = f"{{{{ {self.source} | summary }}}}"
        self.path = wish.path
        self._on_file("write", "write", wish.path, content=f"{text}\n")
        return None

    def _send(self, wish: SendFile) -> AskBack | None:
        path = wish.path or self.path or self.answered_file
        if path:
            self._on_file("send", "send", path)
            return None
        if self.pages or self.source:
            return None  # The answer itself brings it.
        return AskBack("?file", texts.WHICH_FILE.say(self.language))

    def _content(self, *, whole: bool) -> str:
        body = "summary" if self.shortens else "excerpt"
        parts = []
        for step_id in self.pages:
            text = f"{{{{ steps.{step_id}.text }}}}" if whole and not self.shortens else None
            text = text or f"{{{{ steps.{step_id}.text | {body} }}}}"
            mark = "# " if whole else ""
            parts.append(f"{mark}{{{{ steps.{step_id}.title }}}}\n\n{text}\n\n{{{{ inputs.{step_id} }}}}")
        return "\n\n".join(parts)

    def _on_file(self, name: str, operation: str, path: str, content: str | None = None) -> None:
        key = f"path{len(self.steps)}"
        self.inputs[key] = path
        args: JsonObject = {"operation": operation, "path": f"{{{{ inputs.{key} }}}}"}
        self._step(name, "files", args if content is None else {**args, "content": content})

    def _step(self, name: str, tool: str, args: JsonObject, *, verbatim: bool = False) -> None:
        """A step after all that are there."""
        taken = {step.id for step in self.steps}
        step_id = name if name not in taken else f"{name}{len(self.steps)}"
        before = tuple(self.pages) if self.pages and len(self.steps) == len(self.pages) else ()
        after = before or ((self.steps[-1].id,) if self.steps else ())
        used = tuple(self.pages) if "content" in args else ()
        self.steps.append(Step(step_id, tool, args, after=tuple(dict.fromkeys([*after, *used])), verbatim=verbatim))
