"""A real browser shows a page that tries every channel, and a server counts what arrives of what is closed."""

import pytest

from activities.browsing.visit import Patience
from activities.tools.browse import Browse
from policy.hosts import HostPattern
from policy.roles import BrowserRules
from tests.tools.conftest import Bench, MemoryBlobs
from tests.tools.hostile import OWN, hostile
from tests.tools.local_sandbox import LocalSandbox
from tests.tools.proxy import Proxy
from tests.tools.site import Site

pytestmark = pytest.mark.chromium

PATIENCE = Patience(load_seconds=10.0, settle_seconds=6.0)
BLOCKED = BrowserRules(blocked=(HostPattern.parse(f"{OWN}/closed"),))


@pytest.mark.parametrize(
    ("to", "path"), [("http://closed.test", ""), (f"http://{OWN}/closed", "/closed")], ids=["host", "path"]
)
async def test_no_channel_of_a_page_reaches_what_is_closed(
    to: str, path: str, sandbox: LocalSandbox, blobs: MemoryBlobs, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # given: a way out that is open to everything, so that only the browser holds
    async with (
        Site(tmp_path_factory.mktemp("site"), hostile(to)).serving() as site,
        Proxy(lambda _host: True, site.http_port, site.tls_port).serving() as address,
    ):
        bench = Bench(sandbox, blobs, [], browser=BLOCKED)

        # when: the page has tried everything
        result = await bench.run(Browse(address, PATIENCE), {"url": f"http://{OWN}/hostile", "screenshot": False})

        # then: it did run, and nothing of it arrived where it may not
        assert result.data["title"] == "tried", result.text
        assert ("site.localhost", "/slow") in site.requests
        arrived = [(host, at) for host, at in site.requests if host != OWN or (path and at.startswith(path))]
        assert arrived == [], arrived


async def test_a_redirect_to_a_blocked_path_of_the_same_host_is_not_followed(
    sandbox: LocalSandbox, blobs: MemoryBlobs, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pages = hostile(f"http://{OWN}/closed")
    async with (
        Site(tmp_path_factory.mktemp("site"), pages).serving() as site,
        Proxy(lambda _host: True, site.http_port, site.tls_port).serving() as address,
    ):
        bench = Bench(sandbox, blobs, [], browser=BLOCKED)

        result = await bench.run(Browse(address, PATIENCE), {"url": f"http://{OWN}/leads-on", "screenshot": False})

    assert (result.ok, result.error) == (False, "refused")
    assert "url.blocked" in result.text
    assert [at for _, at in site.requests] == ["/leads-on"]
