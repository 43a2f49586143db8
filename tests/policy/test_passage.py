"""What a page may fetch while it is shown, and what the way out closes to a role."""

import pytest

from contracts.messages import HostGrant
from policy.hosts import HostPattern
from policy.passage import Passage, opened
from policy.roles import BrowserRules

RULES = BrowserRules(blocked=(HostPattern.parse("bank.example/transfer"), HostPattern.parse("evil.test")))
GRANTS = (
    HostGrant(host="*.cdn.test"),
    HostGrant(host="8.8.8.8", port=80),
    HostGrant(host="127.0.0.1", port=80),
    HostGrant(host="inner.test", port=8080, address="10.0.0.1:8080"),
    HostGrant(host="evil.test"),
    HostGrant(host="localhost"),
)


@pytest.mark.parametrize(
    ("address", "rule"),
    [
        ("https://bank.example/", None),
        ("https://bank.example/x?next=/transfer", None),
        ("https://bank.example/transfer", "url.blocked"),
        ("https://bank.example/%74ransfer/", "url.blocked"),
        ("https://bank.example/x/..;/transfer", "url.blocked"),
        ("wss://bank.example/live", None),
        ("wss://bank.example/transfer", "url.blocked"),
        ("ws://bank.example/live", "url.unlisted"),
        ("http://bank.example/", "url.unlisted"),
        ("https://bank.example:8443/", "url.unlisted"),
        ("https://www.bank.example/", "url.unlisted"),
        ("https://a.cdn.test/x.js", None),
        ("https://cdn.test/x.js", "url.unlisted"),
        ("https://xcdn.test/x.js", "url.unlisted"),
        ("https://evil.test/", "url.blocked"),
        ("https://a.evil.test/", "url.blocked"),
        ("http://8.8.8.8/", None),
        ("http://127.0.0.1/", "url.private_address"),
        ("http://inner.test:8080/", None),
        ("https://169.254.169.254/", "url.unlisted"),
        ("https://u:p@bank.example/", "url.user_info"),
        ("data:text/html,x", None),
        ("blob:https://bank.example/1", None),
        ("about:blank", None),
        ("file:///etc/passwd", "url.scheme"),
        ("filesystem:https://bank.example/x", "url.scheme"),
        ("chrome://settings/", "url.scheme"),
        ("view-source:https://bank.example/", "url.scheme"),
        ("ftp://bank.example/", "url.scheme"),
        ("javascript:1", "url.scheme"),
        ("", "url.invalid"),
        ("https://", "url.invalid"),
    ],
)
def test_a_visit_fetches_what_is_open_to_its_call_and_not_closed_to_its_role(address: str, rule: str | None) -> None:
    assert Passage(RULES, opened("https://bank.example/", GRANTS)).closed(address) == rule
