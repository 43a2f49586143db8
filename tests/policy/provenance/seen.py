"""Contexts for the tests: what a person said, and what a planner has read."""

from contracts.provenance import ArgumentKind, How, Provenance, Source, ToolLabels, Traced
from contracts.values import JsonObject
from policy.provenance.sources import Sources
from policy.provenance.tracing import trace

STRANGER = Provenance(trusted=False, origins=("web:https://evil.test",))
PERSON = Provenance(trusted=True, origins=("user",))
OWN = Provenance(trusted=True, origins=("contacts",))


def said(text: str) -> Source:
    return Source(kind="message", text=text, provenance=PERSON)


def read(text: str, *ids: str, pointed: bool = False) -> Source:
    """What a stranger may have written."""
    return Source(kind="result", text=text, provenance=STRANGER, ids=ids, pointed=pointed)


def contacts(text: str) -> Source:
    return Source(kind="contact", text=text, provenance=OWN)


def approved(text: str) -> Source:
    return Source(kind="approved", text=text, provenance=PERSON)


def traced(kind: ArgumentKind, value: str | float | bool, *sources: Source) -> Traced:
    """One argument against a context."""
    args: JsonObject = {"value": value}
    return trace(args, ToolLabels(arguments={"value": kind}), Sources(sources))[0]


def how(kind: ArgumentKind, value: str | float | bool, *sources: Source) -> How:
    return traced(kind, value, *sources).how
