"""The brake: asked before every effect, in microseconds, in every process."""

from contracts.kill import EffectKind, Kill, KillLevel
from runtime.killing.state import Stamp, State, StateFile, damaged

STOPS: dict[KillLevel, frozenset[EffectKind]] = {
    "task": frozenset({"model", "tool", "network", "sandbox", "task"}),
    # What a tool has left running in a sandbox must not reach anybody either.
    "tools": frozenset({"model", "tool", "network"}),
    "network": frozenset({"network"}),
    "all": frozenset({"model", "tool", "network", "sandbox", "task"}),
}
"""Which effects each level forbids; `task` those of its own task alone."""

_WEIGHT: dict[KillLevel, int] = {"all": 0, "tools": 1, "network": 2, "task": 3}


class FileBrake:
    """Satisfies Brake. Looks at the file each time, and reads it only if it has changed. Any thread may ask."""

    def __init__(self, file: StateFile) -> None:
        self._file = file
        self._seen: tuple[Stamp | None, State] | None = None
        self._newest = 0

    def halted(self, effect: EffectKind, task_id: str | None = None) -> Kill | None:
        for kill in self.kills():
            if effect in STOPS[kill.level] and (kill.level != "task" or kill.task_id == task_id):
                return kill
        return None

    def kills(self) -> tuple[Kill, ...]:
        """All that are in force, the strictest first."""
        try:
            stamp = self._file.stamp()
        except OSError as error:
            return damaged(error.strerror or type(error).__name__, "unreadable").kills
        seen = self._seen
        # Whether a missing file is a damage depends on its folder, so it is looked for each time.
        if seen is None or stamp is None or seen[0] != stamp:
            seen = self._seen = (stamp, self._read())
        return seen[1].kills

    def _read(self) -> State:
        state = self._file.read()
        kills = state.kills
        if 0 < state.written < self._newest:
            kills = (*kills, *damaged("an older copy was put in its place", f"older-{state.written}").kills)
        self._newest = max(self._newest, state.written)
        return state.model_copy(update={"kills": tuple(sorted(kills, key=lambda kill: _WEIGHT[kill.level]))})
