"""SSH over an engine's byte stream: forwards and terminals, for which it is opened when the first is asked for."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

import asyncssh

from contracts.sandbox import SandboxLost
from sandbox.driver import Attached
from sandbox.unframing import Unframing

USERNAME = "agent"
CONNECT_SECONDS = 40.0
KEEPALIVE_SECONDS = 15.0

LINK_ERRORS = (asyncssh.DisconnectError, asyncssh.ChannelOpenError, BrokenPipeError, ConnectionError)
"""What operations raise when the connection ends under them."""


class Connection:
    """An authenticated connection to one sandbox."""

    def __init__(self, ssh: asyncssh.SSHClientConnection) -> None:
        self.ssh = ssh

    @property
    def lost(self) -> bool:
        return self.ssh.is_closed()

    @asynccontextmanager
    async def forward(self, port: int) -> AsyncIterator[int]:
        """A loopback port of the host that leads to a loopback port of the sandbox."""
        listener = await self.ssh.forward_local_port("127.0.0.1", 0, "127.0.0.1", port)
        try:
            yield listener.get_port()
        finally:
            listener.close()
            await listener.wait_closed()

    def freeze(self) -> None:
        """From now on silence means nothing."""
        self.ssh.set_keepalive(0)

    def thaw(self) -> None:
        self.ssh.set_keepalive(KEEPALIVE_SECONDS)

    async def close(self) -> None:
        self.ssh.close()
        try:
            async with asyncio.timeout(2.0):
                await self.ssh.wait_closed()
        except TimeoutError:
            self.ssh.abort()
            await self.ssh.wait_closed()


async def connected(attached: Attached) -> Connection:
    """Log in with keys made for this connection alone. Raises: SandboxLost."""
    host_key, user_key = await asyncio.to_thread(_two_keys)
    tunnel = Tunnel(attached, host_key.export_private_key() + b"\n" + user_key.export_public_key())
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            return Connection(await _logged_in(tunnel, host_key, user_key))
    except (asyncssh.Error, OSError) as error:
        attached.socket.close()
        complaint = tunnel.unframing.complaint.decode("utf-8", "replace").strip()
        raise SandboxLost(f"no SSH connection: {error or type(error).__name__} {complaint}".strip()) from error


class Tunnel:
    """What asyncssh calls a tunnel: it asks for one connection and is given the engine's stream."""

    def __init__(self, attached: Attached, preface: bytes) -> None:
        self._attached = attached
        self._preface = preface
        self.unframing = Unframing(attached.framed)

    async def create_connection(
        self, session_factory: Callable[[], asyncio.Protocol], host: str, port: int
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        session = session_factory()
        transport, _ = await asyncio.get_running_loop().create_connection(
            lambda: _Passing(session, self._attached.received, self._preface, self.unframing),
            sock=self._attached.socket,
        )
        return transport, session


class _Passing(asyncio.Protocol):
    """Sends the preface, then passes everything on to the SSH connection, without the engine's headers."""

    def __init__(self, session: asyncio.Protocol, early: bytes, preface: bytes, unframing: Unframing) -> None:
        self._session = session
        self._early = early
        self._preface = preface
        self._unframing = unframing

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast(asyncio.Transport, transport).write(self._preface)
        self._session.connection_made(transport)
        if self._early:
            self.data_received(self._early)

    def data_received(self, data: bytes) -> None:
        for piece in self._unframing.feed(data):
            self._session.data_received(piece)

    def eof_received(self) -> bool | None:
        return self._session.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._session.connection_lost(exc)

    def pause_writing(self) -> None:
        self._session.pause_writing()

    def resume_writing(self) -> None:
        self._session.resume_writing()


def _two_keys() -> tuple[asyncssh.SSHKey, asyncssh.SSHKey]:
    return asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ssh-ed25519")


async def _logged_in(
    tunnel: Tunnel, host_key: asyncssh.SSHKey, user_key: asyncssh.SSHKey
) -> asyncssh.SSHClientConnection:
    return await asyncssh.connect(
        "sandbox",
        tunnel=tunnel,
        username=USERNAME,
        client_keys=[user_key],
        known_hosts=([host_key.convert_to_public()], [], []),
        preferred_auth="publickey",
        config=None,
        agent_path=None,
        agent_forwarding=False,
        kex_algs=["curve25519-sha256"],
        encryption_algs=["aes128-gcm@openssh.com"],
        compression_algs=["none"],
        keepalive_interval=KEEPALIVE_SECONDS,
        keepalive_count_max=4,
    )
