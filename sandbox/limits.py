"""How much of the machine one sandbox may use."""

from dataclasses import dataclass

from contracts.sandbox import Limit

MEGABYTE = 1_048_576


@dataclass(frozen=True)
class Limits:
    """Bounds of one sandbox."""

    memory_mb: int = 2_048
    """Swap included."""
    cpus: float = 2.0
    processes: int = 1_024
    """Threads included."""
    output_mb: int = 64
    """How much of each output stream of one command is kept."""
    open_files: int = 65_536
    disk_mb: int = 10_240
    """Home and workspace together."""
    wall_seconds: float = 3_600.0
    """Longest time for one command, whatever time-out it asks for."""

    @property
    def disk_bytes(self) -> int:
        return self.disk_mb * MEGABYTE

    @property
    def output_bytes(self) -> int:
        return self.output_mb * MEGABYTE

    @property
    def memory_bytes(self) -> int:
        return self.memory_mb * MEGABYTE

    def amount(self, limit: Limit) -> float:
        """How much there is of one of them, in the unit that people are told."""
        amounts: dict[Limit, float] = {
            "memory": self.memory_mb,
            "disk": self.disk_mb,
            "processes": self.processes,
            "output": self.output_mb,
            "wall_time": self.wall_seconds,
            "open_files": self.open_files,
            "file_size": self.disk_mb,
        }
        return amounts[limit]
