"""Addresses in what a person wrote: whole URLs, and the hosts that they name."""

import re
from collections.abc import Iterable

import ada_url
import tldextract

MAX_HOSTS = 200
"""The most hosts that are taken from one task: the list lies in workflow history at every step."""

FILE_LIKE_ENDINGS = frozenset(["cc", "md", "ml", "mov", "pl", "pm", "ps", "py", "rs", "sh", "so", "ts", "vi", "zip"])
"""Top-level domains that are far more often the ending of a file's name: `report.md` names no host."""

_URL = re.compile(
    r"\bhttps?://"
    # An ASCII host ends where Chinese text begins.
    r"(?:[a-z0-9.\-_~%:@\[\]]+|[^\s/?#<>\"'`，。；：！？、（）《》「」【】]+)"
    r"(?:[/?#][!-~]*)?",
    re.IGNORECASE | re.ASCII,
)
_NAME = re.compile(
    r"(?<![a-z0-9@._/\-])((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z][a-z0-9-]{1,62})((?::\d{1,5})?(?:/[!-~]*)?)"
    r"(?![a-z0-9@_-])",
    re.IGNORECASE | re.ASCII,
)
_LEAD = r"(?:(?<=\s)(?:at|from|of|on)\s+|[:：(（<]\s*)?"
_LED_URL = re.compile(rf"(?P<before>){_LEAD}(?P<url>{_URL.pattern})[)）>]?", re.IGNORECASE | re.ASCII)
_LED_NAME = re.compile(rf"(){_LEAD}{_NAME.pattern}", re.IGNORECASE | re.ASCII)
_NAMED_BY_COMMAND = re.compile(r"\A\s*/(?:browse|read)(?:@\w+)?\s+(?!https?://)([^\s/]+)", re.IGNORECASE)
"""`/browse localhost:8000` names a host, whatever it looks like."""

_CLOSING = {")": "(", "]": "[", "}": "{", ">": "<"}
_TAIL = ".,;:!?'\"`*"

_suffixes = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


def urls_in(text: str) -> list[str]:
    """Every http(s) URL in order, without the punctuation of the sentence around it."""
    return [url for url in map(_trimmed, _URL.findall(text)) if ada_url.check_url(url)]


def first_address(text: str) -> str | None:
    """The first URL, or the first bare domain name as an https URL."""
    found = urls_in(text)
    if found:
        return found[0]
    names = _names_in(text)
    return _trimmed(f"https://{''.join(names[0])}") if names else None


def replace_urls(text: str) -> tuple[str, list[str]]:
    """The text without its addresses and the word that leads to each, and the addresses in order."""
    found: list[str] = []

    def take(place: re.Match[str]) -> str:
        url = _trimmed(place["url"])
        if not ada_url.check_url(url):
            return place[0]
        found.append(url)
        return f"{place['before']}{place['url'][len(url) :]}"

    def take_name(place: re.Match[str]) -> str:
        if not _is_domain(place[2], place[3]):
            return place[0]
        url = _trimmed(f"https://{place[2]}{place[3]}")
        found.append(url)
        return f"{place[1]}{f'https://{place[2]}{place[3]}'[len(url) :]}"

    text = _LED_URL.sub(take, text)
    return _LED_NAME.sub(take_name, text), found


def spoken_hosts(texts: Iterable[str]) -> tuple[str, ...]:
    """Hosts as a browser spells them (lower case, punycode, plain IPv4), each once, in order of mention."""
    hosts: dict[str, None] = {}
    for text in texts:
        named = [*_NAMED_BY_COMMAND.findall(text), *(name for name, _ in _names_in(text))]
        for url in [*urls_in(text), *(f"https://{name}" for name in named)]:
            host = host_of(url)
            if host:
                hosts[host] = None
    return tuple(hosts)[:MAX_HOSTS]


def host_of(url: str) -> str:
    """The host that a browser would go to; empty if it is no URL."""
    return str(ada_url.URL(url).hostname).strip("[]") if ada_url.check_url(url) else ""


def _names_in(text: str) -> list[tuple[str, str]]:
    """Bare domain names with their port and path."""
    without_urls = _URL.sub(" ", text)
    return [(name, rest) for name, rest in _NAME.findall(without_urls) if _is_domain(name, rest)]


def _is_domain(name: str, rest: str) -> bool:
    ending = name.rsplit(".", 1)[1].lower()
    if ending in FILE_LIKE_ENDINGS and not rest and not name.lower().startswith("www."):
        return False
    return bool(_suffixes(name).suffix) and bool(_suffixes(name).domain)


def _trimmed(url: str) -> str:
    """Drop closing brackets that were not opened inside, and punctuation at the end."""
    while url:
        last = url[-1]
        opening = _CLOSING.get(last)
        if last in _TAIL or (opening and url.count(last) > url.count(opening)):
            url = url[:-1]
        else:
            break
    return url
