"""What every test of the gateway may have: the strict Bot API server, and a store of its own."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gateway.outbox import Outbox
from gateway.store import Store
from tests.telegram_server.server import TelegramServer


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    async with TelegramServer() as running:
        yield running


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "gateway" / "gateway.db")
    yield opened
    opened.close()


@pytest.fixture
def outbox(store: Store) -> Outbox:
    return Outbox(store)
