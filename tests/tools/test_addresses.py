"""Which addresses the web tools take, and how policy sees them."""

import pytest

from activities.browsing.visit import Patience
from activities.tool import BadArguments, Tool
from activities.tools.browse import Browse
from activities.tools.read import Read
from contracts.verdicts import VisitAction

PROXY = "http://127.0.0.1:3128"
TOOLS = [Browse(PROXY, Patience()), Read(PROXY)]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:alert(1)", "http://u:p@site.test/", "http://", " ", "x" * 5_000]
)
def test_addresses_that_are_no_web_pages_are_refused(tool: Tool, url: str) -> None:
    with pytest.raises(BadArguments):
        tool.actions({"url": url})


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("url", "href"),
    [
        ("HTTP://ＳITE.test:80/a/../b", "http://site.test/b"),
        ("site.test/x", "https://site.test/x"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("https://site.test\\@other.test/", "https://site.test/@other.test/"),
        ("http://site.test/\tx\n", "http://site.test/x"),
        ("https://灯塔.test/", "https://xn--omsv47c.test/"),
    ],
)
def test_policy_sees_the_address_as_the_browser_reads_it(tool: Tool, url: str, href: str) -> None:
    assert tool.actions({"url": url}) == (VisitAction(url=href),)
