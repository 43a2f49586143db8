"""What a message comes to: something to say at once, something to ask back, or something to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from activities.playbook.model import Playbook


@dataclass(frozen=True)
class Say:
    """The whole answer; nothing is done."""

    text: str
    outcome: Literal["done", "failed"]


@dataclass(frozen=True)
class AskBack:
    """One thing is missing; the answer is found again by `label`."""

    label: str
    question: str


@dataclass(frozen=True)
class Do:
    """Steps to run, with the values that the person gave."""

    playbook: Playbook
    inputs: Mapping[str, str] = field(default_factory=dict)
    own_words: bool = True
    """False if the steps were read from the sandbox, where anybody may have written them."""


@dataclass(frozen=True)
class Load:
    """A playbook of the sandbox that has to be read first."""

    path: str


Understood = Say | AskBack | Do | Load
