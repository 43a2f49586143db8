"""Tasks that have effects until somebody stops them, and what is measured when the kill switch is pulled."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyotp
from rich.console import Console
from typer.testing import CliRunner

from gateway.cli.asking import start_task
from gateway.cli.office import open_office
from gateway.cli.requests import host_grant, request
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.second_factor import SecondFactor, new_secret
from runtime.settings import Settings
from tests.chaos.effects import Effects
from tests.e2e.stack import Installation, Said, eventually
from workers.asos import command_line

LOOP = "while true; do {step}; sleep 0.05; done"
CURL = "curl -s -o /dev/null http://effects.test/tick/{name}"
WATCHED_SECONDS = 1.5
"""How long is looked for effects after the stop: thirty would have happened."""


@dataclass(frozen=True)
class Measured:
    """One stop. Times are seconds after it was in force."""

    at: str
    started: float
    """From the command's start until it was in force."""
    last: float
    """Of the last effect; 0 if there was none after it."""
    done: float
    """Until the command said that it was done."""
    after: int
    """Effects that came after that."""
    before: int
    """Effects in the second before it was in force: without any, nothing was shown."""


class Owner:
    """Starts tasks, decides, stops and lifts, without a process of its own for each."""

    def __init__(self, given: Installation) -> None:
        self.given = given
        names = (name for name in given.environment if name.startswith("ASOS_"))
        self._settings = Settings.model_validate({name[5:].lower(): given.environment[name] for name in names})

    def asks(self, *texts: str, hosts: Sequence[str] = ()) -> list[str]:
        """Ids of tasks of their own, one for each text."""

        async def start() -> list[str]:
            async with open_office(self._settings, Console(quiet=True)) as office:
                grants = tuple(host_grant(each, office) for each in hosts)
                return [await start_task(office, await request(office, text, hosts=grants)) for text in texts]

        return asyncio.run(start())

    def kills(self, *arguments: str) -> tuple[Any, float]:
        """What `asos kill` says, and when it was begun."""
        began = time.time()
        said: Said = self.given.asos("kill", "--json", *arguments)
        assert said.out, said.err
        return said.json, began

    def lifts(self) -> None:
        """With a factor made for this: a code counts once in half a minute, and a test does not wait so long."""
        paths, keyring = DataPaths(self.given.data_dir), Keyring.load(self.given.data_dir)
        paths.second_factor.unlink(missing_ok=True)
        factor, secret, before = SecondFactor(paths, keyring), new_secret(), datetime.now(UTC) - timedelta(minutes=5)
        factor.enrol(secret, pyotp.TOTP(secret).at(before), "console:test", before)
        assert self.does("kill", "--lift", "--code", pyotp.TOTP(secret).now()) == 0

    def does(self, *arguments: str) -> int:
        """The exit code of a command that runs in this process, which spares starting one."""
        return CliRunner().invoke(command_line(self._settings), arguments).exit_code

    def phase(self, task: str) -> str | None:
        status = self.given.status(task)
        return status["phase"] if status else None


def measured(owner: Owner, at: str, times: Callable[[], list[float]], *arguments: str) -> Measured:
    """Stop it, and look for what still happens."""
    said, began = owner.kills(*arguments)
    returned = time.time()
    in_force = datetime.fromisoformat(said["kill"]["at"]).timestamp()
    time.sleep(WATCHED_SECONDS)
    late = [each - in_force for each in times() if each > in_force]
    after = [each for each in times() if each > returned]
    before = [each for each in times() if in_force - 1 < each <= in_force]
    return Measured(at, in_force - began, max(late, default=0.0), said["seconds"], len(after), len(before))


class Growing:
    """Files to which commands append lines; they are held open, since a stop takes them away with their sandbox."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._files: dict[Path, Any] = {}

    def find(self, folders: Sequence[Path]) -> int:
        """How many there are below these folders."""
        for folder in folders:
            for path in folder.glob(f"**/workspace/{self._name}"):
                if path not in self._files:
                    self._files[path] = path.open()
        return len(self._files)

    def times(self) -> list[float]:
        """Of all lines, which each are nanoseconds since the epoch."""
        found: list[float] = []
        for file in self._files.values():
            file.seek(0)
            found += [int(line) / 1e9 for line in file if line.strip().isdigit()]
        return found

    def close(self) -> None:
        for file in self._files.values():
            file.close()


def until_so_many(effects: Effects, names: Sequence[str], count: int = 3) -> None:
    """Wait until each of these has had some effects."""
    eventually(lambda: True if all(len(effects.of(name)) >= count for name in names) else None)


def table(rows: Sequence[Measured]) -> str:
    """For a person."""
    lines = ["at                      in force s   last effect s   done s   effects in the second before   after"]
    for row in rows:
        lines.append(f"{row.at:<24}{row.started:>10.2f}{row.last:>16.3f}{row.done:>9.2f}{row.before:>31}{row.after:>8}")
    worst = sorted(row.last for row in rows)
    p99 = worst[min(len(worst) - 1, int(len(worst) * 0.99))]
    lines.append(f"{len(rows)} stops: last effect p99 {p99:.3f} s, effects after in all {sum(r.after for r in rows)}")
    return "\n".join(lines)
