"""Home and workspace lie where the settings put them: encrypted at rest, or with a size of their own."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.sandbox import Command, LeaseRequest, SandboxUnavailable
from sandbox.choice import make_host
from sandbox.host import SandboxHost

pytestmark = pytest.mark.engine

TEXT = b"this is what nobody may read at rest"


@pytest.fixture
def encrypted(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A folder whose content lies encrypted in another one."""
    if shutil.which("gocryptfs") is None or not Path("/dev/fuse").exists():
        pytest.skip("gocryptfs is not here: `apt-get install gocryptfs`")
    cipher, plain = tmp_path / "cipher", tmp_path / "plain"
    cipher.mkdir()
    plain.mkdir()
    password = tmp_path / "password"
    password.write_text("only for this test", encoding="utf-8")
    gocryptfs = ["gocryptfs", "-q", "-passfile", str(password)]
    subprocess.run([*gocryptfs, "-scryptn", "10", "-init", str(cipher)], check=True)
    mounted = subprocess.run([*gocryptfs, "-allow_other", str(cipher), str(plain)], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode()}")
    (plain / "sandboxes").mkdir(mode=0o755)
    yield cipher, plain / "sandboxes"
    subprocess.run(["umount", str(plain)], check=True)


async def host_with(options: dict[str, str], state_dir: Path) -> SandboxHost:
    return await make_host(
        host_id="test",
        state_dir=state_dir,
        driver="docker",
        runtime="runc",
        image="base",
        memory_mb=256,
        volume_options=options,
        sweep_grace_seconds=0,
    )


def bound(folder: Path) -> dict[str, str]:
    return {"type": "none", "o": "bind", "device": f"{folder}/{{volume}}"}


async def test_what_a_sandbox_keeps_can_lie_encrypted(encrypted: tuple[Path, Path], tmp_path: Path) -> None:
    cipher, plain = encrypted
    host = await host_with(bound(plain), tmp_path / "state")
    try:
        sandbox = await host.open(await host.lease(LeaseRequest(task_id="t", user_id="u")))
        outcome = await sandbox.run(Command(script=f"echo '{TEXT.decode()}' | tee kept > ~/kept; cat kept"))

        assert outcome.stdout.head == TEXT + b"\n"
        assert sorted(path.name for path in plain.rglob("kept")) == ["kept", "kept"]
        at_rest = [path.read_bytes() for path in cipher.rglob("*") if path.is_file()]
        assert at_rest
        assert not any(TEXT in content for content in at_rest)
    finally:
        await host.sweep([])
        await host.close()
    assert list(plain.iterdir()) == []


async def test_a_volume_can_have_a_size_of_its_own(tmp_path: Path) -> None:
    options = {"type": "tmpfs", "device": "tmpfs", "o": "size=8m,uid=1000,gid=1000"}
    host = await host_with(options, tmp_path / "state")
    try:
        sandbox = await host.open(await host.lease(LeaseRequest(task_id="t", user_id="u")))
        outcome = await sandbox.run(Command(script="head -c 20000000 /dev/zero > large"))

        assert (outcome.limit, b"No space left" in outcome.stderr.head) == ("disk", True)
    finally:
        await host.sweep([])
        await host.close()


async def test_a_folder_that_is_not_mounted_or_would_be_shared_is_refused(tmp_path: Path) -> None:
    for options, words in (
        (bound(tmp_path / "absent"), "Mount the file system"),
        ({**bound(tmp_path), "device": str(tmp_path)}, "would share"),
    ):
        host = await host_with(options, tmp_path / "state")
        try:
            with pytest.raises(SandboxUnavailable, match=words):
                await host.lease(LeaseRequest(task_id="t", user_id="u"))
        finally:
            await host.sweep([])
            await host.close()
