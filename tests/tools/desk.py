"""One task's transcript, and the two ways to a verdict on its calls."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from temporalio.testing import ActivityEnvironment

from activities.acting import ActingParts
from activities.catalogue import Catalogue
from activities.examining import Examiner
from activities.judging import Judging
from activities.parts import ToolParts
from activities.planners.past import Past
from activities.provenance.gathering import Gathering
from activities.tool import Tool, ToolContext
from activities.tools import browse, files, read, remember
from activities.tools.shell import Shell
from contracts.activities import JudgeRequest
from contracts.blobs import BlobRef
from contracts.language import Language
from contracts.messages import Attachment
from contracts.provenance import Provenance, ToolLabels, Traced
from contracts.tools import ToolCall, ToolResult, ToolSpec
from contracts.transcript import PlannerTurn, ToolTurn, Turn, UserTurn
from contracts.values import JsonObject
from contracts.verdicts import Action, Actor, Question, SendAction
from memory.contacts import Contacts
from memory.notes import Notes
from memory.transcript import Transcript
from tests.memory.sealed import Sealed
from tests.tools.acting_parts import NOW, ListedLedger, OneHost, Says, call
from tests.tools.conftest import MemoryBlobs

WEB = Provenance(trusted=False, origins=("web:https://a.example",), confidentiality="public")
OURS = Provenance(trusted=True, origins=("sandbox:command",), confidentiality="public")
ME = "telegram:7"


def said(text: str, *attachments: Attachment) -> UserTurn:
    return UserTurn(text=text, attachments=attachments, at=datetime(2026, 5, 1, tzinfo=UTC))


@dataclass
class Desk:
    """One task's transcript, and the two ways to a verdict on its calls."""

    blobs: MemoryBlobs
    contacts: Contacts
    policy: Says
    tools: tuple[Tool, ...]
    ref: BlobRef | None = None

    @property
    def examiner(self) -> Examiner:
        gathering = Gathering(Transcript(self.blobs), Past(self.blobs), self.contacts)
        return Examiner(Catalogue(self.tools), self.policy, self.blobs, now=lambda: NOW, gathering=gathering)

    async def reads(self, *turns: Turn) -> None:
        self.ref = await Transcript(self.blobs).append(self.ref, turns)

    async def gave(
        self, text: str, provenance: Provenance = WEB, tool: str = "read", data: JsonObject | None = None
    ) -> None:
        """A result that the planner has read."""
        made = ToolResult(
            call_id=f"r{len(self.blobs.stored)}", tool=tool, ok=True, headline="-", text=text, provenance=provenance,
            data=data or {},
        )  # fmt: skip
        ref = await self.blobs.put(made.model_dump_json().encode())
        await self.reads(ToolTurn(call_id=made.call_id, tool=tool, ok=True, headline="-", result_ref=ref))

    async def read_by(self, what: ToolCall, text: str) -> None:
        """What a call of the planner gave it to read."""
        made = ToolResult(
            call_id=what.call_id, tool=what.tool, ok=True, headline="-", text=text, provenance=WEB
        )  # fmt: skip
        ref = await self.blobs.put(made.model_dump_json().encode())
        turn = ToolTurn(call_id=what.call_id, tool=what.tool, ok=True, headline="-", result_ref=ref)
        await self.reads(PlannerTurn(step=1, calls=(what,)), turn)

    def request(self, what: ToolCall, *, user_id: str = ME) -> JudgeRequest:
        actor = Actor(user_id=user_id, role="owner", channel="telegram")
        return JudgeRequest(
            task_id="task1", actor=actor, call=what, tainted=True, private=True, transcript_ref=self.ref
        )

    async def asked(self, what: ToolCall, *, user_id: str = ME) -> Question:
        """The question that policy was put by the judge."""
        await ActivityEnvironment().run(Judging(self.examiner).judge, self.request(what, user_id=user_id))
        return self.policy.questions[-1]

    async def traced(self, what: ToolCall, name: str, *, user_id: str = ME) -> Traced:
        question = await self.asked(what, user_id=user_id)
        return next(each for each in question.arguments if each.name == name)


POST = ToolSpec(
    name="post",
    description="-",
    parameters={"type": "object", "properties": {"to": {"type": "string"}}},
    repeatable=True,
    needs_sandbox=False,
    labels=ToolLabels(effects=("send",), output="ours", arguments={"to": "recipient"}, ids=("id_",)),
)


@dataclass(frozen=True)
class Post:
    """Gives something to somebody, and says that it did."""

    spec: ToolSpec = POST

    def actions(self, args: JsonObject) -> tuple[Action, ...]:
        return (SendAction(recipient=str(args["to"]), what="it"),)

    def summary(self, args: JsonObject, language: Language) -> str:
        return "post"

    def preview(self, args: JsonObject) -> str:
        return "post"

    def timeout_seconds(self, args: JsonObject) -> float:
        return 10.0

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        return ToolResult(
            call_id=context.call_id,
            tool="post",
            ok=True,
            headline="sent",
            text="sent",
            provenance=Provenance(trusted=True),
        )


def desk_in(folder: Path, blobs: MemoryBlobs) -> Desk:
    notes = Notes(folder / "notes.db", Sealed(), lambda: NOW)
    parts = ToolParts(notes=notes)
    tools: tuple[Tool, ...] = (
        Shell(),
        Post(),
        *browse.tools(parts),
        *read.tools(parts),
        *files.tools(parts),
        *remember.tools(parts),
    )
    return Desk(blobs, Contacts(folder / "contacts.db", Sealed(), lambda: NOW), Says(), tools)


def visit(url: str) -> ToolCall:
    return call("read", {"url": url})


def parts_of(desk: Desk) -> ActingParts:
    return ActingParts(
        examiner=desk.examiner,
        blobs=desk.blobs,
        ledger=ListedLedger(),
        host=OneHost(None),
        host_id="local",
        redact=lambda text: text,
        now=lambda: NOW,
        contacts=desk.contacts,
    )
