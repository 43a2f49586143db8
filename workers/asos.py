"""The command `asos`: all sub-commands put together."""

import logging
import os
import sys

import typer
from rich.console import Console

from contracts.texts import cli as texts
from gateway.cli import asking, chat, demo, histories, steering, tasks
from runtime.settings import Settings, SettingsInvalid, read_settings
from runtime.stack.parts import stack_of
from runtime.stack.up import up
from runtime.stack.view import Progress, show_failure
from workers.commands import policy, stack

NEEDS_STACK = frozenset({"ask", "chat", "demo"})
"""These start the system if it does not run."""


def ensure_up(settings: Settings) -> None:
    """Start the stack, or find the one that runs. Raises: typer.Exit(1) with one line on what is missing."""
    console = Console(stderr=True)
    stack.require_server(settings)
    progress = Progress(console, settings.language)
    try:
        outcome = up(stack_of(settings), dict(os.environ), progress.observe)
    finally:
        progress.end()
    if outcome.failure is not None:
        show_failure(console, outcome.failure, settings.language, stack.redactor_of(settings))
        raise typer.Exit(1)


def command_line(settings: Settings) -> typer.Typer:
    """The whole command line for these settings."""
    app = typer.Typer(
        name="asos", no_args_is_help=True, add_completion=False, rich_markup_mode="rich", help=texts.ABOUT.say("en")
    )

    @app.callback()
    def before(context: typer.Context) -> None:
        if context.invoked_subcommand in NEEDS_STACK and not {"--help", "-h"} & set(sys.argv):
            ensure_up(settings)

    for command in (stack.up, stack.down, stack.status, stack.doctor):
        app.command()(command)
    for part in (chat, asking, demo, tasks, steering, histories):
        part.register(app, settings)
    app.add_typer(policy.app, name="policy")
    return app


def main() -> None:
    """Entry point of the console script."""
    try:
        settings = read_settings()
    except SettingsInvalid as error:
        Console(stderr=True).print(str(error), style="red", markup=False)
        sys.exit(2)
    logging.getLogger().addHandler(logging.NullHandler())  # what a library has to say is not for the terminal
    command_line(settings)()


if __name__ == "__main__":
    main()
