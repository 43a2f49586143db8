"""The parts that tests of tools share."""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from activities.tool import Tool, ToolContext
from contracts.blobs import BlobMissing, BlobRef
from contracts.language import Language
from contracts.messages import Attachment, HostGrant
from contracts.provenance import Provenance
from contracts.sandbox import Lease
from contracts.tools import ToolResult
from contracts.values import JsonObject
from policy.roles import BrowserRules
from tests.tools.local_sandbox import LocalSandbox
from tests.tools.proxy import Proxy
from tests.tools.site import Site

LEASE = Lease(
    sandbox_id="sb1",
    task_id="task1",
    host_id="local",
    task_queue="q",
    epoch=1,
    driver="local",
    runtime="bwrap",
    image="-",
)


class MemoryBlobs:
    """A content-addressed store for as long as a test lives."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}

    async def put(self, content: bytes) -> BlobRef:
        digest = hashlib.sha256(content).hexdigest()
        self.stored[digest] = content
        return BlobRef(sha256=digest, size=len(content))

    async def get(self, ref: BlobRef) -> bytes:
        if ref.sha256 not in self.stored:
            raise BlobMissing(ref.sha256)
        return self.stored[ref.sha256]

    async def content(self, file: Attachment) -> bytes:
        assert file.blob is not None
        return await self.get(file.blob)


@dataclass
class Bench:
    """One sandbox, and a way to run a tool in it."""

    sandbox: LocalSandbox
    blobs: MemoryBlobs
    beats: list[str]
    language: Language = "en"
    tainted: bool = False
    egress: tuple[HostGrant, ...] = ()
    browser: BrowserRules = field(default_factory=BrowserRules)

    async def run(self, tool: Tool, args: JsonObject, call_id: str = "call1") -> ToolResult:
        context = ToolContext(
            task_id="task1",
            call_id=call_id,
            user_id="telegram:7",
            language=self.language,
            blobs=self.blobs,
            beat=self.beats.append,
            open_sandbox=self.sandbox,
            egress=self.egress,
            tainted=self.tainted,
            given=Provenance(trusted=not self.tainted, origins=("user",)),
            browser=self.browser,
        )
        return await tool.run(args, context)


@pytest.fixture
def blobs() -> MemoryBlobs:
    return MemoryBlobs()


@pytest.fixture
async def sandbox(tmp_path: Path) -> AsyncIterator[LocalSandbox]:
    made = LocalSandbox(tmp_path / "sandbox", LEASE)
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
def bench(sandbox: LocalSandbox, blobs: MemoryBlobs) -> Bench:
    return Bench(sandbox, blobs, [])


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with Site(tmp_path).serving() as served:
        yield served


@pytest.fixture
async def proxy(site: Site) -> AsyncIterator[tuple[Proxy, str]]:
    permitted = {"site.test"}
    served = Proxy(permitted.__contains__, site.http_port, site.tls_port)
    async with served.serving() as address:
        yield served, address
