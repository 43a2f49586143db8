"""Saves the memory of a container's processes into a folder, and lets containers go on from such a folder.

The engine takes the images through a store of its own, which costs two seconds for 100 MB, each way. So where this
process is root on the engine's machine, gVisor writes straight into the folder, and the engine is given links to the
files instead of the files. Everywhere else the engine does it all.
"""

import os
import tarfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import docker
from docker.errors import APIError, NotFound

from contracts.language import Language
from contracts.sandbox import SandboxBusy, SandboxLost, SandboxUnavailable, SnapshotFailed, SnapshotUnusable
from contracts.texts import checkpoints as texts
from sandbox.carrying import bring, fetch
from sandbox.driver import Unsupported
from sandbox.engine import Engine, request
from sandbox.hardening import GVISOR
from sandbox.sentry import NotWritten, Sentry, sentry

NAME = "asos"
"""Of a checkpoint while the engine has it."""
STREAM_SECONDS = 5.0
"""How long a closed stream's far end may take to end."""
END_SECONDS = 30
AGAIN_SECONDS = 10.0
SPARE_BYTES = 67_108_864
LONGEST_CAUSE = 500

Info = Callable[[docker.APIClient], Mapping[str, Any]]
"""Gives what the engine says of itself."""


async def process_snapshots(docker_host: str, language: Language = "en") -> str | None:
    """Why this engine keeps no processes, with the remedy; None if it does."""
    engine = Engine(docker_host, language)
    try:
        return await engine.ask(lambda client: obstacle(client.info(), GVISOR, language))
    except SandboxUnavailable as error:
        return str(error)
    finally:
        await engine.close()


def obstacle(info: Mapping[str, Any], runtime: str, language: Language) -> str | None:
    """Why an engine that tells this of itself keeps no processes under that runtime; None if it does."""
    known = (info.get("Runtimes") or {}).get(runtime)
    if known is None or not (runtime == GVISOR or PurePosixPath(known.get("path") or "").name == GVISOR):
        return texts.RUNTIME_KEEPS_NONE.say(language, runtime=runtime)
    if not info.get("ExperimentalBuild"):
        return texts.ENGINE_KEEPS_NONE.say(language)
    if "--network=host" in (known.get("runtimeArgs") or []):
        return texts.NETWORK_KEEPS_NONE.say(language)
    return None


def save(sandbox_id: str, into: Path, info: Info, language: Language, client: docker.APIClient) -> None:
    """Write the memory of a running or paused container into an empty folder. It ends by that, which `let_end` awaits.

    Raises: Unsupported, SandboxBusy and SnapshotFailed, after which it is as it was; SandboxLost, APIError.
    """
    facts = _living(sandbox_id, client)
    own = own_folder(sandbox_id, info, language, client)
    was_paused = facts["State"]["Paused"]
    try:
        _let_streams_end(sandbox_id, language, client)
        _pause(sandbox_id, True, client)
        near = sentry(facts["Id"], facts["State"]["Pid"])
        if near is not None:
            _refuse(near, sandbox_id, into, language)
    except (SandboxBusy, SnapshotFailed):
        _pause(sandbox_id, was_paused, client)
        raise
    try:
        if near is not None:
            near.save(into)
        else:
            request(client, "POST", f"/containers/{sandbox_id}/checkpoints", json={"CheckpointID": NAME, "Exit": True})
    except (NotWritten, APIError) as error:
        _tell_failure(sandbox_id, was_paused, error, language, client)
    if near is None:
        let_end(sandbox_id, END_SECONDS, client)
        _fetch(facts, own, into, language, client)


def own_folder(sandbox_id: str, info: Info, language: Language, client: docker.APIClient) -> Path:
    """Where an engine that keeps processes has what is this container's own. Raises: Unsupported."""
    facts, told = client.inspect_container(sandbox_id), info(client)
    reason = obstacle(told, facts["HostConfig"]["Runtime"], language)
    if reason is not None:
        raise Unsupported(reason)
    return Path(told["DockerRootDir"], "containers", facts["Id"])


def go_on(sandbox_id: str, own: Path, checkpoint: Path, language: Language, client: docker.APIClient) -> None:
    """Start a container that does not run, with the processes of a checkpoint. Raises: SnapshotUnusable."""
    facts = client.inspect_container(sandbox_id)
    # The engine refuses two checkpoints of the same content at one time: what is its container's own makes it differ.
    files: dict[str, Path | bytes] = {"container": facts["Id"].encode("ascii")}
    try:
        files.update((file.name, file.absolute()) for file in sorted(checkpoint.iterdir()) if file.is_file())
        _forget(sandbox_id, client)
        if os.geteuid() == 0 and (own / "config.v2.json").is_file():
            _link(own / "checkpoints" / NAME, files)
        else:
            bring(facts, str(own / "checkpoints"), NAME, files, client)
        _start(sandbox_id, client)
    except (APIError, OSError) as error:
        raise SnapshotUnusable(texts.NOT_BROUGHT_BACK.say(language, sandbox=sandbox_id, cause=_cause(error))) from error
    finally:
        _forget(sandbox_id, client)


def _living(sandbox_id: str, client: docker.APIClient) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = client.inspect_container(sandbox_id)
    except NotFound as error:
        raise SandboxLost(f"there is no container {sandbox_id}") from error
    if not facts["State"]["Running"]:
        raise SandboxLost(f"the container {sandbox_id} does not run")
    return facts


def _let_streams_end(sandbox_id: str, language: Language, client: docker.APIClient) -> None:
    """A process that the engine let in from outside could not be brought back; it takes a moment to see its end."""
    deadline = time.monotonic() + STREAM_SECONDS
    while streams := _living(sandbox_id, client)["ExecIDs"]:
        if time.monotonic() > deadline:
            raise SandboxBusy(texts.STREAMS_OPEN.say(language, sandbox=sandbox_id, count=len(streams)))
        _pause(sandbox_id, False, client)
        time.sleep(0.02)


def _pause(sandbox_id: str, wanted: bool, client: docker.APIClient) -> None:
    if _living(sandbox_id, client)["State"]["Paused"] != wanted:
        (client.pause if wanted else client.unpause)(sandbox_id)


def _refuse(near: Sentry, sandbox_id: str, into: Path, language: Language) -> None:
    """gVisor ends a sandbox that it fails to write, so what can be foreseen is looked for before."""
    if (path := near.deleted()) is not None:
        raise SandboxBusy(texts.DELETED_OPEN.say(language, sandbox=sandbox_id, path=path))
    state = os.statvfs(into)
    free, needed = state.f_bavail * state.f_frsize, near.memory_bytes() + SPARE_BYTES
    if free < needed:
        text = texts.NO_ROOM.say(
            language, sandbox=sandbox_id, folder=into, megabytes=needed // 1_048_576, free=free // 1_048_576
        )
        raise SnapshotFailed(text)


def _tell_failure(
    sandbox_id: str, was_paused: bool, error: Exception, language: Language, client: docker.APIClient
) -> None:
    """Raises: SnapshotFailed if the sandbox lives on, else SandboxLost."""
    text = texts.NOT_SAVED.say(language, sandbox=sandbox_id, cause=_cause(error))
    if let_end(sandbox_id, STREAM_SECONDS, client):
        raise SandboxLost(text) from error
    _pause(sandbox_id, was_paused, client)
    raise SnapshotFailed(text) from error


def let_end(sandbox_id: str, seconds: float, client: docker.APIClient) -> bool:
    """See the container end, which it cannot while it is frozen; gives whether it did. Raises: NotFound, APIError."""
    deadline = time.monotonic() + seconds
    with suppress(APIError):
        client.unpause(sandbox_id)
    while client.inspect_container(sandbox_id)["State"]["Running"]:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _fetch(facts: Mapping[str, Any], own: Path, into: Path, language: Language, client: docker.APIClient) -> None:
    try:
        fetch(facts, str(own / "checkpoints"), NAME, into, client)
    except (APIError, OSError, tarfile.TarError) as error:
        raise SandboxLost(texts.NOT_SAVED.say(language, sandbox=facts["Id"], cause=_cause(error))) from error
    finally:
        _forget(facts["Id"], client)


def _link(folder: Path, files: Mapping[str, Path | bytes]) -> None:
    folder.mkdir(mode=0o700, parents=True)
    for name, content in files.items():
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            (folder / name).symlink_to(content)


def _start(sandbox_id: str, client: docker.APIClient) -> None:
    """The engine may still hold an earlier checkpoint of the same content for a moment."""
    deadline = time.monotonic() + AGAIN_SECONDS
    while True:
        try:
            request(client, "POST", f"/containers/{sandbox_id}/start", params={"checkpoint": NAME})
        except APIError as error:
            if "already exists" not in (error.explanation or "") or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


def _forget(container: str, client: docker.APIClient) -> None:
    with suppress(APIError):
        request(client, "DELETE", f"/containers/{container}/checkpoints/{NAME}")


def _cause(error: Exception) -> str:
    """gVisor says what is wrong before it prints its whole state."""
    text = (error.explanation if isinstance(error, APIError) else None) or str(error)
    return text.strip().partition("\n")[0][:LONGEST_CAUSE]
