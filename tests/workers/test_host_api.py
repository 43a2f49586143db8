"""The owner's way to the files and terminals of a host: over real HTTP, to a real sandbox."""

import asyncio
import hashlib
import io
import json
import resource
import secrets
import tarfile
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

import httpx
import pytest

from contracts.access import ERRORS, OUTPUT
from contracts.sandbox import Command, FileRefused
from gateway.host_client import HostClient, HostRefused, Shell
from tests.workers.conftest import MAX_BYTES, TOKEN, Served

pytestmark = pytest.mark.asyncio(loop_scope="module")

MEGABYTE = 1_048_576


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def content(client: HostClient, served: Served, path: str) -> bytes:
    async with client.get(served.lease, path) as download:
        return b"".join([piece async for piece in download.pieces])


async def transcript(shell: Shell) -> tuple[bytes, bytes, int]:
    """Output, errors and exit code of the rest of a program."""
    said = {OUTPUT: b"", ERRORS: b""}
    async with asyncio.timeout(30):
        while not isinstance(piece := await shell.read(), int):
            said[piece[0]] += piece[1]
    return said[OUTPUT], said[ERRORS], piece


async def test_fifty_megabytes_go_there_and_back_without_being_held_in_memory(served: Served) -> None:
    part, count = secrets.token_bytes(MEGABYTE), 50
    digest = hashlib.sha256(part * count).hexdigest()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    stored = await served.client.put(served.lease, "big.bin", pieces(*[part] * count), count * MEGABYTE)
    got = hashlib.sha256()
    async with served.client.get(served.lease, "big.bin") as download:
        async for piece in download.pieces:
            got.update(piece)

    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1_024
    assert stored.bytes == download.size == count * MEGABYTE
    assert got.hexdigest() == digest
    assert grown < 40, "client, server and the link together"


async def test_what_a_task_made_is_listed_with_its_digest(served: Served) -> None:
    await served.box.files.write("made/report.md", b"all is well")

    made = {each.path: each for each in await served.client.artifacts(served.lease)}
    names = [each.name for each in await served.client.names(served.lease, "made")]

    assert made["made/report.md"].sha256 == hashlib.sha256(b"all is well").hexdigest()
    assert names == ["report.md"]


@pytest.mark.parametrize("path", ["/etc/passwd", "../../etc/passwd", "out/passwd", "/proc/self/environ", "fifo"])
async def test_no_path_leads_out_of_the_workspace(served: Served, path: str) -> None:
    await served.box.run(Command(script="ln -sfn /etc out; [ -p fifo ] || mkfifo fifo"))

    with pytest.raises(HostRefused) as got:
        await content(served.client, served, path)
    with pytest.raises(HostRefused) as put:
        await served.client.put(served.lease, path, pieces(b"x"), None)

    assert (got.value.problem.code, put.value.problem.code) == ("refused", "refused")


@pytest.mark.parametrize("told", [True, False])
async def test_a_file_that_is_too_large_is_refused_and_leaves_nothing(served: Served, told: bool) -> None:
    size = MAX_BYTES + MEGABYTE
    parts = (bytes(MEGABYTE) for _ in range(size // MEGABYTE))

    async def endless() -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    with pytest.raises(HostRefused, match=str(MAX_BYTES)) as refused:
        await served.client.put(served.lease, "huge/one", endless(), size if told else None)

    assert refused.value.problem.code == "refused"
    with pytest.raises(FileRefused):
        await served.box.files.read("huge/one", max_bytes=1)


async def test_an_upload_that_breaks_off_leaves_nothing(served: Served) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield bytes(MEGABYTE)
        raise OSError("the disk of the sender")

    with pytest.raises(OSError, match="sender"):
        await served.client.put(served.lease, "half/one", broken(), None)

    leftovers = 'for i in $(seq 50); do [ -z "$(ls -A half 2>/dev/null)" ] && exit 0; sleep 0.1; done; exit 1'
    assert (await served.box.run(Command(script=leftovers))).exit_code == 0


async def test_a_folder_comes_as_a_tar_without_what_could_lead_out(served: Served) -> None:
    await served.box.run(
        Command(
            script="mkdir -p tree/deep/er tree/empty; printf one >tree/a; printf 'zwei' >'tree/deep/er/ü b'; "
            "head -c 70000 /dev/zero >tree/deep/zeros; ln -s /etc/passwd tree/link; mkfifo tree/pipe"
        )
    )

    async with served.client.get(served.lease, "tree") as download:
        packed = b"".join([piece async for piece in download.pieces])

    assert download.is_folder
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        members = {member.name: tar.extractfile(member) for member in tar if member.isfile()}
        contents = {name: file.read() for name, file in members.items() if file is not None}
    left_out = contents.pop("tree/left-out.txt").decode()
    assert contents == {"tree/a": b"one", "tree/deep/er/ü b": b"zwei", "tree/deep/zeros": bytes(70_000)}
    assert "tree/link" in left_out
    assert "tree/pipe" in left_out


async def test_what_is_missing_is_named(served: Served) -> None:
    with pytest.raises(HostRefused, match="no-such-file"):
        await content(served.client, served, "no-such-file")


async def test_without_the_token_nothing_is_told(served: Served) -> None:
    async with served.another("guessed") as stranger:
        for asked in (stranger.hosted(), stranger.names(served.lease, "."), content(stranger, served, "a")):
            with pytest.raises(HostRefused) as refused:
                await asked
            assert refused.value.problem.code == "unauthorised"
        with pytest.raises(HostRefused) as refused:
            async with stranger.shell(served.lease, 80, 24, ()):
                pass
        assert refused.value.problem.code == "unauthorised"


async def test_an_older_lease_is_refused_everywhere(served: Served) -> None:
    old = served.lease.model_copy(update={"epoch": served.lease.epoch - 1})
    client = served.client

    asked = (
        client.names(old, "."),
        client.artifacts(old),
        client.put(old, "a", pieces(b"x"), 1),
        entered(client.get(old, "a")),
        entered(client.shell(old, 80, 24, ())),
    )

    for each in asked:
        with pytest.raises(HostRefused) as refused:
            await each
        assert refused.value.problem.code == "old_lease"


async def test_a_sandbox_of_another_name_is_not_there(served: Served) -> None:
    with pytest.raises(HostRefused) as refused:
        await served.client.names(served.lease.model_copy(update={"sandbox_id": "asos-another"}), ".")

    assert refused.value.problem.code == "no_sandbox"


async def test_a_page_that_points_its_name_at_this_host_is_turned_away(served: Served) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "rebound.example:80", "Origin": "http://rebound.example"}
    async with httpx.AsyncClient() as browser:
        named = await browser.get(f"{served.url}/sandboxes", headers=headers)
        asked = await browser.options(f"{served.url}/sandboxes", headers={**headers, "Host": "localhost"})

    assert (named.status_code, named.json()["code"]) == (421, "unknown_host")
    assert not [name for name in asked.headers if name.startswith("access-control")]


async def test_the_health_needs_no_token_and_bad_questions_get_a_sentence(served: Served) -> None:
    sandbox = f"{served.url}/sandboxes/{served.lease.sandbox_id}"
    async with (
        httpx.AsyncClient() as stranger,
        httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as owner,
    ):
        health = await stranger.get(f"{served.url}/health")
        nothing = await owner.get(f"{served.url}/nothing")
        without = await owner.get(f"{sandbox}/files")
        endless = await owner.get(f"{sandbox}/list?epoch=9{'9' * 40}")

    assert (health.status_code, health.json()["healthy"]) == (200, True)
    assert nothing.status_code == 404
    assert "path" in without.json()["text"]
    assert endless.status_code in (400, 409)


async def test_a_terminal_takes_keys_and_sizes_and_tells_the_exit_code(served: Served) -> None:
    async with served.client.shell(served.lease, 91, 31, ()) as shell:
        await shell.write(b"stty size; echo rea''dy\r")
        first = await until(shell, b"ready\r\n")
        await shell.resize(132, 43)
        await shell.write(b"stty size; echo do''ne\r")
        second = await until(shell, b"done\r\n")
        await shell.write(b"exit 7\r")
        _, _, code = await transcript(shell)

    assert b"31 91\r\n" in first
    assert b"43 132\r\n" in second
    assert code == 7


async def test_a_command_behind_pipes_keeps_its_streams_apart(served: Served) -> None:
    sent = secrets.token_bytes(2 * MEGABYTE)
    async with served.client.shell(served.lease, 0, 0, ("sh", "-c", "cat; echo bad >&2; exit 5")) as shell:
        typing = asyncio.create_task(typed(shell, sent))
        output, errors, code = await transcript(shell)
        await typing

    assert output == sent
    assert (errors, code) == (b"bad\n", 5)


async def test_a_program_ends_when_its_person_leaves(served: Served) -> None:
    name = f"1{secrets.randbelow(10**8):08}"

    async with served.client.shell(served.lease, 0, 0, ("sh", "-c", f"echo ready; exec sleep {name}")) as shell:
        await until(shell, b"ready")

    script = f"for i in $(seq 100); do pgrep -fx 'sleep {name}' >/dev/null || exit 0; sleep 0.1; done; exit 1"
    assert (await served.box.run(Command(script=script))).exit_code == 0


async def test_every_access_leaves_a_line_with_who_and_what(served: Served) -> None:
    await served.client.put(served.lease, "traced", pieces(b"x"), 1)
    await content(served.client, served, "traced")
    async with served.client.shell(served.lease, 0, 0, ("true",)) as shell:
        await transcript(shell)

    lines = (await served.log.of_task("task-of-files"))[-3:]

    assert [line.kind for line in lines] == ["file_put", "file_get", "shell_open"]
    assert {line.actor for line in lines} == {"console:me"}
    said = [json.loads(served.words.unseal(line.words)) for line in lines]
    assert said[0]["path"] == "traced"
    assert said[2]["command"] == ["true"]
    assert "traced" not in str(lines), "what a person does there is nobody else's business"


async def until(shell: Shell, text: bytes) -> bytes:
    got = b""
    async with asyncio.timeout(30):
        while text not in got and not isinstance(piece := await shell.read(), int):
            got += piece[1]
    return got


async def typed(shell: Shell, data: bytes) -> None:
    for start in range(0, len(data), 65_536):
        await shell.write(data[start : start + 65_536])
    await shell.end_input()


async def entered(asked: AbstractAsyncContextManager[object]) -> None:
    async with asked:
        pass
