"""Addresses, accounts and mail addresses in a text, each in the one spelling that they are compared in."""

import re

import tldextract
from ada_url import URL

from policy.hosts import normal_host

_MAIL = re.compile(r"(?<![\w.+%-])[a-z0-9.+%_'-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+(?![\w@-])", re.IGNORECASE)
_WHOLE_MAIL = re.compile(r"[^\s@<>\"',;]+@[^\s@<>\"',;]+")
_ACCOUNT = re.compile(r"(?<![a-z0-9])[a-z]{2}\d{2}(?:[ -]?[a-z0-9]){8,30}(?![a-z0-9])", re.IGNORECASE)
_WHOLE_ACCOUNT = re.compile(r"(?=(?:[ -]?[a-z0-9])*[0-9]{4})[a-z0-9](?:[ -]?[a-z0-9]){7,33}", re.IGNORECASE)
_LINK = re.compile(
    r"(?<![\w@.-])(?:https?://[^\s<>\"'`，。；！？、（）《》]+|(?:[a-z0-9-]+\.)+[a-z]{2,24}(?::\d+)?(?:/[^\s<>\"'`，。；！？、（）《》]*)?)",
    re.IGNORECASE | re.ASCII,
)
_TAIL = ".,;:!?'\"`*)]}>"
_suffixes = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
_FILE_ENDINGS = frozenset("cc md ml mov pl pm ps py rs sh so ts vi zip".split())


def mails_in(words: str) -> frozenset[str]:
    """Mail addresses in folded words."""
    return frozenset(found.rstrip(".'") for found in _MAIL.findall(words))


def links_in(text: str) -> tuple[str, ...]:
    """Addresses of the web in a text, as they are written; a file's name is none."""
    return tuple(found for found in (place.rstrip(_TAIL) for place in _LINK.findall(text)) if _is_link(found))


def accounts_in(text: str) -> tuple[str, ...]:
    """Numbers of accounts with a country and a check number, as IBANs have."""
    return tuple(compact(found) for found in _ACCOUNT.findall(text) if sum(map(str.isdigit, found)) >= 8)


def compact(account: str) -> str:
    """An account without the blanks that people group it by."""
    return re.sub(r"[ -]", "", account).upper()


def is_mail(text: str) -> bool:
    return _WHOLE_MAIL.fullmatch(text) is not None


def is_account(text: str) -> bool:
    return _WHOLE_ACCOUNT.fullmatch(text) is not None


def is_link(text: str) -> bool:
    """Whether the whole text is one address of the web."""
    return " " not in text and (text.lower().startswith(("http://", "https://")) or links_in(text) == (text,))


def address_of(text: str) -> tuple[str, str] | None:
    """Host with port, and the rest of an address; None if it is none. A browser's reading of it, not a reader's."""
    try:
        url = URL(text if "://" in text else f"https://{text}")
    except ValueError:
        return None
    host = normal_host(url.hostname)
    return (f"{host}:{url.port}" if url.port else host, (url.pathname.rstrip("/") + url.search)) if host else None


def _is_link(text: str) -> bool:
    if "://" in text:
        return address_of(text) is not None
    name = text.split("/", 1)[0].split(":", 1)[0]
    ending = name.rsplit(".", 1)[-1].lower()
    if ending in _FILE_ENDINGS and "/" not in text and not name.lower().startswith("www."):
        return False
    found = _suffixes(name)
    return bool(found.suffix and found.domain)
