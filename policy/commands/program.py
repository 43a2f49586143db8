"""What a judge of a program looks like, and the ones that a specification alone makes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from policy.commands.call import Call
from policy.commands.options import Spec
from policy.commands.stream import OPAQUE, Stream
from policy.rules import Rule


@dataclass(frozen=True)
class Program:
    """One program; `speaks_of_itself` says that `--version` and `--help` alone are always harmless."""

    run: Callable[[Call], Stream]
    speaks_of_itself: bool = True


def judged(function: Callable[[Call], Stream | None], *, speaks_of_itself: bool = True) -> Program:
    """A judge of its own; no answer means that the output is not known."""
    return Program(lambda call: function(call) or OPAQUE, speaks_of_itself)


def specified(spec: Spec) -> Program:
    """A program whose flags and operands say everything."""

    def run(call: Call) -> Stream:
        call.judge(spec)
        return Stream(fetched=bool(call.stdin and call.stdin.fetched))

    return Program(run)


def refused(rule: Rule) -> Program:
    """Never, whatever its arguments."""
    return Program(lambda call: call.deny(rule), speaks_of_itself=False)


def asked(rule: Rule) -> Program:
    """Always a person's decision."""
    return Program(lambda call: call.ask(rule))


def table(names: str | Iterable[str], program: Program) -> Mapping[str, Program]:
    return dict.fromkeys(names.split() if isinstance(names, str) else names, program)
