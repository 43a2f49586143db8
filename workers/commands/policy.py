"""`asos policy`: check a policy file, and ask it about commands and addresses without running anything."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO, NoReturn

import typer
from pydantic import ConfigDict, Field, ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from contracts.egress import EgressRules
from contracts.language import Language
from contracts.texts.policy import REASONS
from contracts.values import Value
from contracts.verdicts import Action, Actor, CommandAction, Question, Reason, Verdict, VisitAction
from policy.document import PolicyError
from policy.file import parse
from policy.judge import judge
from policy.paths import PathPattern
from policy.roles import Policy, Role
from policy.shipped import NAME, default_text

FAILED, USAGE = 1, 2

_COLOURS = {"allow": "green", "ask": "yellow", "deny": "red"}

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
    loaded = _load(policy)
    name = role or next(iter(loaded.roles))
    if name not in loaded.roles:
        _fail(f"the policy has no role {name!r}; it has {', '.join(loaded.roles)}", USAGE)
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
    file: Annotated[Path, typer.Argument(help="Policy file, YAML or JSON.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as one JSON object.")] = False,
) -> None:
    """Say whether a policy file can be used, with the line of whatever is wrong."""
    try:
        loaded = parse(_read(file), str(file))
    except PolicyError as error:
        if as_json:
            typer.echo(json.dumps({"ok": False, "line": error.line, "error": str(error)}))
        else:
            Console(stderr=True, soft_wrap=True).print(f"[red]{escape(str(error))}[/red]", highlight=False)
        raise typer.Exit(FAILED) from error
    if as_json:
        typer.echo(json.dumps({"ok": True, "version": loaded.version, "roles": list(loaded.roles)}))
    else:
        Console().print(_overview(loaded))


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
    colour = _COLOURS[verdict.kind]
    said = " ".join(_sentence(reason, language) for reason in verdict.reasons)
    Console(soft_wrap=True).print(f"[{colour}]{verdict.kind}[/{colour}] {escape(said)}", highlight=False)


def _sentence(reason: Reason, language: Language) -> str:
    return REASONS[reason.rule].say(language, detail=reason.detail)


def _emit(answer: dict[str, object]) -> None:
    """Flushed line by line: whoever asks may wait for this answer before asking the next."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _overview(policy: Policy) -> Table:
    table = Table(title=f"policy {policy.version[:12]}", title_justify="left")
    for heading in ("role", "browser", "commands", "approval"):
        table.add_column(heading)
    for role in policy.roles.values():
        table.add_row(role.name, _browser(role), _commands(role), _approvals(role))
    table.caption, table.caption_justify = _egress(policy.egress), "left"
    return table


def _egress(rules: EgressRules) -> str:
    inspected = ", ".join(rules.inspect) or "nothing"
    return f"sandboxes: {len(rules.allowed)} allowed, {len(rules.blocked)} blocked, inspected: {inspected}"


def _browser(role: Role) -> str:
    if role.browser is None:
        return "none"
    rules = role.browser
    return f"{len(rules.read)} read, {len(rules.write)} write, {len(rules.blocked)} blocked, others: {rules.unlisted}"


def _commands(role: Role) -> str:
    if role.cli is None:
        return "none"
    return f"read {_texts(role.cli.read)}; write {_texts(role.cli.write)}"


def _texts(patterns: tuple[PathPattern, ...]) -> str:
    return ", ".join(pattern.text for pattern in patterns) or "nothing"


def _approvals(role: Role) -> str:
    rules = role.approvals
    return f"delete: {rules.data_deletion}, send: {rules.external_communication}, secrets: {rules.credential_access}"


def _load(file: Path | None) -> Policy:
    try:
        return parse(default_text(), NAME) if file is None else parse(_read(file), str(file))
    except PolicyError as error:
        _fail(str(error), FAILED)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        _fail(f"{file}: cannot be read ({error}); name a policy file in UTF-8", USAGE)


def _fail(problem: str, code: int) -> NoReturn:
    Console(stderr=True, soft_wrap=True).print(f"[red]{escape(problem)}[/red]", highlight=False)
    raise typer.Exit(code)
