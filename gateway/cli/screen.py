"""How a task looks in a terminal: a line for each step as it goes, the question that waits, and the answer."""

import re
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console, Group
from rich.markdown import Markdown
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from contracts.language import Language
from contracts.task import Approval, Asked, Phase, StepView, TaskStatus
from contracts.texts import cli as texts
from contracts.texts import gateway as phases
from contracts.texts.sentence import Sentence
from gateway.card import card_lines
from gateway.desk import TaskSummary
from gateway.wording import sentence_for

MARKS = {"running": "▸", "done": "✔", "failed": "✘", "denied": "⊘", "waiting": "…"}
STYLES = {"running": "cyan", "done": "green", "failed": "red", "denied": "yellow", "waiting": "yellow"}
PHASES: dict[Phase, Sentence] = {
    Phase.QUEUED: phases.QUEUED,
    Phase.LEASING: phases.LEASING,
    Phase.PLANNING: phases.PLANNING,
    Phase.ACTING: phases.ACTING,
    Phase.AWAITING_APPROVAL: phases.AWAITING_APPROVAL,
    Phase.AWAITING_USER: phases.AWAITING_USER,
    Phase.PAUSED: phases.PAUSED,
    Phase.COMPLETED: phases.COMPLETED,
    Phase.FAILED: phases.FAILED,
    Phase.CANCELLED: phases.CANCELLED,
}
QUIET_PHASES = frozenset({Phase.PLANNING, Phase.ACTING, Phase.COMPLETED, Phase.FAILED, Phase.CANCELLED})
"""Their lines would only repeat what the steps and the end say."""
UNDER_WAY = frozenset({"running", "waiting"})
PANEL_CHARACTERS = 100
LEAST_CHARACTERS = 40
_FENCE_MARK = re.compile(r"^ {0,3}(`{3,})")
_FENCE = re.compile(r"^ {0,3}`{3,}.*\n?", re.MULTILINE)


class Screen:
    """Prints what is new since the last status, and nothing twice."""

    def __init__(self, console: Console, language: Language) -> None:
        self._console = console
        self._language = language
        self._shown: list[StepView] = []
        self._phase: Phase | None = None

    def update(self, status: TaskStatus) -> None:
        """Print the steps that have ended and the phase that has begun; what waits is told by its question."""
        for line in status.steps:
            if line.state not in UNDER_WAY and line not in self._shown:
                self._shown.append(line)
                self._console.print(step_line(line, self._console.width))
        if status.phase is not self._phase and status.phase not in QUIET_PHASES:
            self._console.print(Text(f"  {PHASES[status.phase].say(self._language)}", style="dim"))
        self._phase = status.phase

    def approval(self, approval: Approval) -> None:
        """Show what is asked, where it goes, and why."""
        language = self._language
        body = [Text(approval.preview or approval.summary), Text()]
        body += [Text(f"• {line}") for line in card_lines(approval, language, sentence_for)]
        title = Text(texts.MAY_I.say(language, risk=approval.risk), style="bold")
        width = min(self._console.width, PANEL_CHARACTERS)
        panel = Panel(
            Group(*body), title=title, subtitle=approval.approval_id, border_style="yellow", width=width, padding=(0, 1)
        )
        # The console leaves lines whole, so that addresses can be copied; a frame needs them folded.
        self._console.print(panel, soft_wrap=False)

    def question(self, asked: Asked) -> None:
        """Show what the person is asked, with the choices numbered."""
        self._console.print(Text(f"? {asked.question}", style="bold yellow"))
        for number, choice in enumerate(asked.choices, start=1):
            self._console.print(Text(f"  {number}. {choice}"))

    def answer(self, text: str) -> None:
        """The answer, with its Markdown rendered where there is a terminal."""
        self._console.print()
        if self._console.is_terminal:
            self._console.print(Markdown(_lines_kept(text), code_theme="ansi_dark"), soft_wrap=False)
        else:
            self._console.print(Text(_FENCE.sub("", text)))

    def end(self, outcome: str, seconds: float) -> None:
        style = "green" if outcome == "done" else "red"
        self._console.print(Text(texts.OUTCOMES[outcome].say(self._language, seconds=seconds), style=style))

    def file(self, path: Path, size: int) -> None:
        self._console.print(Text(texts.FILE_SAVED.say(self._language, path=path, size=size), style="dim"))

    def note(self, sentence: str, style: str = "dim") -> None:
        self._console.print(Text(sentence, style=style))


def step_line(line: StepView, width: int) -> Text:
    """One step with its mark, on one line of the terminal."""
    text = Text(f"  {MARKS[line.state]} {line.step}. {line.summary}", style=STYLES[line.state])
    text.truncate(max(width, LEAST_CHARACTERS), overflow="ellipsis")
    return text


def tasks_table(summaries: list[TaskSummary], language: Language) -> Table:
    """A list of tasks, newest first."""
    rows = [
        (
            each.task_id,
            PHASES[each.phase].say(language) if each.phase else "",
            f"{each.started_at.astimezone():%m-%d %H:%M}",
            each.channel,
            " ".join(each.goal.split()),
        )
        for each in summaries
    ]
    table = Table(box=None, pad_edge=False)
    *others, goal = (heading.say(language) for heading in texts.TASK_COLUMNS)
    for at, heading in enumerate(others):
        # Only the goal gives way on a narrow terminal: half an id would name no task.
        table.add_column(heading, no_wrap=True, min_width=max([0, *(cell_len(row[at]) for row in rows)]))
    table.add_column(goal, no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _lines_kept(markdown: str) -> str:
    """Line ends as they were written, where Markdown would flow lines together; code blocks have their own."""
    kept, fence = [], ""
    for line in markdown.splitlines():
        mark = _FENCE_MARK.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        kept.append(line if fence or mark or not line.strip() else f"{line}  ")
    return "\n".join(kept)
