"""One installation for all tests of a module, and a site for them to browse."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.cli.site import serve_site
from tests.e2e.stack import Installation, installation

SITE = "site.test"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installation(tmp_path_factory.mktemp("asos")) as given:
        yield given


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The `--allow-host` that opens the site at http://site.test/."""
    with serve_site() as port:
        yield f"{SITE}:80=127.0.0.1:{port}"


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Installation]:
    """An installation whose processes a test may kill."""
    with installation(tmp_path) as given:
        yield given
