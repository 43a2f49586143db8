"""A storm: tasks run while processes of their installation are killed, in an order that a seed gives."""

import json
import sqlite3
import subprocess
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random

from tests.e2e.stack import Installation, eventually

PARTS = ("worker", "gateway", "temporal")

WORK = "/run echo ran >> /workspace/count; sleep {seconds}; wc -l < /workspace/count"
"""Its output tells how often it has run in its sandbox."""


@dataclass(frozen=True)
class Ended:
    """One task after the storm, as the person who asked sees it and as the ledger knows it."""

    task_id: str
    outcome: str
    answer: str
    effects: int


def storm(given: Installation, seed: int, *, tasks: int, kills: int, seconds: int) -> list[Ended]:
    """Let so many tasks run at once and kill so many processes meanwhile."""
    chance = Random(seed)  # noqa: S311  a storm is no secret
    with ExitStack() as running:
        before = sum(effects(given).values())
        asked = [running.enter_context(_asked(given, seconds)) for _ in range(tasks)]
        eventually(lambda: True if sum(effects(given).values()) - before == tasks else None)
        for _ in range(kills):
            time.sleep(chance.uniform(0.0, 2.0))
            name = chance.choice(PARTS)
            print(f"seed {seed}: kill -9 {name}", flush=True)  # noqa: T201  tells how the storm went if a test fails
            given.wait_for_another(name, given.kill(name))
        return [_ended(given, each) for each in asked]


def effects(given: Installation) -> Counter[str]:
    """How many calls of each task the ledger has begun."""
    path = given.data_dir / "audit" / "ledger.db"
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as ledger:
        return Counter(task_id for (task_id,) in ledger.execute("SELECT task_id FROM effects"))


def _asked(given: Installation, seconds: int) -> "subprocess.Popen[str]":
    return given.start("ask", WORK.format(seconds=seconds), "--json")


def _ended(given: Installation, asking: "subprocess.Popen[str]") -> Ended:
    out, err = asking.communicate(timeout=300)
    assert asking.returncode == 0, f"{out}\n{err}\n{given.logs()[-20_000:]}"
    said = json.loads(out)
    return Ended(said["task_id"], said["outcome"], said["answer"], effects(given)[said["task_id"]])
