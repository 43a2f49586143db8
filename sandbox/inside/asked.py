"""What the host asks to be run."""

from __future__ import annotations


class Asked:
    """A command, as it comes down the stream."""

    def __init__(
        self,
        *,
        key: str,
        argv: list[bytes] | None,
        script: bytes,
        env: dict[bytes, bytes],
        cwd: bytes,
        timeout: float,
        output_bytes: int,
        keep: bool,
        stdin: bytes = b"",
    ) -> None:
        self.key = key
        self.argv = argv
        self.script = script
        """For bash, if there is no argv."""
        self.env = env
        self.cwd = cwd
        self.timeout = timeout
        self.output_bytes = output_bytes
        self.keep = keep
        """Whether it must still be known when this process is gone."""
        self.stdin = stdin
