"""The whole set-up, as `make test` calls it, is quick and changes nothing where everything is there."""

from time import monotonic

import pytest

from tests.deploy.scripts import ROOT, SETUP, run

PREPARE = SETUP / "prepare.sh"


@pytest.mark.engine
def test_a_second_set_up_takes_seconds_and_installs_nothing(docker_host: str) -> None:
    if not (ROOT / ".venv" / ".installed").exists():
        pytest.skip("the first set-up is `make test`")

    run(PREPARE, "test")
    start = monotonic()
    again = run(PREPARE, "test")

    assert again.result == docker_host
    assert monotonic() - start < 15
    assert not any(word in again.told for word in ("apt-get", "pip install", "-m venv", "docker build", "starting"))
    assert again.told.count("→") == again.told.count("✓") == 5


def test_two_set_ups_at_once_wait_for_each_other(docker_host: str) -> None:
    lock = ROOT / ".asos" / "setup.lock"
    lock.parent.mkdir(exist_ok=True)

    # The holder lets go after some seconds, by when the other one has long found it closed, however busy the machine.
    told = run("bash", "-c", f"(flock 9; sleep 4) 9>'{lock}' & sleep 0.3; {PREPARE} nonsense")

    assert told.told.splitlines()[0].endswith("waiting for another set-up to end")
