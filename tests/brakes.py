"""A brake that a test pulls, for parts that are tested alone."""

from datetime import UTC, datetime

from contracts.kill import EffectKind, Kill

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)


def kill_of(task_id: str | None = None) -> Kill:
    return Kill(kill_id="k1", level="task" if task_id else "all", task_id=task_id, by="console:anna", at=AT)


class Pulled:
    """Forbids what the test has written into `forbidden`, and remembers what it was asked."""

    def __init__(self, *forbidden: EffectKind) -> None:
        self.forbidden = set(forbidden)
        self.asked: list[tuple[EffectKind, str | None]] = []

    def halted(self, effect: EffectKind, task_id: str | None = None) -> Kill | None:
        self.asked.append((effect, task_id))
        return kill_of() if effect in self.forbidden else None
