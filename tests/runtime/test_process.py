"""A main module ends in order on the first signal, at once on the second, and says by its exit code how."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.stack.processes import PROJECT

_PROGRAM = """
import asyncio, sys
from runtime.process import run_until_signal

async def serve(stop):
    print("ready", flush=True)
    {body}
    print("closed", flush=True)

sys.exit(run_until_signal(serve))
"""


def _run(body: str, *signals: signal.Signals) -> tuple[int, str]:
    program = [sys.executable, "-c", _PROGRAM.format(body=body)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=PROJECT) as process:
        assert process.stdout is not None
        said = []
        try:
            for number in signals:
                said.append(process.stdout.readline())
                process.send_signal(number)
            said.append(process.stdout.read())
            return process.wait(20), "".join(said)
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_lets_it_close(number: signal.Signals) -> None:
    assert _run("await stop.wait()", number) == (0, "ready\nclosed\n")


def test_the_second_signal_does_not_wait() -> None:
    body = "await stop.wait(); print('closing', flush=True); await asyncio.sleep(600)"

    code, said = _run(body, signal.SIGTERM, signal.SIGTERM)

    assert code == 1
    assert said.startswith("ready\nclosing\n")
    assert "closed" not in said.splitlines()


def test_an_end_by_itself_is_an_orderly_end() -> None:
    assert _run("pass") == (0, "ready\nclosed\n")


def test_an_exception_is_logged_and_gives_one() -> None:
    code, said = _run("raise ValueError('broken')")

    assert code == 1
    assert "broken" in said


def test_the_project_folder_holds_the_packages() -> None:
    assert (PROJECT / "runtime" / "process.py").is_file()
    assert Path(__file__).is_relative_to(PROJECT)
