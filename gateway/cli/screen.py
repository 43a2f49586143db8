"""How a task looks in a terminal: a line for each step as it goes, the question that waits, and the answer."""

from pathlib import Path

from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from contracts.language import Language
from contracts.task import Approval, Asked, Phase, StepView, TaskStatus
from contracts.texts import cli as texts
from contracts.texts import gateway as phases
from contracts.texts.sentence import Sentence
from gateway.desk import TaskSummary
from gateway.view import reason_text
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


class Screen:
    """Prints what is new since the last status, and nothing twice."""

    def __init__(self, console: Console, language: Language) -> None:
        self._console = console
        self._language = language
        self._steps: dict[int, StepView] = {}
        self._shown: list[StepView] = []
        self._phase: Phase | None = None

    def update(self, status: TaskStatus) -> None:
        """Print the steps and the phase that have changed."""
        if status.phase is not self._phase and status.phase not in QUIET_PHASES:
            self._console.print(Text(f"  {PHASES[status.phase].say(self._language)}", style="dim"))
        self._phase = status.phase
        for line in status.steps:
            if line.state != "running" and line not in self._shown:
                self._shown.append(line)
                self._console.print(step_line(line))

    def approval(self, approval: Approval) -> None:
        """Show what is asked, where it goes, and why."""
        language = self._language
        body: list[RenderableType] = [Text(approval.summary, style="bold"), Syntax(approval.preview, "text", word_wrap=True)]
        if approval.egress:
            hosts = ", ".join(f"{grant.host}:{grant.port}" for grant in approval.egress)
            body.append(Text(texts.GOES_TO.say(language, hosts=hosts)))
        reasons = "; ".join(reason_text(reason, language, sentence_for) for reason in approval.reasons)
        body.append(Text(texts.WHY.say(language, reasons=reasons)))
        table = Table.grid()
        for row in body:
            table.add_row(row)
        title = Text(texts.MAY_I.say(language, risk=approval.risk))
        self._console.print(Panel(table, title=title, subtitle=approval.approval_id, border_style="yellow"))

    def question(self, asked: Asked) -> None:
        """Show what the person is asked, with the choices numbered."""
        self._console.print(Text(f"? {asked.question}", style="bold yellow"))
        for number, choice in enumerate(asked.choices, start=1):
            self._console.print(Text(f"  {number}. {choice}"))

    def answer(self, text: str) -> None:
        """The answer, with its Markdown rendered where there is a terminal."""
        self._console.print()
        self._console.print(Markdown(text) if self._console.is_terminal else Text(text))

    def end(self, outcome: str, seconds: float) -> None:
        style = "green" if outcome == "done" else "red"
        self._console.print(Text(texts.OUTCOMES[outcome].say(self._language, seconds=seconds), style=style))

    def file(self, path: Path, size: int) -> None:
        self._console.print(Text(texts.FILE_SAVED.say(self._language, path=path, size=size), style="dim"))

    def note(self, sentence: str, style: str = "dim") -> None:
        self._console.print(Text(sentence, style=style))


def step_line(line: StepView) -> Text:
    """One step with its mark."""
    return Text(f"  {MARKS[line.state]} {line.step}. {line.summary}", style=STYLES[line.state])


def tasks_table(summaries: list[TaskSummary], language: Language) -> Table:
    """A list of tasks, newest first."""
    table = Table(box=None, pad_edge=False)
    for heading in ("task", "", "started", "channel", "goal"):
        table.add_column(heading, overflow="fold" if heading == "task" else "ellipsis", no_wrap=True)
    for each in summaries:
        phase = PHASES[each.phase].say(language) if each.phase else ""
        started = f"{each.started_at.astimezone():%m-%d %H:%M:%S}"
        table.add_row(each.task_id, phase, started, each.channel, Text(each.goal))
    return table
