"""A web server with a small package index, registry, repository and git: what pip, npm, apt and git look for."""

import io
import json
import os
import ssl
import subprocess
import tarfile
import threading
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha512
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HOST = "tools.test"


def fill(folder: Path) -> None:
    """One package of each kind."""
    (folder / "hello.txt").write_text("hello\n")
    (folder / "index.html").write_text("<title>a page</title><p>shown</p>")
    _python_index(folder)
    _npm_registry(folder)
    _apt_repository(folder)
    _git_repository(folder)


@contextmanager
def serving(folder: Path, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Gives the port of a server for these files, in a thread of its own."""

    def handler(*args: Any, **kwargs: Any) -> Handler:
        return Handler(*args, directory=str(folder), **kwargs)

    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Handler(SimpleHTTPRequestHandler):
    """Files, and git's own backend below /git."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        if self.path.startswith("/git/"):
            self._git(b"")
        elif self.path == "/demo-npm":
            # npm asks for the address that it was given for the registry.
            scheme = "https" if isinstance(self.connection, ssl.SSLSocket) else "http"
            self._say((Path(self.directory) / "npm.json").read_bytes().replace(b"SCHEME", scheme.encode()))
        else:
            super().do_GET()

    def do_POST(self) -> None:
        self._git(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _git(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": self.directory,
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type") or "",
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
        }
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self._say(content, headers.get("Content-Type", ""), int(headers.get("Status", "200")[:3]))

    def _say(self, content: bytes, kind: str = "application/json", status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _python_index(folder: Path) -> None:
    wheel = folder / "demo_pip-1.0-py3-none-any.whl"
    info = "demo_pip-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("demo_pip.py", "WORD = 'from pip'\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: demo-pip\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "demo_pip.py,,\n")
    (folder / "simple" / "demo-pip").mkdir(parents=True)
    (folder / "simple" / "demo-pip" / "index.html").write_text(f'<a href="/{wheel.name}">{wheel.name}</a>')


def _npm_registry(folder: Path) -> None:
    manifest = {"name": "demo-npm", "version": "1.0.0", "main": "index.js"}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in (("package.json", json.dumps(manifest)), ("index.js", "module.exports = 'from npm'\n")):
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    (folder / "demo-npm-1.0.0.tgz").write_bytes(buffer.getvalue())
    digest = "sha512-" + b64encode(sha512(buffer.getvalue()).digest()).decode()
    dist = {"tarball": f"SCHEME://{HOST}/demo-npm-1.0.0.tgz", "integrity": digest}
    versions = {"1.0.0": {**manifest, "dist": dist}}
    (folder / "npm.json").write_text(
        json.dumps({"name": "demo-npm", "dist-tags": {"latest": "1.0.0"}, "versions": versions})
    )


def _apt_repository(folder: Path) -> None:
    tree, repository = folder / "tree", folder / "apt"
    (tree / "DEBIAN").mkdir(parents=True)
    repository.mkdir()
    (tree / "DEBIAN" / "control").write_text(
        "Package: demo-apt\nVersion: 1.0\nArchitecture: all\nMaintainer: t <t@example.org>\nDescription: a demo\n"
    )
    _run("dpkg-deb", "--build", "--root-owner-group", str(tree), str(repository / "demo-apt_1.0_all.deb"))
    (repository / "Packages").write_bytes(_run("dpkg-scanpackages", ".", cwd=repository))


def _git_repository(folder: Path) -> None:
    work, bare = folder / "work", folder / "git" / "demo.git"
    work.mkdir()
    (work / "read.me").write_text("from git\n")
    name = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    for words in (("init", "-q"), ("add", "."), (*name, "commit", "-q", "-m", "first")):
        _run("git", *words, cwd=work)
    _run("git", "clone", "-q", "--bare", str(work), str(bare))


def _run(*words: str, cwd: Path | None = None) -> bytes:
    return subprocess.run(words, cwd=cwd, capture_output=True, check=True).stdout
