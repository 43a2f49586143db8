"""`asos up`, `down`, `status` and `doctor`: the local stack, and what this machine lacks for it."""

import asyncio
import json
import os
import signal
from datetime import UTC, datetime
from types import FrameType
from typing import Annotated, NoReturn

import typer
from pydantic import JsonValue
from rich.console import Console

from contracts.kill import Kill
from contracts.language import Language
from contracts.texts import cli as cli_texts
from contracts.texts import identity as identity_texts
from contracts.texts import runtime as texts
from gateway.kill_orders import line_of
from gateway.owner import Owner
from runtime import addresses
from runtime.doctor.check import Check
from runtime.doctor.examine import examine
from runtime.doctor.sandboxes import sandbox_checks
from runtime.keys import Keyring, KeyringUnusable
from runtime.killing.brake import FileBrake
from runtime.killing.state import StateFile
from runtime.paths import DataPaths, FolderUnusable
from runtime.service import redactor_of
from runtime.settings import Settings, SettingsInvalid, read_settings
from runtime.stack.down import down as stop_stack
from runtime.stack.lock import LockHeld
from runtime.stack.parts import stack_of
from runtime.stack.report import StackReport, pairing_code, report
from runtime.stack.state import Failure, StackState, read_state
from runtime.stack.supervise import Ended, supervise
from runtime.stack.up import UpOutcome, prepare
from runtime.stack.up import up as start_stack
from runtime.stack.view import Progress, show_addresses, show_failure, show_report
from runtime.temporal import TemporalUnreachable, connect
from sandbox.doctor import gaps
from workers.vault import VaultState, vault_check, vault_sentence, vault_state

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for programs.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until every part is healthy.")]
Foreground = Annotated[bool, typer.Option("--foreground", help="Stay in this terminal; Ctrl-C stops the stack.")]

SERVER_PATIENCE_SECONDS = 5.0

_out = Console()
_errors = Console(stderr=True)


def up(wait: Wait = True, foreground: Foreground = False, as_json: Json = False) -> None:
    """Start the system (Temporal, worker, gateway), or find the one that runs."""
    settings = _settings()
    language = settings.language
    signal.signal(signal.SIGTERM, _interrupt)
    if foreground:
        _up_in_foreground(settings)
    require_server(settings)
    progress = Progress(_errors if as_json else _out, language)
    try:
        outcome = start_stack(stack_of(settings), dict(os.environ), progress.observe, wait=wait)
    except (FolderUnusable, KeyringUnusable) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        progress.end()
        _fail(texts.INTERRUPTED.say(language))
    progress.end()
    if as_json:
        _print_json(_up_facts(outcome, progress.seconds))
    elif outcome.failure is None:
        _tell_up(outcome, settings, progress.seconds)
    if outcome.failure is not None:
        _fail_with(outcome.failure, settings)


def down(as_json: Json = False) -> None:
    """Stop the system, and clear away what a killed one left."""
    settings = _settings()
    language = settings.language
    try:
        with _errors.status(texts.STOPPING.say(language)):
            outcome = stop_stack(DataPaths(settings.data_dir))
    except LockHeld:
        _fail(texts.LOCKED.say(language, folder=settings.data_dir))
    if as_json:
        _print_json(
            {"was_running": outcome.was_running, "leftovers": outcome.leftovers, "seconds": round(outcome.seconds, 3)}
        )
        return
    if outcome.leftovers:
        _out.print(texts.LEFTOVERS.say(language, count=outcome.leftovers))
    stopped = outcome.was_running or outcome.leftovers
    _out.print(texts.DOWN.say(language, seconds=outcome.seconds) if stopped else texts.DOWN_ALREADY.say(language))


def status(as_json: Json = False) -> None:
    """Show what runs, and the address of the Temporal UI; exit code 1 unless every part is healthy."""
    settings = _settings()
    found, vault = asyncio.run(_report(settings))
    stops = _stops(settings) if found.phase != "stopped" else ()
    if as_json:
        facts: dict[str, JsonValue] = {
            "vault": vault.model_dump(mode="json"),
            "stops": [kill.model_dump(mode="json") for kill in stops],
        }
        _print_json({**found.model_dump(mode="json"), **facts})
    else:
        for kill in stops:
            _out.print(line_of(kill, settings.language), style="red", markup=False, highlight=False, soft_wrap=True)
        show_report(_out, found, _login_url(settings) if found.healthy else "", settings.language)
        state = vault_sentence(vault, settings.language)
        _out.print(identity_texts.VAULT_LINE.say(settings.language, state=state), markup=False, soft_wrap=True)
        if found.failure is not None:
            show_failure(_out, found.failure, settings.language, redactor_of(settings))
    raise typer.Exit(0 if found.healthy else 1)


def _stops(settings: Settings) -> tuple[Kill, ...]:
    """What the kill switch has stopped; none while its seal cannot be checked, which the parts' health tells."""
    try:
        keyring = Keyring.load(settings.data_dir)
    except KeyringUnusable:
        return ()
    return FileBrake(StateFile.of(DataPaths(settings.data_dir), keyring)).kills()


def doctor(as_json: Json = False) -> None:
    """Say what this machine has and lacks, and how to get it; exit code 1 if something is missing."""
    settings = _settings()
    checks = asyncio.run(_all_checks(settings))
    missing = sum(check.status == "missing" for check in checks)
    if as_json:
        _print_json({"ok": missing == 0, "checks": [check.model_dump(mode="json") for check in checks]})
    else:
        _tell_checks(checks, missing, settings.language)
    raise typer.Exit(1 if missing else 0)


def require_server(settings: Settings) -> None:
    """With a server that others run, look first whether it answers. Raises: typer.Exit(1) after one line."""
    if not settings.temporal_address:
        return
    try:
        keyring = Keyring.load(settings.data_dir)
        asyncio.run(connect(settings, keyring, patience_seconds=SERVER_PATIENCE_SECONDS))
    except TemporalUnreachable as error:
        _fail(cli_texts.NO_SERVER.say(settings.language, address=error.address))
    except (FolderUnusable, KeyringUnusable) as error:
        _fail(str(error))


async def _all_checks(settings: Settings) -> list[Check]:
    found = await gaps(docker_host=settings.docker_host, runtime=settings.sandbox_runtime, language=settings.language)
    sandboxes = sandbox_checks([(gap.part, gap.text) for gap in found], settings.language)
    return [*await examine(settings, settings.language), await vault_check(settings), *sandboxes]


async def _report(settings: Settings) -> tuple[StackReport, VaultState]:
    return await asyncio.gather(report(DataPaths(settings.data_dir)), vault_state(settings))


def _up_in_foreground(settings: Settings) -> NoReturn:
    language = settings.language
    paths = DataPaths(settings.data_dir)
    try:
        prepare(paths)
    except (FolderUnusable, KeyringUnusable) as error:
        _fail(str(error))
    progress = Progress(_out, language)
    _out.print(texts.FOREGROUND.say(language))
    ended = supervise(stack_of(settings), os.environ, progress.observe)
    progress.end()
    state = read_state(paths.stack_state)
    if ended is Ended.ALREADY_RUNNING:
        _fail(_already(state, language) if state else texts.LOCKED.say(language, folder=paths.root))
    if ended is Ended.FAILED and state is not None and state.failure is not None:
        _fail_with(state.failure, settings)
    raise typer.Exit(int(ended))


def _tell_up(outcome: UpOutcome, settings: Settings, seconds: float) -> None:
    language = settings.language
    state = outcome.state
    if state is None:
        return
    if state.phase != "running":
        _out.print(texts.STARTS.say(language))
    elif outcome.was_running:
        _out.print(_already(state, language))
    else:
        _out.print(texts.UP.say(language, seconds=seconds))
    show_addresses(_out, state.ui_url, _login_url(settings), pairing_code(DataPaths(settings.data_dir)), language)


def _login_url(settings: Settings) -> str:
    """An address that logs the owner's browser in; whoever may read the data folder may have one. None without a
    gateway."""
    if settings.worker_role == "host":
        return ""
    owner = Owner.load(DataPaths(settings.data_dir).owner_token)
    return f"{addresses.gateway(settings)}/login?ticket={owner.ticket(datetime.now(UTC))}"


def _already(state: StackState, language: Language) -> str:
    return texts.UP_ALREADY.say(language, minutes=state.supervisor.age_seconds / 60, pid=state.supervisor.pid)


def _up_facts(outcome: UpOutcome, seconds: float) -> dict[str, JsonValue]:
    return {
        "ok": outcome.failure is None,
        "was_running": outcome.was_running,
        "seconds": round(seconds, 3),
        "state": outcome.state.model_dump(mode="json") if outcome.state else None,
        "failure": outcome.failure.model_dump(mode="json") if outcome.failure else None,
    }


def _tell_checks(checks: list[Check], missing: int, language: Language) -> None:
    signs = {"ok": "[green]✓[/green]", "warn": "[yellow]![/yellow]", "missing": "[red]✗[/red]"}
    for check in checks:
        _out.print(signs[check.status], f"[bold]{check.name}[/bold]", end=" ")
        _out.print(check.detail, markup=False, highlight=False, soft_wrap=True)
        if check.remedy:
            _out.print(f"    → {check.remedy}", markup=False, highlight=False, soft_wrap=True)
    _out.print(texts.GAPS.say(language, count=missing) if missing else texts.ALL_WELL.say(language))


def _settings() -> Settings:
    try:
        return read_settings()
    except SettingsInvalid as error:
        _errors.print(texts.BAD_SETTING.say("en", name=error.name, problem=error.problem), style="red", markup=False)
        raise typer.Exit(2) from error


def _fail_with(failure: Failure, settings: Settings) -> NoReturn:
    show_failure(_errors, failure, settings.language, redactor_of(settings))
    raise typer.Exit(1)


def _fail(sentence: str) -> NoReturn:
    _errors.print(f"✗ {sentence}", style="red", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(1)


def _print_json(facts: JsonValue) -> None:
    _out.print(json.dumps(facts, ensure_ascii=False), markup=False, highlight=False, soft_wrap=True)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
