"""What the sandbox drivers lack, as checks: one driver that works is enough."""

from collections.abc import Sequence

from contracts.language import Language
from contracts.texts import runtime as texts
from runtime.doctor.check import Check

DOCKER_NEEDS = frozenset({"engine", "image"})
BUBBLEWRAP_NEEDS = frozenset({"bubblewrap", "namespaces"})


def sandbox_checks(gaps: Sequence[tuple[str, str]], language: Language) -> list[Check]:
    """From the gaps of `sandbox.doctor`, each the part that is missing and a text that says so with the remedy."""
    parts = {part for part, _ in gaps}
    works = not (parts & DOCKER_NEEDS and parts & BUBBLEWRAP_NEEDS)
    if not gaps:
        return [Check(name="sandbox", status="ok", detail=texts.SANDBOX_READY.say(language))]
    needed = DOCKER_NEEDS | BUBBLEWRAP_NEEDS
    return [
        Check(name=part, status="warn" if works or part not in needed else "missing", detail=text)
        for part, text in gaps
    ]
