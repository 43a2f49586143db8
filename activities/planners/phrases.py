"""How people name files and pages, and what a found phrase becomes."""

import re
from collections.abc import Callable

from activities.planners.outline import (
    ListFiles,
    OpenPages,
    ReadFile,
    ReadPages,
    RunCommand,
    SendFile,
    Summarise,
    Wish,
    WriteFile,
)

Phrase = tuple[str, Callable[[re.Match[str]], Wish]]
"""A pattern for a whole clause, and the wish that it is."""

FILE = (
    r"[\"'“”`]?(?P<path>(?:[A-Za-z0-9_.~+@%-]*/)*[\w~+@%-]+\.[A-Za-z0-9]{1,8}"
    r"|(?:[A-Za-z0-9_.~+@%-]*/)+[A-Za-z0-9_.~+@%-]+)[\"'“”`]?"
)
"""A name with an ending, or a path with a slash: a bare word may be anything."""

CODE = r"⟦(?P<code>\d+)⟧"
"""Stands for a piece between backticks, which is taken out before a message is cut into clauses."""


def opens(_: re.Match[str]) -> Wish:
    return OpenPages()


def reads(_: re.Match[str]) -> Wish:
    return ReadPages()


def summarises(_: re.Match[str]) -> Wish:
    return Summarise()


def sends_it(_: re.Match[str]) -> Wish:
    return SendFile()


def lists(_: re.Match[str]) -> Wish:
    return ListFiles()


def lists_folder(found: re.Match[str]) -> Wish:
    return ListFiles(found["path"])


def writes(found: re.Match[str]) -> Wish:
    return WriteFile(found["path"])


def sends(found: re.Match[str]) -> Wish:
    return SendFile(found["path"])


def shows(found: re.Match[str]) -> Wish:
    return ReadFile(found["path"])


def runs(found: re.Match[str]) -> Wish:
    """The script is the number of its piece of code."""
    return RunCommand(found["code"])
