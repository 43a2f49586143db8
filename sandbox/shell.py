"""A shell kept open in the sandbox: lines go in, lines come out, and no new session is needed for each command."""

import asyncio
from collections.abc import Callable

import asyncssh

from sandbox.far_end import far_end

COMMAND = "ASOS_PART=1 exec {interpreter} 2>/dev/null"
"""The variable tells the shell's own processes from those of commands."""

LONGEST_LINE = 65_536


class Shell:
    """One shell with a program loaded; `on_line` gets each line of its output, and None at its end."""

    def __init__(self, process: "asyncssh.SSHClientProcess[bytes]", on_line: Callable[[str | None], None]) -> None:
        self._process = process
        self._on_line = on_line
        self._reading = asyncio.create_task(self._read(), name="sandbox shell")

    @classmethod
    async def opened(
        cls,
        connection: asyncssh.SSHClientConnection,
        interpreter: str,
        program: str,
        on_line: Callable[[str | None], None],
    ) -> "Shell":
        process = await connection.create_process(
            COMMAND.format(interpreter=interpreter), encoding=None, stderr=asyncssh.DEVNULL
        )
        shell = cls(process, on_line)
        shell.send(far_end(program))
        return shell

    @property
    def ended(self) -> bool:
        return self._reading.done()

    def send(self, text: str) -> None:
        """Raises: BrokenPipeError if the shell has ended."""
        if self.ended:
            raise BrokenPipeError("the sandbox's shell has ended")
        self._process.stdin.write(text.encode("utf-8"))

    async def close(self) -> None:
        self._process.close()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self) -> None:
        try:
            while line := await self._process.stdout.readuntil(b"\n"):
                self._on_line(line.decode("utf-8", "replace").rstrip("\n"))
        except (asyncio.IncompleteReadError, asyncssh.Error, OSError):
            pass  # the end of the shell, however it came, is told below
        finally:
            self._on_line(None)
