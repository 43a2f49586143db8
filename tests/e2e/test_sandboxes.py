"""A person sees and steers the sandbox of a task: the list, its files, its snapshots and forks, a terminal in it."""

import fcntl
import io
import json
import os
import pty
import select
import struct
import subprocess
import sys
import tarfile
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from runtime.settings import Settings
from tests.e2e.stack import PATIENCE_SECONDS, ROOT, Installation, installation
from workers.asos import command_line

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installation(tmp_path_factory.mktemp("asos"), {"ASOS_SANDBOX_DRIVER": "bubblewrap"}) as running:
        yield running


@dataclass(frozen=True)
class Owner:
    """The owner at a terminal; most commands run in this process, which spares starting a new one for each."""

    given: Installation

    def does(self, *arguments: str, code: int = 0) -> bytes:
        values = {name[5:].lower(): value for name, value in self.given.environment.items() if name.startswith("ASOS_")}
        said = CliRunner().invoke(command_line(Settings.model_validate(values)), arguments)
        assert said.exit_code == code, f"{arguments}: {said.exit_code} {said.output}\n{self.given.logs()[-4000:]}"
        return said.stdout_bytes

    def reads(self, *arguments: str) -> Any:
        return json.loads(self.does(*arguments, "--json"))


def test_the_sandbox_of_a_task_is_seen_steered_and_left(given: Installation, tmp_path: Path) -> None:
    owner = Owner(given)
    task = given.asos("ask", "/run mkdir -p made/by; echo kept > made/by/task", "--json").json["task_id"]

    # What it left is there although its sandbox sleeps, and the first look at its files wakes it.
    assert [each["owner"] for each in owner.reads("sandboxes")["sandboxes"]] == [task]
    assert owner.does("files", "get", "last", "made/by/task", "-") == b"kept\n"
    view = owner.reads("sandbox", "show", task[:12])
    assert (view["state"], view["lease"]["runtime"]) == ("active", "bwrap")
    assert [each["path"] for each in view["artifacts"]] == ["made/by/task"]

    # Files go in and out, folders as tar; nothing here is replaced without a word.
    sent, here = os.urandom(3_000_000), tmp_path / "big"
    (tmp_path / "sent").write_bytes(sent)
    assert owner.reads("files", "put", "last", str(tmp_path / "sent"), "made/big")["bytes"] == len(sent)
    owner.does("files", "get", "last", "made/big", str(tmp_path))
    owner.does("files", "get", "last", "made/big", str(here), code=2)
    owner.does("files", "put", "last", str(tmp_path), "folder", code=2)
    with tarfile.open(fileobj=io.BytesIO(owner.does("files", "get", "last", "made", "-"))) as packed:
        assert sorted(packed.getnames()) == ["made", "made/big", "made/by", "made/by/task"]
    assert here.read_bytes() == sent

    # A snapshot can be gone back to and forked; the fork shares the past and nothing else.
    saved = owner.reads("sandbox", "snapshot", "last", "--name", "tidy")
    fork = owner.reads("sandbox", "fork", "last", "--snapshot", saved["digest"][:10])["id"]
    owner.does("files", "put", "last", str(here), "made/by/task")
    assert owner.does("files", "get", fork, "made/by/task", "-") == b"kept\n"
    owner.does("sandbox", "restore", "last", "tidy")
    assert owner.does("files", "get", "last", "made/by/task", "-") == b"kept\n"

    # Programs: behind pipes, and at a terminal.
    script = subprocess.run(
        [sys.executable, "-m", "workers.asos", "shell", fork],
        cwd=ROOT,
        env=given.environment,
        input=b"cat made/by/task; echo bad >&2; exit 9\n",
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (script.stdout, script.stderr, script.returncode) == (b"kept\n", b"bad\n", 9)
    at_a_terminal(given, "last")

    # What is destroyed is gone, and only after a yes.
    owner.does("sandbox", "destroy", fork, code=2)
    assert owner.reads("sandbox", "destroy", fork, "--yes")["state"] == "destroyed"
    assert owner.reads("sandbox", "pause", "last")["state"] == "paused"
    assert owner.reads("sandbox", "resume", "last")["state"] == "active"
    owner.does("sandbox", "show", "no-such-one", code=2)


def at_a_terminal(given: Installation, which: str) -> None:
    """Sizes, Ctrl-C and the exit code go through; afterwards the terminal is as it was."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        command = [sys.executable, "-m", "workers.asos", "shell", which]
        os.execve(sys.executable, command, given.environment)  # noqa: S606  it is the command under test
    try:
        resize(terminal, rows=31, columns=91)
        before = termios.tcgetattr(terminal)[3]
        shown(terminal, b"$ ")
        os.write(terminal, b"stty size; echo fir''st\r")
        assert b"31 91\r\n" in shown(terminal, b"first\r\n")
        resize(terminal, rows=43, columns=132)
        os.write(terminal, b"until [ \"$(stty size)\" = '43 132' ]; do sleep 0.1; done; echo resi''zed\r")
        shown(terminal, b"resized\r\n")
        os.write(terminal, b"sh -c 'echo rea''dy; exec sleep 1000'\r")
        shown(terminal, b"ready\r\n")
        os.write(terminal, b"\x03")
        shown(terminal, b"$ ")
        os.write(terminal, b"exit 7\r")
        shown(terminal, None)
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 7
        assert termios.tcgetattr(terminal)[3] == before
    finally:
        os.close(terminal)


def resize(terminal: int, *, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))


def shown(terminal: int, until: bytes | None) -> bytes:
    """Everything up to this text, or to the end."""
    got, deadline = b"", time.monotonic() + PATIENCE_SECONDS
    while until is None or until not in got:
        ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, got
        try:
            piece = os.read(terminal, 65_536)
        except OSError:
            piece = b""
        if not piece:
            assert until is None, got
            return got
        got += piece
    return got
