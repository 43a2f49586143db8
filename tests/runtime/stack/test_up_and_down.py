"""The ordinary life of a stack."""

from runtime.stack.down import down
from tests.runtime.stack.conftest import Site


def test_parts_start_in_order_and_stop_in_reverse_order(site: Site) -> None:
    outcome = site.up()

    assert outcome.failure is None
    assert outcome.state is not None
    assert [part.phase for part in outcome.state.parts] == ["running", "running"]

    down(site.paths)

    assert site.words() == ["started worker", "started gateway", "stopped gateway", "stopped worker"]


def test_down_leaves_no_process_and_no_file(site: Site) -> None:
    site.up(site.stand_in("worker", site.worker_port, "--child", "--runaway"), site.gateway)
    assert len(site.pids()) >= 4

    outcome = down(site.paths)

    assert outcome.was_running
    assert site.pids() == []
    assert site.run_files() == []
