"""What the sandbox drivers lack, as checks: one driver that works is enough."""

from collections.abc import Sequence
from typing import Literal

from contracts.language import Language
from contracts.texts import runtime as texts
from runtime.doctor.check import Check

DOCKER_NEEDS = frozenset({"engine", "image"})
BUBBLEWRAP_NEEDS = frozenset({"bubblewrap", "namespaces"})
BOUNDS = "bounds"
"""Not lacking, but less than an engine gives: it matters where there is none."""


def sandbox_checks(gaps: Sequence[tuple[str, str]], language: Language) -> list[Check]:
    """From the gaps of `sandbox.doctor`, each the part that is missing and a text that says so with the remedy."""
    parts = {part for part, _ in gaps}
    needs = {"docker": DOCKER_NEEDS, "bubblewrap": BUBBLEWRAP_NEEDS}
    working = [name for name, needed in needs.items() if not parts & needed]
    checks = [
        Check(
            name=part,
            status=_status(part, working),
            detail=text,
        )
        for part, text in gaps
    ]
    if working:
        drivers = ", ".join(working) if parts - {BOUNDS} else texts.DRIVERS_COMPLETE.say(language)
        checks.append(Check(name="sandbox", status="ok", detail=texts.SANDBOX_READY.say(language, drivers=drivers)))
    return checks


def _status(part: str, working: Sequence[str]) -> Literal["ok", "warn", "missing"]:
    if part == BOUNDS:
        return "ok" if "docker" in working else "warn"
    return "warn" if working or part not in DOCKER_NEEDS | BUBBLEWRAP_NEEDS else "missing"
