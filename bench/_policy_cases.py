"""What the bench of policy asks: the cases of the tests as they are, calls of a foreign service, and a long context."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

from contracts.provenance import Provenance, Source, ToolLabels, Traced
from contracts.usage import Habits, mark_of
from contracts.values import JsonObject
from contracts.verdicts import Action, Actor, CommandAction, EffectAction, FileAction, Question, VisitAction
from policy.provenance.sources import Sources
from policy.provenance.tracing import trace
from tests.policy.cases_file import rows

_TOOLS = 100
_RESULT_CHARACTERS = 16_000
_NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
_LABELS = ToolLabels(
    effects=("send",),
    arguments={"recipient": "recipient", "amount": "amount", "when": "time", "subject": "text", "body": "text"},
)
_HABITS = Habits(
    calls=5_000,
    hours=(200,) * 24,
    destinations=tuple(mark_of(f"person-{number}@example.com", "key") for number in range(500)),
    busiest_minute=20,
    key="key",
)


@dataclass(frozen=True)
class Case:
    """One question, and the text that its parser alone would get."""

    question: Question
    text: str = ""


Tracer = Callable[[Case], tuple[Traced, ...]]
"""Takes a case's arguments to their sources."""


@dataclass(frozen=True)
class Context:
    """What a planner has seen."""

    sources: tuple[Source, ...]

    def ready(self) -> Tracer:
        """As tracing wants it, for many questions."""
        known = Sources(self.sources)
        return lambda case: trace(case.question.args, case.question.labels, known)


def questions(kind: str) -> list[Case]:
    """The cases of one kind."""
    if kind == "command":
        scripts = [str(row["cmd"]) for name in ("commands.jsonl", "everyday.jsonl") for row in rows(name)]
        return [_case(CommandAction(script=script), script) for script in scripts]
    if kind == "address":
        urls = [str(row["url"]) for name in ("urls.jsonl", "addresses.jsonl") for row in rows(name)]
        return [_case(VisitAction(url=url), url) for url in urls]
    if kind == "file":
        paths = [f"src/part_{number}/../module.py" for number in range(200)]
        return [_case(FileAction(operation="write", path=path), path) for path in paths]
    return [_tool(number) for number in range(_TOOLS)]


def context_of(characters: int) -> Context:
    """A message of the person, and so much that strangers wrote, in results of the usual size."""
    words = Random(7)  # noqa: S311 - the same text in each run
    message = Source(
        kind="message",
        text="Send the numbers of May to person-7@example.com and pay 30 to the shop",
        provenance=Provenance(trusted=True, origins=("user",)),
    )
    results = [
        Source(
            kind="result",
            text=" ".join(f"{words.getrandbits(40):x} person-{words.randrange(900)}@example.com" for _ in range(500)),
            provenance=Provenance(trusted=False, origins=(f"web:https://site-{number}.example",)),
        )
        for number in range(characters // _RESULT_CHARACTERS)
    ]
    return Context((message, *results))


def _case(action: Action, text: str) -> Case:
    return Case(Question(actor=_actor(), tool="bench", args={}, actions=(action,), at=_NOON, habits=_HABITS), text)


def _tool(number: int) -> Case:
    recipient = f"person-{number}@example.com"
    args: JsonObject = {
        "recipient": recipient,
        "subject": f"The numbers of May, part {number}",
        "body": f"Dear person {number}, " + "here are the numbers that you wanted. " * 40,
        "when": "2026-05-02",
        "amount": 10.0 + number,
    }
    action = EffectAction(effects=("send", "money"), destinations=(recipient,), amount=10.0 + number, currency="EUR")
    return Case(
        Question(actor=_actor(), tool="mail", args=args, actions=(action,), labels=_LABELS, at=_NOON, habits=_HABITS)
    )


def _actor() -> Actor:
    return Actor(user_id="bench", role="owner", channel="cli")
