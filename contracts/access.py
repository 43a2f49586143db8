"""What a host and the owner's command line say to each other about the files and terminals of its sandboxes."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from contracts.sandbox import Artifact, FileEntry, HostedSandbox
from contracts.values import Value

MOST_COLUMNS = 10_000
SIZE_HEADER = "x-asos-size"
"""How large a file was when it was asked for; it may grow on the way."""
BY_HEADER = "x-asos-by"
"""Who asks, for the record; only the owner can ask at all."""
TAR = "application/x-tar"

OUTPUT, ERRORS = 1, 2
"""First byte of each binary frame that a host sends: the stream that the rest belongs to."""

ProblemCode = Literal[
    "bad_request", "unauthorised", "unknown_host", "no_sandbox", "old_lease", "refused", "lost", "unavailable"
]


class Problem(Value):
    """Why something was not done."""

    code: ProblemCode
    text: str
    """A sentence."""


class Stored(Value):
    """A file that was put, whole."""

    path: str
    bytes: int


class Resized(Value):
    """The person's terminal has another size."""

    kind: Literal["resized"] = "resized"
    columns: int = Field(ge=1, le=MOST_COLUMNS)
    rows: int = Field(ge=1, le=MOST_COLUMNS)


class InputEnded(Value):
    """Nothing more will be typed."""

    kind: Literal["input_ended"] = "input_ended"


class Exited(Value):
    """The program has ended, and all it wrote has been sent."""

    kind: Literal["exited"] = "exited"
    code: int


class Broken(Value):
    """It cannot be gone on with."""

    kind: Literal["broken"] = "broken"
    problem: Problem


FROM_PERSON: TypeAdapter[Resized | InputEnded] = TypeAdapter(
    Annotated[Resized | InputEnded, Field(discriminator="kind")]
)
FROM_HOST: TypeAdapter[Exited | Broken] = TypeAdapter(Annotated[Exited | Broken, Field(discriminator="kind")])

HOSTED: TypeAdapter[list[HostedSandbox]] = TypeAdapter(list[HostedSandbox])
ENTRIES: TypeAdapter[list[FileEntry]] = TypeAdapter(list[FileEntry])
ARTIFACTS: TypeAdapter[list[Artifact]] = TypeAdapter(list[Artifact])
