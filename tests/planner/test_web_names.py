"""Which addresses and hosts a person has named, in sentences as people write them."""

import time

import pytest

from activities.planners.web_names import MAX_HOSTS, first_address, replace_urls, spoken_hosts, urls_in


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("see https://a.com/x.", ["https://a.com/x"]),
        ("(https://a.com/x_(y))", ["https://a.com/x_(y)"]),
        ("<https://a.com>, 'http://b.com/?q=1#f'!", ["https://a.com", "http://b.com/?q=1#f"]),
        ("打开https://a.com/页面，谢谢", ["https://a.com/"]),
        ("打开https://a.com并总结", ["https://a.com"]),
        ("看（https://a.com/x）。", ["https://a.com/x"]),
        ("https://例子.测试/x", ["https://例子.测试/x"]),
        ("http://127.0.0.1:8000/a", ["http://127.0.0.1:8000/a"]),
        ("http://[::1]:80/", ["http://[::1]:80/"]),
        ("ftp://a.com javascript:alert(1) http://", []),
        ("HTTPS://A.COM/X", ["HTTPS://A.COM/X"]),
    ],
)
def test_urls_are_found_without_the_sentence_around_them(text: str, urls: list[str]) -> None:
    assert urls_in(text) == urls


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("go to example.com and www.b.co.uk/x", ("example.com", "www.b.co.uk")),
        ("http://EXAMPLE.com:8080/a", ("example.com",)),
        ("http://0x7f.1/", ("127.0.0.1",)),
        ("https://user:pw@a.com@b.com/", ("b.com",)),
        ("https://例子.com", ("xn--fsqu00a.com",)),
        ("write report.md, run.sh, main.py and data.zip", ()),
        ("report.md/raw is at www.report.md", ("report.md", "www.report.md")),
        ("mail bob@example.com", ()),
        ("version 1.2.3 costs 3.50 e.g. now", ()),
        ("foo.notatld and a..b", ()),
        ("/browse localhost:8000/x", ("localhost",)),
        ("/read intranet", ("intranet",)),
        ("请看 example.com，谢谢", ("example.com",)),
        ("a.com a.com A.com", ("a.com",)),
    ],
)
def test_the_hosts_that_a_person_named_are_spelled_as_a_browser_spells_them(text: str, hosts: tuple[str, ...]) -> None:
    assert spoken_hosts([text]) == hosts


def test_a_pasted_list_of_hosts_stays_small_enough_for_history() -> None:
    assert len(spoken_hosts([" ".join(f"https://h{number}.com" for number in range(5_000))])) == MAX_HOSTS


@pytest.mark.parametrize("text", ["a." * 100_000, "https://" * 30_000, "a-" * 100_000, "." * 200_000, "(" * 200_000])
def test_hostile_texts_are_read_in_time(text: str) -> None:
    started = time.process_time()

    spoken_hosts([text])
    replace_urls(text[:4_000])

    assert time.process_time() - started < 5


def test_taking_addresses_out_leaves_the_sentence() -> None:
    assert replace_urls("open the page at https://a.com/x, and read b.com") == (
        "open the page , and read ",
        ["https://a.com/x", "https://b.com"],
    )
    assert first_address("nothing here") is None
