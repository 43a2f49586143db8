"""How the stage runs: as the program does; for tests marked `replayed` also with no workflow kept in memory."""

import pytest

from tests.workflows.stage import MODE
from tests.workflows.twice import Twice

KEPT, NONE_KEPT = 100, 0


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.get_closest_marker("replayed") and not metafunc.config.getoption("--uncached"):
        metafunc.parametrize("mode", [KEPT, NONE_KEPT], ids=["kept", "replayed"], indirect=True)


@pytest.fixture(autouse=True)
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a cache every workflow task replays from the start, which finds any non-determinism."""
    uncached = NONE_KEPT if request.config.getoption("--uncached") else KEPT
    monkeypatch.setattr(MODE, "cached", getattr(request, "param", uncached))
    if request.config.getoption("--twice"):
        monkeypatch.setattr(MODE, "interceptors", (Twice(),))
