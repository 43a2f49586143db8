"""A person's terminal in a sandbox: its size, its keys, its end; and programs behind plain pipes."""

import asyncio
import secrets

import pytest

from contracts.sandbox import Command
from sandbox.inside.wire import WINDOW
from sandbox.session import OpenSandbox
from sandbox.terminal import Terminal

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE_SECONDS = 30.0


async def shown(terminal: Terminal, until: bytes) -> bytes:
    """Everything up to this text, which may not be there."""
    got = b""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while until not in got and (piece := await terminal.read()):
            got += piece
    return got


async def test_a_terminal_has_a_size_a_home_and_the_way_out_and_ends_with_the_shells_exit_code(
    box: OpenSandbox,
) -> None:
    async with box.terminal(91, 31) as terminal:
        await terminal.write(b"tty; stty size; echo $PWD $HOME $http_proxy $TERM; echo fir''st\r")
        first = await shown(terminal, b"first\r\n")
        terminal.resize(132, 43)
        await terminal.write(b"stty size; echo sec''ond\r")
        second = await shown(terminal, b"second\r\n")
        await terminal.write(b"exit 7\r")
        await shown(terminal, b"nothing is like this")
        code = await terminal.wait()

    assert b"/dev/pts/" in first
    assert b"31 91\r\n" in first
    assert b"/workspace /home/agent http://127.0.0.1:3128 xterm-256color\r\n" in first
    assert b"43 132\r\n" in second
    assert code == 7


async def test_control_c_goes_to_the_program_and_the_shell_goes_on(box: OpenSandbox) -> None:
    async with box.terminal(80, 24) as terminal:
        await terminal.write(b"sh -c 'echo rea''dy; exec sleep 1000'\r")
        await shown(terminal, b"ready\r\n")
        await terminal.write(b"\x03")
        await shown(terminal, b"$ ")
        await terminal.write(b"echo on''ward\r")

        assert b"onward\r\n" in await shown(terminal, b"onward\r\n")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("sh", "-c", "exit 3"), 3),
        (("sh", "-c", "kill -9 $$"), 137),
        (("no-such-program",), 127),
    ],
)
@pytest.mark.parametrize("columns", [80, 0])
async def test_the_end_of_a_command_is_told_as_a_shell_tells_it(
    box: OpenSandbox, command: tuple[str, ...], code: int, columns: int
) -> None:
    async with box.terminal(columns, 24, command) as terminal:
        await shown(terminal, b"nothing is like this")

        assert await terminal.wait() == code


async def test_without_a_terminal_bytes_pass_unchanged_and_errors_apart(box: OpenSandbox) -> None:
    sent = secrets.token_bytes(300_000)
    async with box.terminal(0, 0, ("sh", "-c", "cat; echo bad >&2")) as terminal:
        writing = asyncio.create_task(terminal.write(sent))
        got = b""
        while len(got) < len(sent):
            got += await terminal.read()
        await writing
        terminal.end_input()

        assert got == sent
        assert await terminal.read_errors() == b"bad\n"
        assert await terminal.wait() == 0


async def test_output_that_is_read_late_is_not_lost(box: OpenSandbox) -> None:
    async with box.terminal(0, 0, ("sh", "-c", "head -c 1500000 /dev/zero; sleep 5 &")) as terminal:
        await box.run(Command(script="sleep 1"))
        got = 0
        async with asyncio.timeout(PATIENCE_SECONDS):
            while piece := await terminal.read():
                got += len(piece)

        assert got == 1_500_000
        assert await terminal.wait() == 0


async def test_a_script_can_be_read_from_standard_input(box: OpenSandbox) -> None:
    async with box.terminal(0, 0) as terminal:
        await terminal.write(b"cd /tmp\npwd\nexit 4\n")
        terminal.end_input()

        assert await terminal.read() == b"/tmp\n"
        assert await terminal.wait() == 4


@pytest.mark.parametrize("columns", [80, 0])
async def test_what_runs_there_ends_when_the_person_leaves(box: OpenSandbox, columns: int) -> None:
    name = f"1{secrets.randbelow(10**8):08}"

    async with box.terminal(columns, 24, ("sh", "-c", f"echo ready; exec sleep {name}")) as terminal:
        await shown(terminal, b"ready")

    script = f"for i in $(seq 100); do pgrep -fx 'sleep {name}' >/dev/null || exit 0; sleep 0.1; done; exit 1"
    assert (await box.run(Command(script=script))).exit_code == 0


@pytest.mark.parametrize("columns", [80, 0])
async def test_a_program_that_has_ended_takes_nothing_and_what_it_left_behind_is_not_awaited(
    box: OpenSandbox, columns: int
) -> None:
    async with box.terminal(columns, 24, ("sh", "-c", "trap '' HUP; sleep 60 & echo said")) as terminal:
        said = await shown(terminal, b"nothing is like this")
        errors = await terminal.read_errors()
        code = await terminal.wait()
        await terminal.write(bytes(2_000_000))
        terminal.resize(100, 40)

    assert (said.strip(), errors, code) == (b"said", b"", 0)


async def test_nothing_is_lost_when_a_program_ends_long_before_its_output_is_taken(box: OpenSandbox) -> None:
    size = WINDOW + 50_000
    name = secrets.token_hex(8)

    async with box.terminal(0, 0, ("sh", "-c", f"head -c {size} /dev/zero; : {name}")) as terminal:
        ended = await box.run(Command(script=f"while pgrep -f '[:] {name}'; do sleep 0.05; done; sleep 1"))
        taken = await shown(terminal, b"nothing is like this")

        assert await terminal.wait() == 0
    assert ended.exit_code == 0
    assert len(taken) == size


async def test_a_program_has_the_environment_of_commands(box: OpenSandbox) -> None:
    command = ("sh", "-c", "env | grep -vE '^(PWD|OLDPWD|SHLVL|_|ASOS_[A-Z]*)=' | sort")
    async with box.terminal(0, 0, command) as terminal:
        taken = await shown(terminal, b"nothing is like this")

    assert taken == (await box.run(Command(argv=command))).stdout.head
