"""Each test of a store runs with the file and with the real OpenBao."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.identity.bao_server import Server, running
from tests.identity.vaults import Place, in_bao, in_file


@pytest.fixture(scope="module")
def bao() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture(params=["sqlite", "openbao"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return in_file(tmp_path)
    return in_bao(tmp_path, request.getfixturevalue("bao"))
