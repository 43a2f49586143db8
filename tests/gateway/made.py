"""Values that tests are made of."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from audit.standing import standing_in
from contracts.audit import NoRecord
from contracts.blobs import BlobMissing, BlobRef
from contracts.delivery import DeliverRequest
from contracts.kill import LiftOrder
from contracts.messages import Address, Attachment, HostGrant
from contracts.task import Approval, Asked, Phase, StepView, TaskRecord, TaskStatus
from contracts.verdicts import Reason
from gateway.channels.telegram import Telegram
from gateway.deciding import Deciding
from gateway.desk import Desk
from gateway.pace import Pace
from gateway.speaking import Speaker
from gateway.standing_rules import StandingDesk
from runtime.keys import Keyring
from runtime.killing.desk import KillDesk
from runtime.paths import DataPaths
from runtime.second_factor import SecondFactor
from tests.telegram_server.server import TelegramServer
from tests.telegram_server.state import TOKEN

TASK = "01JDZK5M3V8Q0R7X2C4B6N9P1S"
CHAT = 77
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class MemoryBlobs:
    """Satisfies Blobs."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    async def put(self, content: bytes) -> BlobRef:
        digest = sha256(content).hexdigest()
        self.kept[digest] = content
        return BlobRef(sha256=digest, size=len(content))

    async def get(self, ref: BlobRef) -> bytes:
        if ref.sha256 not in self.kept:
            raise BlobMissing(ref.sha256)
        return self.kept[ref.sha256]


def bot(server: TelegramServer, **options: object) -> Telegram:
    """The channel against the strict server, impatient."""
    given: dict[str, object] = {"read_timeout_seconds": 2.0, "long_poll_seconds": 1, "conflict_pause_seconds": 1.0}
    return Telegram(TOKEN, server.base_url, server.base_file_url, **(given | options))  # type: ignore[arg-type]  # of any type


def fast_pace() -> Pace:
    """A budget so wide that tests do not wait for it."""
    return Pace(chat_seconds=0.001, bot_seconds=0.001)


def address(chat_id: int = CHAT) -> Address:
    return Address(channel="telegram", chat_id=str(chat_id))


def status(sequence: int = 1, phase: Phase = Phase.ACTING, **changes: object) -> TaskStatus:
    given = TaskStatus(
        record=TaskRecord(task_id=TASK, created_at=NOW),
        goal="fetch the page",
        phase=phase,
        step=2,
        steps=(StepView(step=1, summary="open the page", state="done"),),
        sequence=sequence,
    )
    return given.model_copy(update=changes)


def ended(answer: str, sequence: int = 9, files: tuple[Attachment, ...] = ()) -> TaskStatus:
    return status(sequence, Phase.COMPLETED, answer=answer, outcome="done", files=files)


def request(shown: TaskStatus, *, final: bool = False, chat_id: int = CHAT) -> DeliverRequest:
    return DeliverRequest(address=address(chat_id), status=shown, final=final)


def approval(preview: str = "rm -rf build", args: str = "a") -> Approval:
    return Approval(
        approval_id="q7k2m",
        call_id="call1",
        tool="shell",
        args_sha256=sha256(args.encode()).hexdigest(),
        summary="delete the folder build",
        preview=preview,
        reasons=(Reason(rule="data_deletion", detail="build"),),
        effects=("delete",),
        risk=60,
        egress=(HostGrant(host="example.org"),),
        asked_at=NOW,
        expires_at=NOW + timedelta(hours=72),
    )


def deciding(desk: Desk, folder: Path) -> Deciding:
    """The one way of decisions, with the second factor of that folder."""
    return Deciding(desk, SecondFactor(DataPaths(folder), Keyring.load(folder)).confirm)


def standing_desk(folder: Path) -> StandingDesk:
    keyring = Keyring.load(folder)
    return StandingDesk(lambda: standing_in(DataPaths(folder).standing, keyring))


def asked(*choices: str) -> Asked:
    return Asked(question_id="w3x9z", question="Which *one*?", choices=choices)


def speaker(server: TelegramServer, outbox: object) -> Speaker:
    return Speaker(bot(server), outbox, fast_pace())  # type: ignore[arg-type]  # it has what a speaker needs


def known_chat(server: TelegramServer, chat_id: int = CHAT) -> None:
    """Telegram lets a bot write only to who has written to it."""
    server.state.messages[chat_id, 1] = {
        "message_id": 1,
        "date": 0,
        "chat": {"id": chat_id, "type": "private"},
        "from": {"id": chat_id, "is_bot": False, "first_name": "P"},
        "text": "hello",
    }


def kills_in(folder: Path) -> KillDesk:
    """The kill switch of an installation in this folder, which has no other machines."""
    paths, keyring = DataPaths(folder), Keyring.load(folder)

    async def nowhere(_order: LiftOrder) -> None:
        return None

    return KillDesk.of(paths, keyring, SecondFactor(paths, keyring), NoRecord(), nowhere)
