"""What a switch is: one way to break a promise, and the pieces that most of them are made of."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import pytest

Break = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Switch:
    """One way to break a promise."""

    promise: str
    test: str
    """The node id of a test in the suite, with or without parameters; of those that it takes in, one at least must go
    red."""
    broken: Break
    early: bool = False
    """Thrown before the fixtures of the test are made, since the piece is in use from then on. No other switch may have
    a test in that file."""

    def is_tested_by(self, test: str) -> bool:
        return self.test in (test, without_parameters(test))


def without_parameters(test: str) -> str:
    return test.partition("[")[0]


def replaced(owner: type | ModuleType, name: str, by: object) -> Break:
    """A broken piece in place of the real one."""

    def break_it(patch: pytest.MonkeyPatch) -> None:
        assert hasattr(owner, name)
        patch.setattr(owner, name, by)

    return break_it


def all_of(*breaks: Break) -> Break:
    """Where one broken piece alone would be caught by the next."""

    def break_it(patch: pytest.MonkeyPatch) -> None:
        for each in breaks:
            each(patch)

    return break_it


async def in_vain(*_: object, **__: object) -> None:
    """Does nothing where something must be done."""


def always(answer: object) -> Callable[..., object]:
    return lambda *_, **__: answer


def always_soon(answer: object) -> Callable[..., object]:
    """The same for what is awaited."""

    async def answers(*_: object, **__: object) -> object:
        return answer

    return answers
