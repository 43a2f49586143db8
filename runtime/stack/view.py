"""How the stack looks on a terminal."""

import time

from rich.console import Console
from rich.status import Status
from rich.table import Table

from contracts.language import Language
from contracts.texts import runtime as texts
from runtime.policy_view import show_policy
from runtime.redact import Redactor
from runtime.stack.failures import explained
from runtime.stack.report import PartReport, StackReport
from runtime.stack.state import Failure, StackState


class Progress:
    """Tells each part of a start once, with its time; a spinner shows what is awaited."""

    def __init__(self, console: Console, language: Language) -> None:
        self._console = console
        self._language = language
        self._begun = time.monotonic()
        self._told: set[str] = set()
        self._spinner: Status | None = None

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begun

    def observe(self, state: StackState) -> None:
        """A stack that is found running has nothing to tell."""
        if state.phase == "running" and not self._told:
            return
        for part in state.parts:
            if part.phase == "running" and part.name not in self._told:
                self._told.add(part.name)
                seconds = part.ready_after_seconds or 0.0
                ready = texts.PART_READY.say(self._language, part=part.name, seconds=seconds)
                self._console.print(f"[green]✓[/green] {ready}", highlight=False)
        awaited = [part.name for part in state.parts if part.phase == "starting"]
        self._spin(texts.STARTING.say(self._language, part=awaited[0]) if awaited else "")
        if state.phase == "stopping":
            self._spin(texts.STOPPING.say(self._language))

    def end(self) -> None:
        """Take the spinner away."""
        self._spin("")

    def _spin(self, text: str) -> None:
        if self._spinner is not None:
            self._spinner.stop()
        self._spinner = self._console.status(text) if text else None
        if self._spinner is not None:
            self._spinner.start()


def show_failure(console: Console, failure: Failure, language: Language, redactor: Redactor) -> None:
    """The log's last lines, then one line with the remedy, so that it is the last thing on the screen."""
    for line in failure.lines:
        console.print(f"  {redactor.redact(line)}", style="dim", markup=False, highlight=False)
    console.print(f"✗ {explained(failure, language)}", style="red", markup=False, highlight=False, soft_wrap=True)


def show_addresses(console: Console, ui_url: str, login_url: str, pairing_code: str, language: Language) -> None:
    if ui_url:
        console.print(texts.UI_ADDRESS.say(language, address=ui_url), highlight=False, soft_wrap=True)
    if login_url:
        console.print(texts.LOGIN_ADDRESS.say(language, address=login_url), highlight=False, soft_wrap=True)
    if pairing_code:
        console.print(texts.PAIRING.say(language, code=pairing_code), highlight=False)


def show_report(console: Console, report: StackReport, login_url: str, language: Language) -> None:
    console.print(texts.STATUS_PHASES[report.phase].say(language), style="bold")
    if report.parts:
        console.print(_table(report.parts, language))
    if report.policy is not None:
        show_policy(console, report.policy, language)
    show_addresses(console, report.ui_url, login_url, report.pairing_code, language)
    console.print(report.data_dir, style="dim", highlight=False, soft_wrap=True)


def _table(parts: tuple[PartReport, ...], language: Language) -> Table:
    table = Table(*(heading.say(language) for heading in texts.COLUMNS.values()), box=None, pad_edge=False)
    for part in parts:
        health = texts.HEALTHY if part.healthy else texts.UNHEALTHY
        state = health if part.phase == "running" else texts.PART_PHASES[part.phase]
        table.add_row(
            part.name,
            f"[{'green' if part.healthy else 'red'}]{state.say(language)}[/]",
            str(part.pid or "-"),
            ", ".join(map(str, part.ports)),
            _span(part.uptime_seconds),
            str(part.restarts),
        )
    return table


def _span(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    hours, rest = divmod(int(seconds), 3_600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}"
