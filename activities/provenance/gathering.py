"""Gather, once for each state of a transcript, all that the arguments of a call can have come from.

The judge and the acting worker both ask for the same reference, and so get the same answer.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from activities.planners.past import Past
from activities.provenance.contacts import Approved, Contact, Contacts
from activities.provenance.sources import LabelsOf, is_whole, sources_in, words_in
from contracts.blobs import BlobRef
from contracts.provenance import Effect, Provenance, Source
from contracts.tools import ToolResult
from contracts.transcript import Turn
from contracts.verdicts import Question
from memory.recent import Recent
from memory.transcript import Transcript
from policy.detector import suspicion
from policy.provenance.sources import Sources
from policy.provenance.spoken import delegates, spoken_effects, spoken_recipients

KEPT = 32
"""So many states of transcripts are kept ready; a step asks for the same one with each of its calls, twice."""

SUSPICIONS_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Gathered:
    """What is known of a transcript."""

    sources: Sources
    whole: bool
    """False if the planner may have read what was not looked into."""
    spoken_effects: tuple[Effect, ...] = ()
    spoken_recipients: tuple[str, ...] = ()
    delegated: bool = False
    """True if the person told the agent to do what some text says."""
    suspicion: float = 0.0

    @classmethod
    def of(
        cls, sources: Iterable[Source], words: Sequence[str], *, whole: bool = True, suspicion: float = 0.0
    ) -> "Gathered":
        """`words` are what the person said themselves, one text a message."""
        ready = Sources(sources)
        return cls(
            sources=ready,
            whole=whole,
            spoken_effects=spoken_effects(words),
            spoken_recipients=spoken_recipients(ready),
            delegated=delegates(words),
            suspicion=suspicion,
        )

    def told(self, question: Question) -> Question:
        """The question with all that the person's own words say of it."""
        return question.model_copy(
            update={
                "spoken_effects": self.spoken_effects,
                "spoken_recipients": self.spoken_recipients,
                "delegated": self.delegated,
                "suspicion": self.suspicion,
            }
        )


@dataclass(frozen=True)
class _Key:
    ref: BlobRef
    user_id: str
    book: str


class Gathering:
    """Reads transcripts, results and the person's address book."""

    def __init__(
        self, transcript: Transcript, past: Past, contacts: Contacts | None = None, *, kept: int = KEPT
    ) -> None:
        self._transcript = transcript
        self._past = past
        self._contacts = contacts
        self._kept = kept
        self._ready: OrderedDict[_Key, Gathered] = OrderedDict()
        self._suspicions: Recent[float] = Recent(SUSPICIONS_BYTES)
        self._turn = asyncio.Lock()

    async def gathered(self, ref: BlobRef, user_id: str, labels_of: LabelsOf) -> Gathered:
        """Raises: BlobMissing, BlobDamaged."""
        book = "" if self._contacts is None else await self._contacts.of(user_id).mark()
        key = _Key(ref, user_id, book)
        known = self._known(key)
        if known is not None:
            return known
        async with self._turn:
            known = self._known(key)
            if known is None:
                known = self._ready[key] = await self._read(ref, user_id, labels_of)
            while len(self._ready) > self._kept:
                self._ready.popitem(last=False)
            return known

    def _known(self, key: _Key) -> Gathered | None:
        if key in self._ready:
            self._ready.move_to_end(key)
        return self._ready.get(key)

    async def _read(self, ref: BlobRef, user_id: str, labels_of: LabelsOf) -> Gathered:
        turns = await self._past.filled(await self._transcript.read(ref))
        results = await self._past.results(turns)
        book = await self._book(user_id)
        return await asyncio.to_thread(self._made, turns, results, book, labels_of)

    async def _book(self, user_id: str) -> tuple[Source, ...]:
        if self._contacts is None:
            return ()
        personal = self._contacts.of(user_id)
        contacts, approved = await personal.listed(), await personal.approved()
        return (*map(_of_contact, contacts), *map(_of_approved, approved))

    def _made(
        self, turns: Sequence[Turn], results: dict[str, ToolResult], book: Sequence[Source], labels_of: LabelsOf
    ) -> Gathered:
        sources = sources_in(turns, results, labels_of, book)
        foreign = (source.text for source in sources if not source.provenance.trusted)
        suspicion = max(map(self._suspicion, foreign), default=0.0)
        return Gathered.of(sources, words_in(turns), whole=is_whole(turns, results), suspicion=suspicion)

    def _suspicion(self, text: str) -> float:
        """What was looked at once is not looked at again with every step."""
        mark = _mark(text)
        known = self._suspicions.get(mark)
        if known is None:
            known = suspicion(text)
            self._suspicions.keep(mark, known)
        return known


def _mark(text: str) -> BlobRef:
    content = text.encode("utf-8", "surrogatepass")
    return BlobRef(sha256=hashlib.sha256(content).hexdigest(), size=len(content))


def _of_contact(contact: Contact) -> Source:
    provenance = Provenance(trusted=True, origins=("contacts",))
    text = f"{contact.name}\n{contact.address}"
    return Source(kind="contact", text=text, provenance=provenance)


def _of_approved(approved: Approved) -> Source:
    provenance = Provenance(trusted=True, origins=("approved",))
    return Source(kind="approved", text=approved.value, provenance=provenance)
