"""What the sub-commands of `asos policy` have in common: reading files and settings, and ending with one clear line."""

from pathlib import Path
from typing import NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from policy.document import PolicyError
from policy.file import parse
from policy.roles import Policy
from policy.shipped import NAME, default_text
from policy.tightening import tightened
from runtime.settings import Settings, SettingsInvalid, read_settings

FAILED, USAGE = 1, 2

COLOURS = {"allow": "green", "ask": "yellow", "deny": "red"}


def load(file: Path | None, overlays: list[Path]) -> Policy:
    """The policy of a file, the shipped one without a file. Raises: typer.Exit after one line on what is wrong."""
    try:
        return parsed(file, overlays)
    except PolicyError as error:
        fail(str(error), FAILED)


def parsed(file: Path | None, overlays: list[Path]) -> Policy:
    """Raises: PolicyError; typer.Exit for a file that cannot be read."""
    policy = parse(default_text(), NAME) if file is None else parse(_read(file), str(file))
    for path in overlays:
        policy = tightened(policy, _read(path), str(path))
    return policy


def settings_or_fail() -> Settings:
    """Raises: typer.Exit."""
    try:
        return read_settings()
    except SettingsInvalid as error:
        fail(str(error), USAGE)


def fail(problem: str, code: int) -> NoReturn:
    """Raises: typer.Exit after the line."""
    Console(stderr=True, soft_wrap=True).print(f"[red]{escape(problem)}[/red]", highlight=False)
    raise typer.Exit(code)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{file}: cannot be read ({error}); name a policy file in UTF-8", USAGE)
