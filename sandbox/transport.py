"""SSH over an engine's byte stream: one connection for commands, files, forwards and the way out."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import asyncssh

from contracts.sandbox import SandboxLost
from sandbox.driver import Attached
from sandbox.tunnel import Tunnel

USERNAME = "agent"
PROXY_PORT = 3128
CONNECT_SECONDS = 40.0
LISTEN_SECONDS = 5.0
KEEPALIVE_SECONDS = 15.0

LINK_ERRORS = (
    asyncssh.DisconnectError,
    asyncssh.ChannelOpenError,
    asyncssh.SFTPConnectionLost,
    asyncssh.SFTPNoConnection,
    BrokenPipeError,
    ConnectionError,
)
"""What operations raise when the connection ends under them."""

Serve = Callable[["asyncssh.SSHReader[bytes]", "asyncssh.SSHWriter[bytes]"], Awaitable[None]]


class Connection:
    """An authenticated connection to one sandbox."""

    def __init__(self, ssh: asyncssh.SSHClientConnection, sftp: asyncssh.SFTPClient, owned: AsyncExitStack) -> None:
        self.ssh = ssh
        self.sftp = sftp
        self._owned = owned

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

    async def close(self) -> None:
        await self._owned.aclose()


async def connected(attached: Attached, serve: Serve) -> Connection:
    """Log in with keys made for this connection alone, and open the way out. Raises: SandboxLost."""
    host_key, user_key = await asyncio.to_thread(_two_keys)
    tunnel = Tunnel(attached, host_key.export_private_key() + b"\n" + user_key.export_public_key())
    async with AsyncExitStack() as owned:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                ssh = await _logged_in(tunnel, host_key, user_key)
                owned.push_async_callback(_end, ssh)
                sftp, _ = await asyncio.gather(ssh.start_sftp_client(), _way_out(ssh, serve))
        except (asyncssh.Error, OSError) as error:
            attached.socket.close()
            complaint = tunnel.complaint.decode("utf-8", "replace").strip()
            raise SandboxLost(f"no SSH connection: {error or type(error).__name__} {complaint}".strip()) from error
        return Connection(ssh, sftp, owned.pop_all())


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


async def _way_out(ssh: asyncssh.SSHClientConnection, serve: Serve) -> None:
    """Listen in the sandbox; an earlier sshd may need a moment to let go of the port."""
    async with asyncio.timeout(LISTEN_SECONDS):
        while True:
            try:
                await ssh.start_server(lambda _host, _port: serve, "127.0.0.1", PROXY_PORT, encoding=None)
            except asyncssh.ChannelListenError:
                await asyncio.sleep(0.1)
            else:
                return


async def _end(ssh: asyncssh.SSHClientConnection) -> None:
    ssh.close()
    try:
        async with asyncio.timeout(2.0):
            await ssh.wait_closed()
    except TimeoutError:
        ssh.abort()
        await ssh.wait_closed()
