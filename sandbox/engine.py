"""The engine's own client: where the engine is, and its blocking calls off the event loop with errors in our words."""

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import docker
from docker.constants import DEFAULT_DOCKER_API_VERSION
from docker.errors import APIError, DockerException, ImageNotFound, NotFound, create_api_error_from_http_exception
from docker.utils import kwargs_from_env
from requests import Response
from requests.exceptions import HTTPError, RequestException

from contracts.language import Language
from contracts.sandbox import SandboxUnavailable
from contracts.texts import sandbox as texts
from sandbox.hijack import knock

T = TypeVar("T")

USUAL_SOCKET = "/var/run/docker.sock"
OWN_SOCKET = "/run/asos-engine/docker.sock"
"""Where `deploy/setup/engine.sh` puts the engine that it starts on a machine without one."""

CALL_SECONDS = 60
"""After so long without a word from it, the engine counts as absent."""
AT_ONCE = 16
INFO_SECONDS = 60.0
LONG_SECONDS = 600
"""For calls that move the memory of a sandbox."""


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


def request(client: docker.APIClient, method: str, path: str, **options: Any) -> Response:
    """A call that the docker library has no method for; whoever asks for a stream closes the answer.

    Raises: APIError, RequestException.
    """
    address = f"{client.base_url}/v{client.api_version}{path}"
    answer = client.request(method, address, **{"timeout": LONG_SECONDS, **options})
    try:
        answer.raise_for_status()
    except HTTPError as error:
        with answer:
            create_api_error_from_http_exception(error)
    return answer


class Engine:
    """One engine. It has threads of its own: while it hangs, nothing else of this process waits for a thread."""

    def __init__(self, docker_host: str, language: Language) -> None:
        self.address = engine_address(docker_host)
        self._language: Language = language
        self._client: docker.APIClient | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._making = Lock()
        self._info: dict[str, Any] = {}
        self._info_until = 0.0

    async def ask(self, question: Callable[[docker.APIClient], T], *, image: str = "") -> T:
        """Run a blocking call of the engine's client. Raises: SandboxUnavailable, NotFound."""

        def act() -> T:
            knock(self.address)
            return question(self.client())

        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool(), act)
        except ImageNotFound as error:
            raise SandboxUnavailable(texts.IMAGE_ABSENT.say(self._language, image=image)) from error
        except NotFound:
            raise
        except APIError as error:
            cause = error.explanation or str(error)
            raise SandboxUnavailable(texts.ENGINE_FAILED.say(self._language, cause=cause)) from error
        except (DockerException, RequestException, OSError) as error:
            text = texts.ENGINE_ABSENT.say(self._language, address=self.address, cause=error)
            raise SandboxUnavailable(text) from error

    def client(self) -> docker.APIClient:
        """For code that already runs in a thread."""
        if self._client is not None:
            return self._client
        made = client_of(self.address)
        with self._making:
            if self._client is None:
                self._client = made
        if self._client is not made:
            made.close()
        return self._client

    def info(self, client: docker.APIClient) -> Mapping[str, Any]:
        """What the engine says of itself, as it was within the last minute: it starts programs to find that out."""
        if time.monotonic() > self._info_until:
            self._info = client.info()
            self._info_until = time.monotonic() + INFO_SECONDS
        return self._info

    async def close(self) -> None:
        if self._client is not None:
            await asyncio.to_thread(self._client.close)
            self._client = None
        if self._threads is not None:
            self._threads.shutdown(wait=False)
            self._threads = None

    def _pool(self) -> ThreadPoolExecutor:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="engine")
        return self._threads


def client_of(address: str, seconds: int = CALL_SECONDS) -> docker.APIClient:
    """For who closes it. It speaks the engine's version. Where the library asks for that itself, it leaves a socket
    open if nobody answers.

    Raises: APIError, RequestException.
    """
    first = docker.APIClient(base_url=address, version=DEFAULT_DOCKER_API_VERSION, timeout=seconds)
    with closing(first) as asking:
        version: str = asking.version(api_version=False)["ApiVersion"]
    return docker.APIClient(base_url=address, version=version, timeout=seconds, num_pools=AT_ONCE)
