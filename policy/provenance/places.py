"""Addresses, accounts and mail addresses in a text, each in the one spelling that they are compared in."""

import re

import tldextract
from ada_url import URL

from policy.hosts import normal_host

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_LETTER = rf"(?![{_CJK}])\w"
"""Chinese has no blanks around an address; a letter of any other script beside it belongs to it."""

_MAIL = re.compile(
    rf"(?<![.+%-])(?<!{_LETTER})[a-z0-9_](?:[a-z0-9.+%_'-]*[a-z0-9_+-])?@[a-z0-9-]+(?:\.[a-z0-9-]+)+(?!{_LETTER}|[@-])",
    re.IGNORECASE,
)
_WHOLE_MAIL = re.compile(r"[^\s@<>\"',;]+@[^\s@<>\"',;]+")
_ACCOUNT = re.compile(r"(?<![a-z0-9])[a-z]{2}\d{2}(?:[ -]?[a-z0-9]){8,30}(?![a-z0-9])", re.IGNORECASE)
_WHOLE_ACCOUNT = re.compile(r"[a-z0-9](?:[ -]?[a-z0-9]){7,33}", re.IGNORECASE)
_FEWEST_DIGITS = 4
_LINK = re.compile(
    r"(?<![\w@.-])(?:https?://[^\s<>\"'`，。；！？、（）《》]+|(?:[a-z0-9-]+\.)+[a-z]{2,24}(?::\d+)?(?:/[^\s<>\"'`，。；！？、（）《》]*)?)",
    re.IGNORECASE | re.ASCII,
)
_TAIL = ".,;:!?'\"`*)]}>"
_suffixes = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
_FILE_ENDINGS = frozenset(["cc", "md", "ml", "mov", "pl", "pm", "ps", "py", "rs", "sh", "so", "ts", "vi", "zip"])


def mails_in(words: str) -> frozenset[str]:
    """Mail addresses in folded words."""
    return frozenset(found.rstrip(".'") for found in _MAIL.findall(words))


def links_in(text: str) -> tuple[str, ...]:
    """Addresses of the web in a text, as they are written; a file's name is none."""
    found = (link for place in _LINK.findall(text) for link in _readings(place.rstrip(_TAIL)))
    return tuple(link for link in found if _is_link(link))


def accounts_in(text: str) -> tuple[str, ...]:
    """Numbers of accounts with a country and a check number, as IBANs have."""
    return tuple(compact(found) for found in _ACCOUNT.findall(text) if sum(map(str.isdigit, found)) >= 8)


def compact(account: str) -> str:
    """An account without the blanks that people group it by."""
    return account.replace(" ", "").replace("-", "").upper()


def is_mail(text: str) -> bool:
    return _WHOLE_MAIL.fullmatch(text) is not None


def is_account(text: str) -> bool:
    return _WHOLE_ACCOUNT.fullmatch(text) is not None and sum(map(str.isdigit, text)) >= _FEWEST_DIGITS


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


def _readings(text: str) -> tuple[str, ...]:
    """A blank that was forgotten after a sentence makes its host longer: `shop.com.They` means `shop.com`."""
    shorter, _, last = text.rpartition(".")
    return (text, shorter) if last[:1].isupper() and last.isalpha() and not _is_link(text) else (text,)


def _is_link(text: str) -> bool:
    if "://" in text:
        return address_of(text) is not None
    name = text.split("/", 1)[0].split(":", 1)[0]
    ending = name.rsplit(".", 1)[-1].lower()
    if ending in _FILE_ENDINGS and "/" not in text and not name.lower().startswith("www."):
        return False
    found = _suffixes(name)
    return bool(found.suffix and found.domain)
