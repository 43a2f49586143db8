"""Which hosts a grant opens."""

import pytest

from contracts.messages import HostGrant
from sandbox.grants import Grants, canonical_host


@pytest.mark.parametrize(
    ("pattern", "host", "port", "opens"),
    [
        ("example.org", "example.org", 443, True),
        ("EXAMPLE.org.", "example.org", 443, True),
        ("example.org", "EXAMPLE.ORG.", 443, True),
        ("例子.测试", "xn--fsqu00a.xn--0zwm56d", 443, True),
        ("example.org", "example.org", 80, False),
        ("example.org", "www.example.org", 443, False),
        ("example.org", "notexample.org", 443, False),
        ("example.org", "example.org.evil.net", 443, False),
        ("*.example.org", "a.b.example.org", 443, True),
        ("*.example.org", "example.org", 443, False),
        ("*.example.org", "evilexample.org", 443, False),
        ("*", "anything.net", 443, True),
        ("*", "anything.net", 22, False),
        ("ex*mple.org", "example.org", 443, False),
        ("*.*", "example.org", 443, False),
        ("", "example.org", 443, False),
        ("2606:4700::1111", "[2606:4700:0:0::1111]", 443, True),
    ],
)
def test_a_grant_opens_what_it_names(pattern: str, host: str, port: int, opens: bool) -> None:
    grants = Grants([HostGrant(host=pattern)])

    assert bool(grants.matching(canonical_host(host) or "", port)) is opens


@pytest.mark.parametrize(
    "host", ["", "a/b", "a@b", "a b", "a\r\nb", "a%00b", "a?b", "a#b", "::1", "a\\b", "a:1:2", "[::1", "x\0y"]
)
def test_what_is_no_host_has_no_spelling(host: str) -> None:
    assert canonical_host(host) is None


@pytest.mark.parametrize("spelling", ["0x7f.1", "2130706433", "127.1", "0177.0.0.1", "127.0.0.1.", "１２７.0.0.1"])
def test_odd_spellings_of_a_number_have_one_form(spelling: str) -> None:
    assert canonical_host(spelling) == "127.0.0.1"
