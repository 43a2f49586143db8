"""What is written before an effect is still there after any crash, and one caller alone may cause the effect."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from audit.ledger import Ledger, NeverBegun
from audit.storage import StorageUnusable
from contracts.blobs import BlobRef
from contracts.ledger import Begun, CallChanged, Done, InDoubt

ARGS = "a" * 64
RESULT = BlobRef(sha256="1" * 64, size=1)
OTHER_RESULT = BlobRef(sha256="2" * 64, size=2)
PROJECT = Path(__file__).parents[2]


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    yield ledger
    await ledger.close()


async def test_a_new_call_begins_and_its_result_is_found_again(ledger: Ledger) -> None:
    began = await ledger.begin("t", "c", ARGS, "shell", "local")
    recorded = await ledger.finish("t", "c", RESULT)
    again = await ledger.begin("t", "c", ARGS, "shell", "local")

    assert began == Begun()
    assert recorded == RESULT
    assert again == Done(result_ref=RESULT)


async def test_a_call_without_an_end_is_in_doubt_and_names_its_host_and_time(ledger: Ledger) -> None:
    await ledger.begin("t", "c", ARGS, "shell", "first-host")

    again = await ledger.begin("t", "c", ARGS, "shell", "second-host")

    assert isinstance(again, InDoubt)
    assert again.host == "first-host"
    assert datetime.now(UTC) - again.started_at < timedelta(minutes=1)


async def test_the_first_result_stays(ledger: Ledger) -> None:
    await ledger.begin("t", "c", ARGS, "shell", "local")
    await ledger.finish("t", "c", RESULT)

    assert await ledger.finish("t", "c", OTHER_RESULT) == RESULT
    assert await ledger.begin("t", "c", ARGS, "shell", "local") == Done(result_ref=RESULT)


async def test_the_same_call_id_of_another_task_is_another_call(ledger: Ledger) -> None:
    await ledger.begin("t1", "c", ARGS, "shell", "local")

    assert await ledger.begin("t2", "c", ARGS, "shell", "local") == Begun()


@pytest.mark.parametrize(("args", "tool"), [("b" * 64, "shell"), (ARGS, "files")])
async def test_a_changed_call_is_refused(ledger: Ledger, args: str, tool: str) -> None:
    await ledger.begin("t", "c", ARGS, "shell", "local")

    with pytest.raises(CallChanged, match="t/c"):
        await ledger.begin("t", "c", args, tool, "local")


async def test_what_never_began_cannot_be_finished(ledger: Ledger) -> None:
    with pytest.raises(NeverBegun, match="t/c"):
        await ledger.finish("t", "c", RESULT)


async def test_of_many_at_once_one_begins(tmp_path: Path) -> None:
    ledgers = [await Ledger.open(tmp_path / "ledger.db") for _ in range(4)]

    answers = await asyncio.gather(
        *(ledger.begin("t", "c", ARGS, "shell", "local") for ledger in ledgers for _ in range(5))
    )

    assert sum(isinstance(answer, Begun) for answer in answers) == 1
    assert sum(isinstance(answer, InDoubt) for answer in answers) == 19
    for ledger in ledgers:
        await ledger.close()


_WRITER = """
import asyncio, sys
from pathlib import Path
from audit.ledger import Ledger
from contracts.ledger import Begun
from contracts.blobs import BlobRef

async def main(path, first, tell):
    ledger = await Ledger.open(Path(path))
    for number in range(first, 100_000):
        answer = await ledger.begin("t", str(number), "a" * 64, "shell", "local")
        if isinstance(answer, Begun):
            print("begun", number, flush=True)
            await ledger.finish("t", str(number), BlobRef(sha256=f"{number:064x}", size=number))
            print("done", number, flush=True)

asyncio.run(main(sys.argv[1], int(sys.argv[2]), print))
"""


def _writer(path: Path, first: int) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", _WRITER, str(path), str(first)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=PROJECT)


async def test_what_a_killed_process_had_said_is_on_record(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    for kill in range(3):
        with _writer(path, 0) as process:
            assert process.stdout is not None
            said = [process.stdout.readline().split() for _ in range(15 + kill)]
            process.send_signal(signal.SIGKILL)
            said += [line.split() for line in process.stdout.read().splitlines()]

        ledger = await Ledger.open(path)
        for word, number in said:
            answer = await ledger.begin("t", number, ARGS, "shell", "local")
            if word == "done":
                assert answer == Done(result_ref=BlobRef(sha256=f"{int(number):064x}", size=int(number)))
            assert not isinstance(answer, Begun)
        await ledger.close()


async def test_processes_share_the_calls_without_a_double(tmp_path: Path) -> None:
    with _writer(tmp_path / "ledger.db", 0) as one, _writer(tmp_path / "ledger.db", 0) as two:
        assert one.stdout is not None
        assert two.stdout is not None
        lines = [pipe.readline() for pipe in (one.stdout, two.stdout) for _ in range(40)]
        one.kill()
        two.kill()
        lines += [line for pipe in (one.stdout, two.stdout) for line in pipe.read().splitlines(keepends=True)]
        begun = [line for line in lines if "begun" in line]

    assert len(begun) >= 40
    assert len(begun) == len(set(begun))


async def test_a_cancelled_begin_leaves_doubt_and_not_a_lock(ledger: Ledger) -> None:
    begin = asyncio.create_task(ledger.begin("t", "c", ARGS, "shell", "local"))
    await asyncio.sleep(0)
    begin.cancel()
    with pytest.raises(asyncio.CancelledError):
        await begin

    assert isinstance(await ledger.begin("t", "c2", ARGS, "shell", "local"), Begun)


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be looked at" * 40])
async def test_a_damaged_file_is_named_and_nothing_begins(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ledger.db").write_bytes(content)

    with pytest.raises(StorageUnusable, match=r"ledger\.db"):
        await Ledger.open(tmp_path / "ledger.db")


async def test_the_file_is_for_its_owner_only(tmp_path: Path, ledger: Ledger) -> None:
    await ledger.begin("t", "c", ARGS, "shell", "local")

    modes = await asyncio.to_thread(lambda: {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()})
    assert modes == {0o600}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount") or "mount"
    made = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=192k", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if made.returncode:
        pytest.skip("mounting a small disk needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


async def test_on_a_full_disk_nothing_begins_and_what_is_written_stays(small_disk: Path) -> None:
    ledger = await Ledger.open(small_disk / "ledger.db")
    await ledger.begin("t", "first", ARGS, "shell", "local")
    (small_disk / "filler").write_bytes(b"x" * (os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize))

    answers = await asyncio.gather(
        *(ledger.begin("t", f"call-{n}", ARGS, "shell", "local") for n in range(500)), return_exceptions=True
    )

    refused = [answer for answer in answers if isinstance(answer, StorageUnusable)]
    assert refused
    assert "full" in str(refused[0])
    (small_disk / "filler").unlink()
    assert isinstance(await ledger.begin("t", "first", ARGS, "shell", "local"), InDoubt)
    assert isinstance(await ledger.begin("t", "later", ARGS, "shell", "local"), Begun)
    await ledger.close()


async def test_an_approval_is_used_once_for_each_call_it_covers(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    first = await ledger.use_approval("t1", "a1", "c1", "1" * 64)
    again = await ledger.use_approval("t1", "a1", "c1", "1" * 64)
    edited = await ledger.use_approval("t1", "a1", "c1", "2" * 64)
    beside = await ledger.use_approval("t1", "a1", "c2", "1" * 64)
    await ledger.close()

    assert (first, again, edited, beside) == (True, True, False, True)
