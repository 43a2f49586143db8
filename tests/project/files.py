"""The files that the project is made of."""

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

PACKAGES = {
    "contracts": "The words every part shares: frozen data and activity interfaces, with no I/O.",
    "workflows": "What happens next: deterministic orchestration, and nothing that touches the world.",
    "policy": "What is permitted: pure functions from a question to a verdict.",
    "sandbox": "Where untrusted work runs: one driver interface, one engine per file.",
    "identity": "Who acts: profiles, the vault, OAuth, cookies, leased secrets.",
    "memory": "What is remembered: context window, vectors, graph.",
    "audit": "What happened: the append-only, hash-chained, signed record and the effect ledger.",
    "runtime": "How a process starts: settings, telemetry, the Temporal connection, the local stack, discovery.",
    "activities": "How the world is touched: the only worker code that does I/O.",
    "gateway": "Where people speak: channels, web console and APIs in, Temporal out.",
    "workers": "Where everything is wired together; nothing imports it.",
}
"""Each top-level package, and the one sentence that says what it is for."""

RECORDED = ("requirements", "tests/histories/", "tests/policy/cases/")
"""Beginnings of the paths that programs or attackers wrote; no rule of style holds for them."""


@cache
def tracked(*endings: str) -> tuple[Path, ...]:
    """Files under version control, without the recorded ones; of a source archive every file counts."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = listed.stdout.split("\0") if listed.returncode == 0 else _all_names()
    chosen = (name for name in names if name and not (name.startswith(RECORDED) and not name.endswith(".py")))
    return tuple(ROOT / name for name in chosen if name.endswith(endings or ("",)) and (ROOT / name).is_file())


def _all_names() -> list[str]:
    return [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if not {".venv", "__pycache__"} & set(path.parts)]


def text_of(path: Path) -> str:
    """The text of a file; of a picture, nothing."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        return ""


def lines_of(path: Path) -> list[str]:
    return text_of(path).splitlines()


def at(path: Path, number: int) -> str:
    """How a finding names its place."""
    return f"{path.relative_to(ROOT)}:{number}"
