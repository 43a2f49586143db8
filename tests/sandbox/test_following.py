"""Where paths of a sandbox lead, on every engine."""

import asyncio
import hashlib

import pytest

from contracts.paths import Followed
from contracts.sandbox import Command, FileRefused
from sandbox.session import OpenSandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")


def told(found: list[Followed]) -> dict[str, str]:
    return {one.path: one.real for one in found}


async def test_links_are_followed_wherever_they_lead(box: OpenSandbox) -> None:
    await box.run(Command(script="mkdir -p f/sub; ln -sfn /etc f/out; ln -sfn out f/twice; ln -sfn loop f/loop"))

    found = told(
        list(
            await box.files.follow(
                ["/workspace/f/twice/passwd", "/workspace/f/out/../tmp", "/workspace/f/new", "/workspace/f/loop"]
            )
        )
    )

    assert found["/workspace/f/twice/passwd"] == "/etc/passwd"
    assert found["/workspace/f/out/../tmp"] == "/tmp"
    assert found["/workspace/f/new"] == "/workspace/f/new"
    assert found["/workspace/f/loop"].startswith("/workspace/f/")


async def test_of_the_names_that_fit_a_wildcard_the_links_are_given(box: OpenSandbox) -> None:
    await box.run(
        Command(
            script="mkdir -p g/a g/.h; touch g/x g/y 'g/*'; ln -sfn /etc g/l; ln -sfn /etc/hosts g/a/m; ln -sfn / g/.n"
        )
    )

    found = told(
        list(await box.files.follow(["/workspace/g/*", "/workspace/g/*/m", "/workspace/g/[*]", "/workspace/g/.*"]))
    )

    assert found == {
        "/workspace/g/l": "/etc",
        "/workspace/g/a/m": "/etc/hosts",
        "/workspace/g/*": "/workspace/g/*",
        "/workspace/g/.n": "/",
    }


async def test_contents_are_named_by_digest_and_nothing_is_waited_for(box: OpenSandbox) -> None:
    await box.run(Command(script="mkdir c; echo hi > c/x; mkfifo c/p; truncate -s 17M c/big; touch c/no; chmod 0 c/no"))

    async with asyncio.timeout(60):
        names = ("x", "p", "big", "no", "gone")
        found = await box.files.follow([*(f"/workspace/c/{name}" for name in names), "/dev/zero"], digests=True)

    assert [one.content for one in found] == [
        hashlib.sha256(b"hi\n").hexdigest(), "unreadable", "too_large", "unreadable", "absent", "unreadable",
    ]  # fmt: skip


async def test_what_cannot_be_looked_at_is_refused(box: OpenSandbox) -> None:
    await box.run(Command(script="mkdir m; cd m; seq 5100 | xargs -n 500 touch; ln -s . l"))

    with pytest.raises(FileRefused, match="more than"):
        await box.files.follow(["/workspace/m/*"], digests=True)

    assert told(list(await box.files.follow(["/workspace/m/*"]))) == {"/workspace/m/l": "/workspace/m"}
