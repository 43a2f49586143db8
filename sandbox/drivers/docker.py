"""Sandboxes as containers of a Docker engine, under any of its runtimes."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import docker
from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from docker.utils import kwargs_from_env
from requests.exceptions import RequestException

from contracts.language import Language
from contracts.sandbox import SandboxLost, SandboxUnavailable
from contracts.texts import sandbox as texts
from sandbox.driver import Attached, Found, Spec, Unsupported
from sandbox.far_end import far_end
from sandbox.hijack import hijacked, knock
from sandbox.limits import Limits

T = TypeVar("T")

USER = "1000:1000"
FALLBACK_IMAGE = "base"
LABEL = "agent-sandbox-os"
GVISOR = "runsc"
SCRATCH = "rw,nosuid,nodev,exec,mode=1777,size={megabytes}m"
RUN = "rw,nosuid,nodev,noexec,mode=0755,uid=1000,gid=1000,size=16m"


USUAL_SOCKET = "/var/run/docker.sock"
OWN_SOCKET = "/run/asos-engine/docker.sock"
"""Where `deploy/setup/engine.sh` puts the engine that it starts on a machine without one."""


def engine_address(docker_host: str) -> str:
    """The engine's address: the one given, else the docker library's own, else the one that our set-up starts."""
    found = docker_host or kwargs_from_env().get("base_url")
    if not found and not Path(USUAL_SOCKET).exists() and Path(OWN_SOCKET).exists():
        found = f"unix://{OWN_SOCKET}"
    return str(found or f"unix://{USUAL_SOCKET}")


async def runtimes(docker_host: str) -> tuple[str, ...]:
    """Names of the OCI runtimes that the engine knows. Raises: SandboxUnavailable."""
    address = engine_address(docker_host)

    def ask() -> tuple[str, ...]:
        knock(address)
        client = docker.APIClient(base_url=address, timeout=10)
        try:
            return tuple(sorted(client.info().get("Runtimes") or {}))
        finally:
            client.close()

    try:
        return await asyncio.to_thread(ask)
    except (DockerException, RequestException, OSError) as error:
        raise SandboxUnavailable(texts.ENGINE_ABSENT.say("en", address=address, cause=error)) from error


class Driver:
    """One engine, one runtime."""

    name = "docker"

    def __init__(
        self,
        *,
        docker_host: str = "",
        runtime: str = "auto",
        image: str = "browser",
        repository: str = "agent-sandbox-os",
        limits: Limits | None = None,
        language: Language = "en",
    ) -> None:
        self._runtime = runtime
        self._address = engine_address(docker_host)
        self._image = image
        self._repository = repository
        self._limits = limits or Limits()
        self._language: Language = language
        self._client: docker.APIClient | None = None

    async def resolve_image(self, image: str | None) -> str:
        wanted = [image] if image else [self._image, FALLBACK_IMAGE]
        for name in (f"{self._repository}/{folder}:latest" for folder in wanted):
            if await self._ask(partial(self._has_image, name)):
                return name
        raise SandboxUnavailable(texts.IMAGE_ABSENT.say(self._language, image=f"{self._repository}/{wanted[0]}"))

    async def create(self, spec: Spec) -> Found:
        await self._ask(partial(self._create, spec))
        found = await self.find(spec.sandbox_id)
        if found is None:
            raise SandboxUnavailable(texts.ENGINE_FAILED.say(self._language, cause="the container is gone already"))
        return found

    async def find(self, sandbox_id: str) -> Found | None:
        return await self._ask(partial(self._find, sandbox_id))

    async def owned(self, owner: str) -> Sequence[Found]:
        return await self._ask(partial(self._owned, owner))

    async def attach(self, sandbox_id: str) -> Attached:
        try:
            execution = await self._ask(partial(self._prepare_exec, sandbox_id))
            return await hijacked(self._address, execution)
        except (NotFound, SandboxUnavailable, OSError) as error:
            raise SandboxLost(f"the engine gives no way into {sandbox_id}: {error}") from error

    async def pause(self, sandbox_id: str) -> None:
        await self._change(sandbox_id, lambda client: client.pause(sandbox_id), "paused")

    async def resume(self, sandbox_id: str) -> None:
        await self._change(sandbox_id, lambda client: client.unpause(sandbox_id), "running")

    async def snapshot(self, sandbox_id: str) -> str:
        raise Unsupported(f"docker keeps no snapshot of {sandbox_id}: its state lies in volumes")

    async def restore(self, spec: Spec, snapshot: str) -> Found:
        raise Unsupported(f"docker has no snapshot {snapshot!r} to make {spec.sandbox_id} of")

    async def destroy(self, sandbox_id: str) -> None:
        await self._ask(partial(self._destroy, sandbox_id))

    async def close(self) -> None:
        if self._client is not None:
            await asyncio.to_thread(self._client.close)
            self._client = None

    async def _ask(self, question: Callable[[], T]) -> T:
        """Run a blocking call of the engine's client. Raises: SandboxUnavailable."""

        def act() -> T:
            knock(self._address)
            return question()

        try:
            return await asyncio.to_thread(act)
        except ImageNotFound as error:
            raise SandboxUnavailable(texts.IMAGE_ABSENT.say(self._language, image=self._image)) from error
        except NotFound:
            raise
        except APIError as error:
            cause = error.explanation or str(error)
            raise SandboxUnavailable(texts.ENGINE_FAILED.say(self._language, cause=cause)) from error
        except (DockerException, RequestException, OSError) as error:
            text = texts.ENGINE_ABSENT.say(self._language, address=self._address, cause=error)
            raise SandboxUnavailable(text) from error

    async def _change(self, sandbox_id: str, act: Callable[[docker.APIClient], None], state: str) -> None:
        found = await self.find(sandbox_id)
        if found is None or found.state == "dead":
            raise SandboxLost(f"the container {sandbox_id} is gone")
        if found.state != state:
            await self._ask(lambda: act(self._engine()))

    def _engine(self) -> docker.APIClient:
        if self._client is None:
            self._client = docker.APIClient(base_url=self._address, version="auto", timeout=60, num_pools=16)
        return self._client

    def _has_image(self, name: str) -> bool:
        return bool(self._engine().images(name))

    def _create(self, spec: Spec) -> None:
        client, labels, runtime = self._engine(), _labels(spec), self._chosen_runtime()
        for volume in _volumes(spec.sandbox_id):
            client.create_volume(volume, labels=labels)
        try:
            client.create_container(
                spec.image,
                command=["sleep", "infinity"],
                name=spec.sandbox_id,
                hostname="sandbox",
                user=USER,
                working_dir="/workspace",
                labels=labels,
                host_config=client.create_host_config(**self._hardening(spec.sandbox_id, runtime)),
            )
        except APIError as error:
            if error.status_code != 409:
                raise
        client.start(spec.sandbox_id)

    def _chosen_runtime(self) -> str:
        """gVisor where the engine knows it, unless another one is named. Raises: SandboxUnavailable."""
        known = sorted(self._engine().info().get("Runtimes") or {})
        if self._runtime == "auto":
            return GVISOR if GVISOR in known else "runc"
        if self._runtime not in known:
            text = texts.RUNTIME_ABSENT.say(self._language, runtime=self._runtime, known=", ".join(known))
            raise SandboxUnavailable(text)
        return self._runtime

    def _hardening(self, sandbox_id: str, runtime: str) -> dict[str, Any]:
        limits = self._limits
        home, workspace = _volumes(sandbox_id)
        ulimits = [docker.types.Ulimit(name="core", soft=0, hard=0)]
        if runtime == GVISOR:
            # A pids cgroup also counts gVisor's own threads and crashes it.
            ulimits.append(docker.types.Ulimit(name="nproc", soft=limits.processes, hard=limits.processes))
        return {
            "runtime": runtime,
            "network_mode": "none",
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges", f"seccomp={_seccomp_profile()}"],
            "read_only": True,
            "tmpfs": {"/tmp": SCRATCH.format(megabytes=limits.memory_mb // 2), "/run": RUN},  # noqa: S108  the container's own
            "binds": {home: {"bind": "/home/agent", "mode": "rw"}, workspace: {"bind": "/workspace", "mode": "rw"}},
            "mem_limit": limits.memory_bytes,
            "memswap_limit": limits.memory_bytes,
            "nano_cpus": int(limits.cpus * 1_000_000_000),
            "pids_limit": None if runtime == GVISOR else limits.processes,
            "ulimits": ulimits,
            "shm_size": limits.memory_bytes // 4,
            "ipc_mode": "private",
            "init": True,
            "log_config": docker.types.LogConfig(type="none"),
            "restart_policy": {"Name": "no"},
        }

    def _find(self, sandbox_id: str) -> Found | None:
        try:
            facts = self._engine().inspect_container(sandbox_id)
        except NotFound:
            return None
        state = facts["State"]
        labels = facts["Config"]["Labels"]
        word = "paused" if state.get("Paused") else "running" if state.get("Running") else "dead"
        return _found(sandbox_id, labels, word, facts["HostConfig"].get("Runtime") or "runc")

    def _owned(self, owner: str) -> list[Found]:
        client, wanted = self._engine(), {"label": f"{LABEL}.owner={owner}"}
        found = {
            one.sandbox_id: one
            for container in client.containers(all=True, filters=wanted)
            if (one := self._find(container["Names"][0].lstrip("/"))) is not None
        }
        for volume in client.volumes(filters=wanted)["Volumes"] or []:
            labels = volume["Labels"]
            found.setdefault(labels[f"{LABEL}.id"], _found(labels[f"{LABEL}.id"], labels, "dead", ""))
        return list(found.values())

    def _prepare_exec(self, sandbox_id: str) -> str:
        command = ["/bin/sh", "-c", far_end("bootstrap.sh")]
        execution: Mapping[str, str] = self._engine().exec_create(sandbox_id, command, stdin=True, user=USER)
        return execution["Id"]

    def _destroy(self, sandbox_id: str) -> None:
        client = self._engine()
        try:
            client.remove_container(sandbox_id, force=True, v=True)
        except NotFound:
            pass
        except APIError as error:
            if error.status_code != 409:  # somebody else is removing it at this moment
                raise
        for volume in _volumes(sandbox_id):
            try:
                client.remove_volume(volume, force=True)
            except NotFound:
                continue


def _volumes(sandbox_id: str) -> tuple[str, str]:
    return f"{sandbox_id}-home", f"{sandbox_id}-workspace"


def _labels(spec: Spec) -> dict[str, str]:
    return {
        f"{LABEL}.id": spec.sandbox_id,
        f"{LABEL}.owner": spec.owner,
        f"{LABEL}.task": spec.task_id,
        f"{LABEL}.epoch": str(spec.epoch),
        f"{LABEL}.image": spec.image,
    }


def _found(sandbox_id: str, labels: Mapping[str, str], state: Any, runtime: str) -> Found:
    return Found(
        sandbox_id=sandbox_id,
        owner=labels.get(f"{LABEL}.owner", ""),
        task_id=labels.get(f"{LABEL}.task", ""),
        epoch=int(labels.get(f"{LABEL}.epoch", "0")),
        image=labels.get(f"{LABEL}.image", ""),
        runtime=runtime,
        state=state,
    )


def _seccomp_profile() -> str:
    return files("sandbox.drivers").joinpath("seccomp.json").read_text(encoding="utf-8")
