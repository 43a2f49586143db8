"""Where a process listens: on loopback always, elsewhere only when it is told to."""

import httpx
import pytest
from fastapi import FastAPI

from runtime import addresses
from runtime.settings import Settings
from runtime.web import PortInUse, serve


async def test_a_further_address_serves_the_same() -> None:
    async with serve(FastAPI(), 0, setting="ASOS_X", also="127.0.0.2") as port, httpx.AsyncClient() as client:
        answers = [await client.get(f"http://{name}:{port}/") for name in ("127.0.0.1", "127.0.0.2")]

    assert [answer.status_code for answer in answers] == [404, 404]


async def test_a_port_in_use_is_an_error_at_once_that_names_the_setting() -> None:
    async with serve(FastAPI(), 0, setting="ASOS_X") as port:
        with pytest.raises(PortInUse, match=f"{port}.*ASOS_X"):
            async with serve(FastAPI(), port, setting="ASOS_X"):
                pass


@pytest.mark.parametrize(
    ("given", "reached", "name", "also"),
    [
        ("", "http://127.0.0.1:8421", "127.0.0.1", ""),
        ("http://localhost:9000", "http://localhost:9000", "localhost", ""),
        ("http://10.0.0.5:8421", "http://10.0.0.5:8421", "10.0.0.5", "10.0.0.5"),
        ("http://[fd00::5]:8421", "http://[fd00::5]:8421", "[fd00::5]", "fd00::5"),
        ("https://one.hosts.example", "https://one.hosts.example", "one.hosts.example", ""),
    ],
)
def test_a_host_listens_where_it_says_that_it_is(given: str, reached: str, name: str, also: str) -> None:
    settings = Settings(host_api_url=given)

    found = (addresses.host_api(settings), addresses.host_name(settings), addresses.host_listens(settings))

    assert found == (reached, name, also)
