"""What a tool is, what it is asked, and what it gives back."""

import hashlib
import json
from typing import Annotated, Literal

from pydantic import Field

from contracts.blobs import BlobRef, Sha256
from contracts.messages import Attachment
from contracts.provenance import Provenance, ToolLabels
from contracts.values import JsonObject, Value

RESULT_TEXT_BYTES = 32_768
"""The most that a planner is shown of one result; the whole is kept as a file."""

HEADLINE_CHARACTERS = 200

INLINE_ARGS_BYTES = 8_192


class ToolSpec(Value):
    """What a planner needs to know of a tool: JSON schema in, and whether a repeated call does the same once more."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,47}$")
    description: str
    parameters: JsonObject
    """A JSON Schema object (draft 2020-12) for the arguments."""
    repeatable: bool
    """True if running it twice has no more effect than running it once."""
    needs_sandbox: bool
    labels: ToolLabels = ToolLabels()
    """What kind of tool it is, for policy."""


class ToolCall(Value):
    """One call as the planner made it; `call_id` is new for every planning, so a replanned step is a new call."""

    call_id: str
    tool: str
    args: JsonObject | None
    args_ref: BlobRef | None = None
    """Holds the arguments as JSON where they are longer than INLINE_ARGS_BYTES; then `args` is None."""
    args_sha256: Sha256
    summary: str
    """One line for the person: what this call does."""
    after: tuple[str, ...] = ()
    """Ids of calls of the same answer that must have succeeded before this one."""
    label: str = ""
    """The planner's own name for the call, such as the step of a playbook or a provider's call id."""
    own_words: bool | None = None
    """True if rules made it of the person's own words, and nothing foreign stands where it could steer the call.
    None leaves it to the task: what a model writes after reading foreign content may be steered by that."""


class ToolResult(Value):
    """All that a call gave; stored as a blob and never put into history whole."""

    call_id: str
    tool: str
    ok: bool
    headline: Annotated[str, Field(max_length=HEADLINE_CHARACTERS)]
    text: str
    data: JsonObject = Field(default_factory=dict)
    """The same facts for programs, such as `exit_code`, `title`, `path`; playbooks refer to them."""
    files: tuple[Attachment, ...] = ()
    """Kept files, such as a screenshot or the whole of a long output."""
    send: tuple[Attachment, ...] = ()
    """Files for the person, delivered with the answer."""
    provenance: Provenance
    error: str | None = None
    """A short code such as `timed_out`, `not_found`, `denied`, where `ok` is False."""


ToolError = Literal[
    "bad_arguments",
    "denied",
    "failed",
    "not_found",
    "refused",
    "sandbox_lost",
    "timed_out",
    "uncertain",
    "unknown_tool",
    "unavailable",
    "over_limit",
    "halted",
    "changed",
]


def canonical_json(args: JsonObject) -> str:
    """The one spelling of the arguments that digests are taken of (sorted keys, no blanks, UTF-8 as it is)."""
    return json.dumps(args, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def args_digest(tool: str, args: JsonObject) -> str:
    """SHA-256 in hex over the tool's name and its canonical arguments: what an approval is bound to."""
    return hashlib.sha256(f"{tool}\n{canonical_json(args)}".encode("utf-8", "surrogatepass")).hexdigest()
