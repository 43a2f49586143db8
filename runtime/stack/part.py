"""What the stack is made of, as plain data: it travels to the supervisor, and tests describe their own."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from contracts.values import Value

Port = Annotated[int, Field(ge=1, le=65_535)]


class HttpHealth(Value):
    """Healthy when a GET on loopback gives 200."""

    kind: Literal["http"] = "http"
    port: Port
    path: str = "/health"


class TemporalHealth(Value):
    """Healthy when the gRPC health service on loopback says that it serves."""

    kind: Literal["temporal"] = "temporal"
    port: Port


HealthCheck = Annotated[HttpHealth | TemporalHealth, Field(discriminator="kind")]


class Part(Value):
    """One process of the stack."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")
    argv: tuple[str, ...] = Field(min_length=1)
    health: HealthCheck
    ports: dict[str, Port] = Field(default_factory=dict)
    """The ports on loopback that it must get, by the setting that changes each."""
    sees_environment: bool = True
    """False for a program of others, which has no business with the variables that hold our secrets."""
    starts_within_seconds: float = Field(default=60.0, gt=0)
    stops_within_seconds: float = Field(default=20.0, gt=0)
    """How long it may take after SIGTERM until it is killed."""


class Stack(Value):
    """The parts in the order of their start; each is healthy before the next one starts."""

    data_dir: Path
    parts: tuple[Part, ...] = Field(min_length=1)
    ui_url: str = ""
    """Address of the Temporal UI, for people."""
    versions: dict[str, str] = Field(default_factory=dict)

    @property
    def stops_within_seconds(self) -> float:
        """How long an orderly stop may take in all."""
        return sum(part.stops_within_seconds for part in self.parts) + 10.0
