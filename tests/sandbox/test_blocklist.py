"""The list of malicious domains: its formats, its size, and how it follows its file."""

import asyncio
import logging
from pathlib import Path

import pytest

from contracts.messages import HostGrant
from sandbox.blocklist import BlocklistBroken, BlocklistFile, read_blocklist
from sandbox.house import HouseRules
from tests.sandbox.proxies import connect, get, proxy, saying

HOSTS = """# a list in the format of /etc/hosts
127.0.0.1 localhost localhost.localdomain
::1 ip6-localhost
fe80::1%lo0 localhost
255.255.255.255 broadcasthost
0.0.0.0 evil.example  tracker.evil2.example # a remark
0.0.0.0 UPPER.example.
"""
DOMAINS = """evil.example
*.tracker.evil2.example
.upper.example

# IDN in both spellings
例子.测试
xn--bcher-kva.example
under_score.example
com
"""


@pytest.mark.parametrize("text", [HOSTS, DOMAINS])
@pytest.mark.parametrize(
    ("host", "rule"),
    [
        ("evil.example", "evil.example"),
        ("a.b.evil.example", "evil.example"),
        ("notevil.example", None),
        ("example", None),
        ("tracker.evil2.example", "tracker.evil2.example"),
        ("evil2.example", None),
        ("upper.example", "upper.example"),
        ("localhost", None),
        ("innocent.com", None),
        ("1.2.3.4", None),
    ],
)
def test_a_listed_name_is_closed_with_all_below_it(text: str, host: str, rule: str | None, tmp_path: Path) -> None:
    (tmp_path / "list").write_text(text, encoding="utf-8")

    assert read_blocklist(tmp_path / "list").rule_for(host) == rule


def test_names_of_other_scripts_and_odd_names_are_known_by_their_one_spelling(tmp_path: Path) -> None:
    (tmp_path / "list").write_text(DOMAINS, encoding="utf-8")
    found = read_blocklist(tmp_path / "list")

    assert found.rule_for("a.xn--fsqu00a.xn--0zwm56d") == "xn--fsqu00a.xn--0zwm56d"
    assert found.rule_for("xn--bcher-kva.example") is not None
    assert found.rule_for("under_score.example") is not None


def test_an_address_is_closed_alone(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("2.3.4.5\n3.4.5.6\n")
    found = read_blocklist(tmp_path / "list")

    assert found.rule_for("2.3.4.5") == "2.3.4.5"
    assert found.rule_for("1.3.4.5") is None


@pytest.mark.parametrize("count", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_very_many_lines_are_held_and_told_apart(count: int, tmp_path: Path) -> None:
    with (tmp_path / "list").open("w") as file:
        file.writelines(f"host{number}.bad{number % 977}.example\n" for number in range(count))
    found = read_blocklist(tmp_path / "list")

    last = f"host{count - 1}.bad{(count - 1) % 977}.example"
    assert len(found) == count
    assert found.rule_for(f"www.{last}") == last
    assert found.rule_for(last.replace("bad", "good")) is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"<!doctype html>\n<html><body>404 not found</body></html>\n", ":1: no domain"),
        (b"\x7fELF\0\0\0", "a NUL byte"),
        (b"good.example\n\0\n", ":2: a NUL byte"),
        (b"# nothing but a remark\n", "names no domain"),
        (b"", "names no domain"),
        (b"not an address of.example\n", ":1: no domain"),
        (b"good.example\n\xff\xfe.example\n", ":2: no domain"),
    ],
)
def test_a_file_that_is_no_list_is_refused_with_its_line(content: bytes, problem: str, tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(content)

    with pytest.raises(BlocklistBroken) as raised:
        read_blocklist(tmp_path / "list")
    assert problem in str(raised.value)
    assert str(tmp_path / "list") in str(raised.value)


def test_a_few_odd_lines_do_not_make_a_list_worthless(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lines = [*(f"n{number}.example" for number in range(200)), "what is this line", "last.example"]
    (tmp_path / "list").write_text("\n".join(lines))

    assert len(read_blocklist(tmp_path / "list")) == 201
    assert "such as line 201" in caplog.text


async def test_the_file_is_read_again_and_a_broken_one_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    path = tmp_path / "list"
    path.write_text("a.test\n")
    house = HouseRules(blocklist=BlocklistFile(path))
    async with saying(b"HTTP/1.1 204 No Content\r\n\r\n") as site, proxy(site.grant, house=house) as it:
        await it.ask(get("http://site.test/"))
        path.write_text("a.test\nsite.test\n")
        refused = await it.ask(get("http://site.test/"))
        path.write_text("<html>\n")
        await it.ask(get("http://site.test/"))
        path.unlink()
        await asyncio.gather(*(it.ask(get("http://site.test/")) for _ in range(3)))
        path.write_text("b.test\n")
        await it.ask(get("http://site.test/"))

    assert [one.reason for one in it.records] == ["allowed", *["blocklisted"] * 5, "allowed"]
    assert b"list of malicious domains (site.test)" in refused
    assert [record.levelname for record in caplog.records if "blocklist" in record.message] == [
        "INFO", "ERROR", "ERROR", "INFO",
    ]  # fmt: skip


async def test_a_listed_name_is_closed_whatever_was_granted(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("evil.test\n8.8.4.4\n")
    house = HouseRules(blocklist=BlocklistFile(tmp_path / "list"))
    pinned = HostGrant(host="a.evil.test", address="127.0.0.1:1")
    async with proxy(HostGrant(host="*"), pinned, names={"good.test": ["8.8.4.4"]}, house=house) as it:
        for name in ("evil.test", "a.evil.test", "A.Evil.TEST.", "good.test"):
            await it.ask(connect(f"{name}:443"))

    assert [one.reason for one in it.records] == ["blocklisted"] * 4


def test_nothing_starts_without_the_list_that_was_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        BlocklistFile(tmp_path / "absent")
