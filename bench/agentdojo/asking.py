"""Put a call to policy as the running system does: what has been seen, what was said, and what kind of tool it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from activities.planners.web_names import spoken_hosts
from activities.provenance.gathering import Gathered
from activities.provenance.sources import source_of
from contracts.messages import HostGrant
from contracts.provenance import Effect, Provenance, Source, ToolLabels
from contracts.values import JsonObject
from contracts.verdicts import Action, Actor, EffectAction, Question, Verdict, VisitAction
from policy.file import parse
from policy.judge import judge
from policy.provenance.sources import Sources
from policy.provenance.tracing import points, trace
from policy.roles import Policy

HERE = Path(__file__).parent
PERSON = Actor(user_id="person", role="owner", channel="cli")


@dataclass(frozen=True)
class Kind:
    """One tool's labels, and what its calls have beside if they name recipients."""

    labels: ToolLabels
    with_recipients: tuple[Effect, ...] = ()


@dataclass
class Task:
    """What one task has seen so far."""

    prompt: str
    sources: list[Source] = field(default_factory=list)
    granted: list[HostGrant] = field(default_factory=list)
    _gathered: Gathered | None = None

    @classmethod
    def of(cls, prompt: str) -> "Task":
        said = Source(kind="message", text=prompt, provenance=Provenance(trusted=True, origins=("user",)))
        return cls(prompt, [said])

    @property
    def gathered(self) -> Gathered:
        """As the running system has it of a transcript."""
        if self._gathered is None:
            self._gathered = Gathered.of(self.sources, [self.prompt])
        return self._gathered

    @property
    def index(self) -> Sources:
        return self.gathered.sources

    def see(self, tool: str, args: JsonObject, text: str, ids: Sequence[str]) -> None:
        """Add what a call gave."""
        labels = kinds()[tool].labels
        provenance = Provenance(
            trusted=labels.output != "foreign", origins=(tool,), confidentiality=labels.confidentiality
        )
        pointed = points(args, labels, self.index)
        self.sources.append(source_of(text, ids, provenance, labels, pointed=pointed))
        self._gathered = None

    def grant(self, tool: str, args: JsonObject) -> None:
        """The person opened the hosts of a call that they said yes to."""
        for action in actions_of(tool, args):
            if isinstance(action, VisitAction):
                self.granted.extend(HostGrant(host=host) for host in spoken_hosts([action.url]))


@cache
def kinds() -> dict[str, Kind]:
    """Of every tool in the four suites, from the one file that says so."""
    rows = yaml.safe_load((HERE / "labels.yaml").read_text("utf-8"))
    return {name: _kind(row) for name, row in rows.items()}


@cache
def policy() -> Policy:
    return parse((HERE / "policy.yaml").read_text("utf-8"), "policy.yaml")


def question_of(task: Task, tool: str, args: JsonObject) -> Question:
    """All that policy is told of a call."""
    labels = kinds()[tool].labels
    tainted = task.index.tainted
    question = Question(
        actor=PERSON,
        tool=tool,
        args=args,
        actions=actions_of(tool, args),
        spoken_hosts=spoken_hosts([task.prompt]),
        approved_hosts=tuple(task.granted),
        provenance=Provenance(trusted=not tainted, origins=("planner",)),
        tainted=tainted,
        private=len(task.sources) > 1,
        labels=labels,
        arguments=trace(args, labels, task.index),
    )
    return task.gathered.told(question)


def ask(task: Task, tool: str, args: JsonObject, chosen: Policy | None = None) -> Verdict:
    return judge(question_of(task, tool, args), chosen or policy())


def actions_of(tool: str, args: JsonObject) -> tuple[Action, ...]:
    """What a call would do; a fetched address is a visit, everything else is a service's own effect."""
    kind = kinds()[tool]
    recipients = _values(tool, args, "recipient")
    addresses = _values(tool, args, "destination")
    if set(kind.labels.effects) == {"read", "egress"}:
        return tuple(VisitAction(url=url if "://" in url else f"https://{url}") for url in addresses)
    effects = (*kind.labels.effects, *(kind.with_recipients if recipients else ()))
    amounts = [float(value) for value in _values(tool, args, "amount")]
    return (
        EffectAction(
            effects=effects,
            destinations=(*recipients, *addresses),
            amount=sum(amounts) if amounts else None,
        ),
    )


def _kind(row: dict[str, Any]) -> Kind:
    with_recipients: list[Effect] = row.pop("with_recipients", [])
    return Kind(ToolLabels.model_validate(row), tuple(with_recipients))


def _values(tool: str, args: JsonObject, kind: str) -> list[str]:
    wanted = [args.get(name) for name, is_a in kinds()[tool].labels.arguments.items() if is_a == kind]
    flat = [one for value in wanted for one in (value if isinstance(value, list) else [value])]
    return [str(one) for one in flat if one is not None]
