"""Sandboxes as containers of a Docker engine, under any of its runtimes."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError, NotFound

from contracts.language import Language
from contracts.sandbox import SandboxLost, SandboxUnavailable
from contracts.texts import sandbox as texts
from sandbox import checkpoints
from sandbox.accounts import strain, used_bytes
from sandbox.driver import Attached, Found, Spec, Strain
from sandbox.engine import Engine
from sandbox.far_end import LOADER, agent_on_stdio
from sandbox.hardening import GVISOR, MOUNTS, host_config, volumes
from sandbox.hijack import attached_to
from sandbox.leftovers import Belonging, discard_from_engine, engine_belongings
from sandbox.snapshots.archive_tree import ArchiveTree
from sandbox.snapshots.folder_tree import FolderTree
from sandbox.snapshots.tree import Tree
from sandbox.volumes import Volumes, remove_volume

UID = 1000
USER = f"{UID}:{UID}"
FALLBACK_IMAGE = "base"
LABEL = "agent-sandbox-os"


class Driver:
    """One engine, and the runtime that sandboxes get unless they name one."""

    name = "docker"

    def __init__(
        self,
        *,
        docker_host: str = "",
        runtime: str = "auto",
        image: str = "browser",
        repository: str = "agent-sandbox-os",
        volume_driver: str = "",
        volume_options: Mapping[str, str] | None = None,
        language: Language = "en",
    ) -> None:
        self._volumes = Volumes(volume_driver, volume_options or {}, language)
        self._runtime = runtime
        self._image = image
        self._repository = repository
        self._language: Language = language
        self._engine = Engine(docker_host, language)

    async def resolve_image(self, image: str | None) -> str:
        wanted = [image] if image else [self._image, FALLBACK_IMAGE]
        for name in (f"{self._repository}/{folder}:latest" for folder in wanted):
            if await self._engine.ask(partial(_has_image, name)):
                return name
        raise SandboxUnavailable(texts.IMAGE_ABSENT.say(self._language, image=f"{self._repository}/{wanted[0]}"))

    async def create(self, spec: Spec) -> Found:
        return await self._engine.ask(partial(self._create, spec), image=spec.image)

    async def find(self, sandbox_id: str) -> Found | None:
        return await self._engine.ask(partial(_find, sandbox_id))

    async def owned(self, owner: str) -> Sequence[Found]:
        return await self._engine.ask(partial(_owned, owner))

    async def agent(self, sandbox_id: str) -> Attached:
        try:
            stream = await attached_to(self._engine.address, sandbox_id)
        except OSError as error:
            raise SandboxLost(f"the engine gives no way to the agent of {sandbox_id}: {error}") from error
        return replace(stream, preface=agent_on_stdio())

    async def pause(self, sandbox_id: str) -> None:
        await self._change(sandbox_id, True)

    async def resume(self, sandbox_id: str) -> None:
        await self._change(sandbox_id, False)

    async def trees(self, sandbox_id: str) -> Mapping[str, Tree]:
        return await self._trees(sandbox_id)

    async def disk_bytes(self, sandbox_id: str) -> int | None:
        try:
            return await self._engine.ask(partial(used_bytes, sandbox_id))
        except NotFound as error:
            raise SandboxLost(f"the container {sandbox_id} is gone") from error

    async def strain(self, sandbox_id: str) -> Strain:
        with suppress(NotFound, SandboxUnavailable):
            return await self._engine.ask(partial(strain, sandbox_id))
        return Strain()

    async def checkpoint(self, sandbox_id: str, into: Path) -> None:
        try:
            await self._engine.ask(partial(checkpoints.save, sandbox_id, into, self._engine.info, self._language))
        except NotFound as error:
            raise SandboxLost(f"the container {sandbox_id} is gone") from error

    async def ended(self, sandbox_id: str, seconds: float) -> bool:
        try:
            return await self._engine.ask(partial(checkpoints.let_end, sandbox_id, seconds))
        except NotFound as error:
            raise SandboxUnavailable(f"the container {sandbox_id} is gone") from error

    async def restart(
        self, spec: Spec, checkpoint: Path, fill: Callable[[Mapping[str, Tree]], Awaitable[None]]
    ) -> Found:
        found = await self.find(spec.sandbox_id)
        if found is not None and found.state != "dead":
            return found
        await self._engine.ask(partial(self._make, spec), image=spec.image)
        try:
            asking = partial(checkpoints.own_folder, spec.sandbox_id, self._engine.info, self._language)
            own = await self._engine.ask(asking)
            await fill(await self.trees(spec.sandbox_id))
            await self._engine.ask(partial(checkpoints.go_on, spec.sandbox_id, own, checkpoint, self._language))
        except BaseException:
            if found is None:
                await self.destroy(spec.sandbox_id)
            raise
        return await self._present(spec.sandbox_id)

    async def belongings(self, owner: str) -> Sequence[Belonging]:
        return await self._engine.ask(partial(engine_belongings, LABEL, owner))

    async def discard(self, belonging: Belonging) -> None:
        await self._engine.ask(partial(discard_from_engine, belonging))

    async def destroy(self, sandbox_id: str) -> None:
        await self._engine.ask(partial(_destroy, sandbox_id))

    async def close(self) -> None:
        await self._engine.close()

    async def _trees(self, sandbox_id: str) -> "Mapping[str, FolderTree | ArchiveTree]":
        try:
            return await self._engine.ask(partial(_lasting, self._engine, sandbox_id))
        except (NotFound, SandboxUnavailable) as error:
            raise SandboxLost(f"the volumes of {sandbox_id} cannot be had: {error}") from error

    async def _present(self, sandbox_id: str) -> Found:
        found = await self.find(sandbox_id)
        if found is None:
            raise SandboxUnavailable(texts.ENGINE_FAILED.say(self._language, cause="the container is gone already"))
        return found

    async def _change(self, sandbox_id: str, frozen: bool) -> None:
        try:
            await self._engine.ask(partial(_freeze if frozen else _thaw, sandbox_id))
        except NotFound as error:
            raise SandboxLost(f"the container {sandbox_id} is gone") from error

    def _create(self, spec: Spec, client: docker.APIClient) -> Found:
        runtime = self._make(spec, client)
        client.start(spec.sandbox_id)
        return _found(spec.sandbox_id, _labels(spec), "running", runtime)

    def _make(self, spec: Spec, client: docker.APIClient) -> str:
        """Gives the runtime that it has."""
        labels, runtime = _labels(spec), self._chosen_runtime(spec.runtime, client)
        for volume in volumes(spec.sandbox_id).values():
            self._volumes.make(volume, labels, client)
        try:
            client.create_container(
                spec.image,
                command=["/usr/bin/python3", "-I", "-S", "-c", LOADER],
                stdin_open=True,
                detach=True,  # else the engine closes the input for ever when the first who wrote to it leaves
                name=spec.sandbox_id,
                hostname="sandbox",
                user=USER,
                working_dir="/workspace",
                labels=labels,
                host_config=host_config(client, spec.sandbox_id, runtime, spec.limits),
            )
        except APIError as error:
            if error.status_code != 409:
                raise
            there = _find(spec.sandbox_id, client)
            return there.runtime if there is not None else runtime
        return runtime

    def _chosen_runtime(self, demanded: str, client: docker.APIClient) -> str:
        """gVisor where the engine knows it, unless another one is named. Raises: SandboxUnavailable."""
        known = sorted(self._engine.info(client).get("Runtimes") or {})
        wanted = demanded or self._runtime
        if wanted == "auto":
            return GVISOR if GVISOR in known else "runc"
        if wanted not in known:
            text = texts.RUNTIME_ABSENT.say(self._language, runtime=wanted, known=", ".join(known))
            raise SandboxUnavailable(text)
        return wanted


def _has_image(name: str, client: docker.APIClient) -> bool:
    return bool(client.images(name))


def _find(sandbox_id: str, client: docker.APIClient) -> Found | None:
    try:
        facts = client.inspect_container(sandbox_id)
    except NotFound:
        return None
    state = facts["State"]
    labels = facts["Config"]["Labels"]
    word = "paused" if state.get("Paused") else "running" if state.get("Running") else "dead"
    cause = "memory" if word == "dead" and state.get("OOMKilled") else ""
    return replace(_found(sandbox_id, labels, word, facts["HostConfig"].get("Runtime") or "runc"), cause=cause)


def _owned(owner: str, client: docker.APIClient) -> list[Found]:
    wanted = {"label": f"{LABEL}.owner={owner}"}
    found = {
        one.sandbox_id: one
        for container in client.containers(all=True, filters=wanted)
        if (one := _find(container["Names"][0].lstrip("/"), client)) is not None
    }
    for volume in client.volumes(filters=wanted)["Volumes"] or []:
        labels = volume["Labels"]
        found.setdefault(labels[f"{LABEL}.id"], _found(labels[f"{LABEL}.id"], labels, "dead", ""))
    return list(found.values())


def _freeze(sandbox_id: str, client: docker.APIClient) -> None:
    try:
        client.pause(sandbox_id)
    except APIError:
        _require(sandbox_id, "paused", client)


def _thaw(sandbox_id: str, client: docker.APIClient) -> None:
    try:
        client.unpause(sandbox_id)
    except APIError:
        _require(sandbox_id, "running", client)


def _require(sandbox_id: str, state: str, client: docker.APIClient) -> None:
    """The engine refused to change it: then it must be so already. Raises: SandboxLost, SandboxUnavailable."""
    found = _find(sandbox_id, client)
    if found is None or found.state == "dead":
        raise SandboxLost(f"the container {sandbox_id} is gone")
    if found.state != state:
        raise SandboxUnavailable(f"the engine leaves {sandbox_id} {found.state}")


def _destroy(sandbox_id: str, client: docker.APIClient) -> None:
    with suppress(APIError):  # it is not paused, or not there
        # What gVisor has frozen takes no signal, not even the last one.
        client.unpause(sandbox_id)
    try:
        client.remove_container(sandbox_id, force=True, v=True)
    except NotFound:
        pass
    except APIError as error:
        if error.status_code != 409:  # somebody else is removing it at this moment
            raise
    for volume in volumes(sandbox_id).values():
        remove_volume(volume, client)


def _lasting(engine: Engine, sandbox_id: str, client: docker.APIClient) -> "dict[str, FolderTree | ArchiveTree]":
    """Read in place where this process may; else through the engine, which does not say what changed."""
    found: dict[str, FolderTree | ArchiveTree] = {}
    for tree, volume in volumes(sandbox_id).items():
        place = Path(client.inspect_volume(volume)["Mountpoint"])
        # The name of the volume is this sandbox's own: a folder of that path here is no other machine's.
        if os.access(place, os.R_OK | os.W_OK | os.X_OK):
            found[tree] = FolderTree(place, uid=UID)
        else:
            found[tree] = ArchiveTree(engine, sandbox_id, volume, MOUNTS[tree], UID)
    return found


def _labels(spec: Spec) -> dict[str, str]:
    return {f"{LABEL}.id": spec.sandbox_id, f"{LABEL}.owner": spec.owner, f"{LABEL}.image": spec.image}


def _found(sandbox_id: str, labels: Mapping[str, str], state: Any, runtime: str) -> Found:
    return Found(
        sandbox_id=sandbox_id,
        owner=labels.get(f"{LABEL}.owner", ""),
        image=labels.get(f"{LABEL}.image", ""),
        runtime=runtime,
        state=state,
    )
