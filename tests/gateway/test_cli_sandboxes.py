"""How sandboxes look in a terminal, and how local files are written."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest
from rich.cells import cell_len

from contracts.lifecycle import SandboxState, SandboxView
from contracts.sandbox import FileEntry, HostedSandbox, Lease
from contracts.texts.sandboxes import STATES, STEPS
from gateway.cli.moving import to_file
from gateway.cli.sandbox_screen import duration, files_table, sandboxes_table
from gateway.sandbox_desk import Listed
from workflows.stay import Step

OWNER = "01M8Q3PEMPTB7ANP7Y9ZS0GQ3G"


def listed(goal: str) -> Listed:
    now = datetime.now(UTC)
    lease = Lease(
        sandbox_id="asos-here-1",
        task_id=OWNER,
        host_id="here",
        task_queue="host-here",
        epoch=2,
        driver="docker",
        runtime="runsc",
        image="base",
    )
    view = SandboxView(
        owner=OWNER,
        user_id="u",
        task_id=OWNER,
        state=SandboxState.ACTIVE,
        since=now,
        touched=now - timedelta(hours=2, minutes=3),
        lease=lease,
    )
    return Listed(view=view, goal=goal, started_at=now - timedelta(days=3))


def hosted(state: str) -> HostedSandbox:
    return HostedSandbox.model_validate(
        {
            "sandbox_id": "asos-here-1",
            "owner": "",
            "user_id": "",
            "epoch": 0,
            "state": state,
            "runtime": "runsc",
            "image": "base",
            "disk_bytes": 5_000_000,
        }
    )


@pytest.mark.parametrize("width", [60, 80, 150])
def test_a_narrow_terminal_shows_less_of_the_goal_and_all_of_the_id(width: int) -> None:
    there = hosted("active")

    table = sandboxes_table([listed("word " * 60)], {there.sandbox_id: there}, [hosted("warm")], "en", width)

    lines = table.plain.splitlines()
    assert all(cell_len(line) <= max(width, 80) for line in lines)
    assert OWNER in lines[1]
    assert "2 h 3 min" in lines[1]
    assert "5.0 MB" in lines[1]
    assert ("3 d" in lines[1]) == ("runsc" in lines[1]) == (width > 120)
    assert "warm" in lines[2]


def test_a_name_from_a_sandbox_does_not_steer_the_terminal() -> None:
    table = files_table([FileEntry(name="a\x1b[2J\nb", kind="file", size=1, modified=-1e30)], "en", 80)

    assert table.plain.splitlines()[1].endswith("a?[2J?b")


def test_every_state_and_every_step_has_a_word() -> None:
    assert {state.value for state in SandboxState} <= set(STATES)
    assert set(get_args(Step)) == set(STEPS)


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(seconds=-3), "0 s"),
        (timedelta(seconds=59), "59 s"),
        (timedelta(minutes=5, seconds=3), "5 min"),
        (timedelta(hours=2), "2 h"),
        (timedelta(days=6, hours=23, minutes=59), "6 d 23 h"),
    ],
)
def test_a_time_is_told_in_its_largest_units(span: timedelta, text: str) -> None:
    assert duration(span) == text


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def pieces(*, broken: bool = False) -> AsyncIterator[bytes]:
    yield b"one "
    if broken:
        raise ConnectionError
    yield b"two"


async def test_a_download_that_breaks_off_leaves_the_former_file(tmp_path: Path) -> None:
    target = tmp_path / "report.md"
    target.write_text("former")

    with pytest.raises(ConnectionError):
        await to_file(pieces(broken=True), target, lambda _: None, replace=True)

    assert names_in(tmp_path) == ["report.md"]
    assert target.read_text() == "former"


async def test_a_file_that_came_to_be_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "report.md"
    target.symlink_to("elsewhere")

    with pytest.raises(FileExistsError):
        await to_file(pieces(), target, lambda _: None, replace=False)
    moved = await to_file(pieces(), target, lambda _: None, replace=True)

    assert names_in(tmp_path) == ["report.md"]
    assert target.read_text() == "one two"
    assert not target.is_symlink()
    assert moved.bytes == 7
