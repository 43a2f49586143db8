"""Each bound of a sandbox holds, and says its name, on every engine."""

import asyncio
import resource
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from contracts.sandbox import Captured, Command, CommandOutcome, FileRefused, LeaseRequest, Limit, SandboxLost
from sandbox import quota
from sandbox.driver import Strain
from sandbox.host import SandboxHost
from sandbox.limits import Limits
from sandbox.quota import Facts, explain
from sandbox.session import OpenSandbox
from tests.sandbox.engines import Engine

pytestmark = pytest.mark.asyncio(loop_scope="module")

OPEN_FILES = min(65_536, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
DISK_MB = 48
FILL = "import itertools\nfor n in itertools.count(): open(f'part{n % 2}-{n}', 'wb').write(b'x' * 8_000_000)"
HOLD = """
import os, time
for n in range(12):
    file = open('hidden', 'wb')
    file.write(b'x' * 8_000_000)
    file.flush()
    os.dup(file.fileno())
    os.unlink('hidden')
time.sleep(60)
"""
THREADS = """
import threading, time
threading.stack_size(65_536)
while True:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
"""


@pytest.fixture(scope="module", autouse=True)
def hurry() -> Iterator[None]:
    """Look more often, so that the suite stays short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quota, "WATCH_SECONDS", 0.3)
        yield


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def tight(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SandboxHost]:
    made = await engine.host(tmp_path_factory.mktemp("tight"), disk_mb=DISK_MB)
    yield made
    await made.sweep([])
    await made.close()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def small(tight: SandboxHost) -> OpenSandbox:
    return await tight.open(await tight.lease(LeaseRequest(task_id="small", user_id="u")))


def python(text: str) -> Command:
    return Command(argv=("python3", "-c", text))


async def test_a_disk_that_is_full_ends_the_command_and_takes_no_more_until_there_is_room(small: OpenSandbox) -> None:
    # when: one command fills it
    filling = await small.run(python(FILL))

    # then: it is ended, and says for what
    assert (filling.limit, filling.limit_amount, filling.exit_code) == ("disk", DISK_MB, None), filling
    # and: whoever comes after it can read and delete, but not write
    writing = await small.run(Command(script="cat part0-0 | head -c 2; echo more > more"))
    assert (writing.limit, writing.stdout.head) == ("disk", b"xx"), writing
    with pytest.raises(FileRefused, match=f"{DISK_MB} MB"):
        await small.files.write("more", b"more")
    # and: with room again all is as before
    assert (await small.run(Command(script="rm part*"))).exit_code == 0
    assert (await small.run(Command(script="echo more > more; cat more"))).stdout.head == b"more\n"
    await small.files.write("more", b"much more")


async def test_a_file_without_a_name_counts_too(small: OpenSandbox) -> None:
    holding = await small.run(python(HOLD))

    assert holding.limit == "disk", holding


async def test_what_a_command_left_running_is_ended_too(small: OpenSandbox) -> None:
    await small.run(
        Command(script=f"cat > fill.py <<'E'\n{FILL}\nE\nnohup python3 fill.py >/dev/null 2>&1 & sleep 0.3")
    )

    async with asyncio.timeout(60):
        while (await small.run(Command(script="sleep 0.5; pgrep -f [f]ill.py"))).exit_code != 1:
            pass

    assert (await small.run(Command(script="rm -f part*"))).exit_code == 0


@pytest.mark.parametrize(
    ("limits", "amount", "text"),
    [
        # One file may fill the whole quota: whether the kernel or the watch comes first is chance.
        (("file_size", "disk"), DISK_MB, "open('one', 'wb').write(b'x' * 60_000_000)"),
        (
            ("open_files",),
            min(65_536, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),
            "import os\nwhile True: os.dup(0)",
        ),
        (("processes",), 200, THREADS),
    ],
)
async def test_a_bound_that_a_command_meets_is_named(
    small: OpenSandbox, limits: tuple[Limit, ...], amount: int, text: str
) -> None:
    outcome = await small.run(python(text))

    assert outcome.exit_code != 0
    assert outcome.limit in limits, outcome
    assert outcome.limit_amount == amount
    await small.run(Command(script="rm -f one"))


async def test_a_want_of_memory_is_named_even_where_the_sandbox_dies_of_it(
    tight: SandboxHost, small: OpenSandbox
) -> None:
    """Last in this file: gVisor's own kernel is what the machine ends."""
    bomb = "held = []\nwhile True: held.append(bytearray(32_000_000))"

    if small.lease.runtime == "runsc":
        with pytest.raises(SandboxLost, match="512 MB of memory"):
            await small.run(python(bomb))
        with pytest.raises(SandboxLost, match="512 MB of memory"):
            await tight.open(small.lease)
    else:
        outcome = await small.run(python(bomb))
        assert (outcome.limit, outcome.limit_amount) == ("memory", 512), outcome
        assert (await small.run(Command(script="echo there"))).stdout.head == b"there\n"


LIMITS = Limits(memory_mb=100, disk_mb=10)


@pytest.mark.parametrize(
    ("outcome", "facts", "limit"),
    [
        (CommandOutcome(exit_code=0), Facts(LIMITS, Strain(0, 0), Strain(1, 1)), None),
        (CommandOutcome(exit_code=137), Facts(LIMITS, Strain(0, 0), Strain(1, 0)), "memory"),
        (CommandOutcome(exit_code=137), Facts(LIMITS, Strain(1, 0), Strain(1, 0)), None),
        (CommandOutcome(exit_code=1), Facts(LIMITS, Strain(), Strain()), None),
        (CommandOutcome(exit_code=1), Facts(LIMITS, Strain(0, 0), Strain(0, 9)), "processes"),
        (CommandOutcome(exit_code=None, signal="XFSZ"), Facts(LIMITS), "file_size"),
        (CommandOutcome(exit_code=153), Facts(LIMITS, writes_refused=True), "disk"),
        (CommandOutcome(exit_code=None, signal="KILL"), Facts(LIMITS, over_disk=True), "disk"),
        (CommandOutcome(exit_code=0, limit="output"), Facts(LIMITS), "output"),
        (CommandOutcome(exit_code=1, stderr=Captured(head=b"MemoryError\n")), Facts(LIMITS), "memory"),
        (CommandOutcome(exit_code=0, stderr=Captured(head=b"MemoryError\n")), Facts(LIMITS), None),
        (
            CommandOutcome(exit_code=1, stderr=Captured(tail=b"EMFILE: too many open files")),
            Facts(LIMITS),
            "open_files",
        ),
        (CommandOutcome(exit_code=1, stderr=Captured(tail=b"x: No space left on device")), Facts(LIMITS), "disk"),
    ],
)
async def test_a_bound_is_told_from_what_is_known(outcome: CommandOutcome, facts: Facts, limit: Limit | None) -> None:
    await asyncio.sleep(0)

    explained = explain(outcome, facts)

    assert explained.limit == limit
    assert explained.limit_amount == (LIMITS.amount(limit) if limit else None)
