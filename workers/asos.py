"""The command `asos`: all sub-commands put together."""

import logging
import os
import sys

import typer
from rich.console import Console

from contracts.texts import cli as texts
from gateway.cli import asking, auditing, chat, demo, files, histories, sandboxes, shell, steering, tasks, undoing
from runtime.keys import KeyringUnusable
from runtime.paths import DataPaths, FolderUnusable
from runtime.service import redactor_of
from runtime.settings import Settings, SettingsInvalid, read_settings
from runtime.stack.parts import stack_of
from runtime.stack.state import read_state
from runtime.stack.up import up
from runtime.stack.view import Progress, show_failure
from workers.commands import factor, identity, kill, policy, rules, stack

SYSTEM_PANEL = "The system"


def ensure_up(settings: Settings) -> None:
    """Start the stack, or find the one that runs. Raises: typer.Exit(1) with one line on what is missing."""
    console = Console(stderr=True)
    stack.require_server(settings)
    running = read_state(DataPaths(settings.data_dir).stack_state)
    if running is not None and running.is_alive and running.phase == "running":
        return
    progress = Progress(console, settings.language)
    try:
        outcome = up(stack_of(settings), dict(os.environ), progress.observe)
    except (FolderUnusable, KeyringUnusable) as error:
        console.print(f"✗ {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(1) from error
    finally:
        progress.end()
    if outcome.failure is not None:
        show_failure(console, outcome.failure, settings.language, redactor_of(settings))
        raise typer.Exit(1)


def command_line(settings: Settings) -> typer.Typer:
    """The whole command line for these settings."""
    app = typer.Typer(
        name="asos", no_args_is_help=True, add_completion=False, rich_markup_mode="rich", help=texts.ABOUT.say("en")
    )

    for talk in (chat, asking, demo):
        talk.register(app, settings, ensure_up)
    for part in (tasks, steering, undoing, sandboxes, files, shell, histories, auditing):
        part.register(app, settings)
    for command in (stack.up, stack.down, stack.status, stack.doctor):
        app.command(rich_help_panel=SYSTEM_PANEL)(command)
    kill.register(app, settings, SYSTEM_PANEL)
    policies = typer.Typer(help=policy.app.info.help, no_args_is_help=True)
    for commands in (policy.app, rules.rules_app(settings)):
        policies.add_typer(commands)
    app.add_typer(policies, name="policy", rich_help_panel=SYSTEM_PANEL)
    app.add_typer(factor.factor_app(settings), name="factor", rich_help_panel=SYSTEM_PANEL)
    app.add_typer(identity.identity_app(settings), name="identity", rich_help_panel=SYSTEM_PANEL)
    return app


def main() -> None:
    """Entry point of the console script."""
    try:
        settings = read_settings()
    except SettingsInvalid as error:
        Console(stderr=True).print(str(error), style="red", markup=False)
        sys.exit(2)
    logging.getLogger().addHandler(logging.NullHandler())  # what a library has to say is not for the terminal
    try:
        command_line(settings)(prog_name="asos")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    else:
        code = 0
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads of the Temporal client may call into the interpreter while it is torn down, which aborts the process.
    os._exit(code)


if __name__ == "__main__":
    main()
