"""What the tests of checkpoints save and bring back: a program with memory, a clock, a socket and an open file."""

import asyncio
import json
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import docker

from sandbox.driver import Spec
from sandbox.drivers.docker import LABEL, Driver
from sandbox.engine import request
from sandbox.hardening import host_config
from sandbox.snapshots.tree import Tree

FOLDERS = ("/home/agent", "/workspace")
PORT = 8123

PROGRAM = f"""
import hashlib, json, os, socket, subprocess, sys, threading, time
heap = os.urandom(int(sys.argv[1]) * 1048576)
log, scratch = open("/workspace/log", "a+"), open("/tmp/scratch", "w+")
count, began = 0, time.monotonic()
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
with socket.create_server(("127.0.0.1", 0)) as once:
    near, far = socket.create_connection(once.getsockname()), once.accept()[0]
def counting():
    global count
    while True:
        count += 1
        time.sleep(0.01)
def told(word):
    for file in (log, scratch):
        file.write(word + "\\n"); file.flush(); file.seek(0)
    near.sendall(b"through a connection ")
    child.stdin.write(far.recv(100) + b"and a child")
    digest = hashlib.sha256(heap).hexdigest()
    return json.dumps({{"count": count, "heap": digest, "log": log.read(), "scratch": scratch.read(),
                        "came": child.stdout.read(100).decode(), "ran": time.monotonic() - began, "now": time.time()}})
listener = socket.create_server(("127.0.0.1", {PORT}))
def serving():
    while True:
        stream, _ = listener.accept()
        with stream:
            stream.sendall(told(stream.recv(100).decode()).encode())
for work in (counting, serving):
    threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    print(told(line.strip()), flush=True)
threading.Event().wait()
"""

ASK = f"""
import socket, sys
with socket.create_connection(("127.0.0.1", {PORT})) as stream:
    stream.sendall(sys.argv[1].encode())
    while piece := stream.recv(65536):
        sys.stdout.write(piece.decode())
"""


class Unread(Driver):
    """The folders are copied by the engine's own archive calls here, not by trees."""

    async def trees(self, sandbox_id: str) -> Mapping[str, Tree]:
        return {}


def run(client: docker.APIClient, sandbox_id: str, *words: str) -> str:
    execution = client.exec_create(sandbox_id, list(words), user="1000:1000")
    return str(client.exec_start(execution["Id"]).decode())


async def begin(client: docker.APIClient, spec: Spec, megabytes: int) -> None:
    """A container like the driver's, whose main process is the program; it answers when this ends."""
    make(client, spec, megabytes)
    await asyncio.to_thread(client.start, spec.sandbox_id)
    deadline = time.monotonic() + 60
    while not await ask(client, spec.sandbox_id, "begun"):
        assert time.monotonic() < deadline


async def ask(client: docker.APIClient, sandbox_id: str, word: str) -> dict[str, Any]:
    """What the program says; nothing as long as it does not listen."""
    text = await asyncio.to_thread(run, client, sandbox_id, "python3", "-c", ASK, word)
    return json.loads(text) if text.startswith("{") else {}


def folders(client: docker.APIClient, sandbox_id: str) -> dict[str, bytes]:
    """Of a container that runs or not."""
    return {folder: b"".join(client.get_archive(sandbox_id, f"{folder}/.")[0]) for folder in FOLDERS}


def fill(client: docker.APIClient, sandbox_id: str, contents: Mapping[str, bytes]) -> None:
    for folder, content in contents.items():
        request(client, "PUT", f"/containers/{sandbox_id}/archive", params={"path": folder}, data=content)


def make(client: docker.APIClient, spec: Spec, megabytes: int = 1) -> None:
    """Only what descends from the main process goes on; what came in by an exec of the engine's ends."""
    client.create_container(
        spec.image,
        command=["python3", "-c", PROGRAM, str(megabytes)],
        hostname="sandbox",
        user="1000:1000",
        name=spec.sandbox_id,
        stdin_open=True,
        detach=True,  # else a stream that ends would end what the program hears
        labels={f"{LABEL}.id": spec.sandbox_id, f"{LABEL}.owner": spec.owner},
        host_config=host_config(client, spec.sandbox_id, spec.runtime, spec.limits),
    )


@contextmanager
def answers(address: str, sandbox_id: str) -> Iterator[Callable[[str], str]]:
    """Say a line to its main process and hear the next one; nothing is said for an empty one."""
    with socket.socket(socket.AF_UNIX) as stream, stream.makefile("rb") as heard:
        stream.settimeout(60)
        stream.connect(urlsplit(address).path)
        place = f"/containers/{sandbox_id}/attach?stream=1&stdin=1&stdout=1&stderr=1"
        stream.sendall(f"POST {place} HTTP/1.1\r\nHost: docker\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n".encode())
        while heard.readline().strip():
            pass

        def say(word: str) -> str:
            stream.sendall(f"{word}\n".encode() if word else b"")
            (length,) = struct.unpack(">xxxxL", heard.read(8))
            return heard.read(length).decode()

        yield say
