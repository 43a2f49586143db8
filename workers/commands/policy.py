"""`asos policy`: check a policy file, ask it without running anything, and look at what was decided with it."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from pydantic import ConfigDict, Field, ValidationError
from rich.console import Console
from rich.markup import escape

from contracts.language import Language
from contracts.values import Value
from contracts.verdicts import Action, Actor, CommandAction, Question, Verdict, VisitAction
from policy.document import PolicyError
from policy.judge import judge
from runtime.paths import DataPaths
from runtime.policy_state import PolicyState, overlays_of, read_policy_state
from runtime.policy_view import show_policy
from workers.commands.policy_files import COLOURS, FAILED, USAGE, fail, load, parsed, settings_or_fail
from workers.commands.policy_overview import show_overview
from workers.commands.policy_replay import explain, replay, sentence

app = typer.Typer(help="Check a policy file, or ask it what it would say.", no_args_is_help=True)


class Asked(Value):
    """One line of input: a command, or an address with what is known of its visit. Other fields are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    cmd: str | None = None
    url: str | None = None
    dns: list[list[str]] = Field(default_factory=list)
    redirect: list[str] = Field(default_factory=list)

    def action(self) -> Action:
        """Raises: ValueError if it is neither or both."""
        if self.cmd is not None and self.url is None:
            return CommandAction(script=self.cmd)
        if self.url is not None and self.cmd is None:
            return VisitAction(url=self.url, dns=tuple(map(tuple, self.dns)), redirects=tuple(self.redirect))
        raise ValueError('a line needs either "cmd" or "url"')


@app.command("judge")
def judge_lines(
    policy: Annotated[Path | None, typer.Option(help="Policy file; without it the shipped one.")] = None,
    role: Annotated[str | None, typer.Option(help="Role to judge for; without it the first of the file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    language: Annotated[str, typer.Option(help="Language of the reasons: en or zh.")] = "en",
) -> None:
    """Read one question a line on standard input, as JSON: {"cmd": …} or {"url": …, "dns": …, "redirect": …}."""
    loaded = load(policy, [])
    name = role or next(iter(loaded.roles))
    if name not in loaded.roles:
        fail(f"the policy has no role {name!r}; it has {', '.join(loaded.roles)}", USAGE)
    malformed = 0
    for line in _lines(sys.stdin.buffer):
        try:
            verdict = judge(_question(line, name), loaded)
        except ValueError as error:
            malformed += 1
            _print_malformed(_problem(error), as_json=as_json)
        else:
            _print_verdict(verdict, "zh" if language == "zh" else "en", as_json=as_json)
    if malformed and not as_json:
        raise typer.Exit(FAILED)


@app.command()
def check(
    file: Annotated[
        Path | None, typer.Argument(help="Policy file, YAML or JSON; without it the one in force, with all over it.")
    ] = None,
    overlay: Annotated[list[Path] | None, typer.Option(help="A file that may only tighten; may be repeated.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as one JSON object.")] = False,
) -> None:
    """Say what a policy file means, or the line of whatever is wrong, and whether it is in force."""
    settings = settings_or_fail()
    paths = DataPaths(settings.data_dir)
    overlays = overlay if overlay is not None or file is not None else [*overlays_of(settings)]
    path = file or settings.policy_file or paths.policy
    state = read_policy_state(paths.policy_state)
    try:
        loaded = parsed(path, overlays or [])
    except PolicyError as error:
        _tell_mistake(error, state if _is_of(state, path) else None, as_json=as_json)
        raise typer.Exit(FAILED) from error
    in_force = state is not None and state.version == loaded.version
    if as_json:
        facts = {"ok": True, "version": loaded.version, "roles": list(loaded.roles), "ignored": list(loaded.ignored)}
        typer.echo(json.dumps({**facts, "in_force": in_force}))
        return
    console = Console()
    show_overview(console, loaded)
    if state is not None and _is_of(state, path):
        show_policy(console, state, settings.language)


def _is_of(state: PolicyState | None, path: Path) -> bool:
    return state is not None and Path(state.file) == path.absolute()


def _tell_mistake(error: PolicyError, state: PolicyState | None, *, as_json: bool) -> None:
    stays = state.version if state is not None else None
    if as_json:
        typer.echo(json.dumps({"ok": False, "line": error.line, "error": str(error), "stays": stays}))
        return
    console = Console(stderr=True, soft_wrap=True)
    console.print(f"[red]{escape(str(error))}[/red]", highlight=False)
    if stays is not None:
        console.print(f"policy {stays[:12]}, the former one, stays in force", highlight=False)


app.command("explain")(explain)
app.command("test")(replay)


def _question(line: bytes, role: str) -> Question:
    asked = Asked.model_validate(json.loads(line))
    return Question(
        actor=Actor(user_id="cli", role=role, channel="cli"), tool="policy", args={}, actions=(asked.action(),)
    )


def _lines(source: BinaryIO) -> Iterator[bytes]:
    yield from (line for line in source if line.strip())


def _problem(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'line'}: {e['msg']}" for e in error.errors())
    return f"not a JSON object: {error}" if isinstance(error, json.JSONDecodeError | UnicodeDecodeError) else str(error)


def _print_malformed(problem: str, *, as_json: bool) -> None:
    if as_json:
        _emit({"verdict": "deny", "reasons": [], "error": problem})
    else:
        Console(soft_wrap=True).print(f"[red]error[/red] {escape(problem)}", highlight=False)


def _print_verdict(verdict: Verdict, language: Language, *, as_json: bool) -> None:
    if as_json:
        _emit({"verdict": verdict.kind, "reasons": [reason.model_dump() for reason in verdict.reasons]})
        return
    colour = COLOURS[verdict.kind]
    said = " ".join(sentence(reason, language) for reason in verdict.reasons)
    Console(soft_wrap=True).print(f"[{colour}]{verdict.kind}[/{colour}] {escape(said)}", highlight=False)


def _emit(answer: dict[str, object]) -> None:
    """Flushed line by line: whoever asks may wait for this answer before asking the next."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
