"""Why a page could not be read, from what Chromium and the server said, in words that help."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from activities.addresses import WebAddress
from activities.browsing.visit import Patience, Seen
from activities.preview import one_line
from contracts.language import Language
from contracts.texts import tools as texts
from contracts.texts.visits import ADDRESS_CLOSED
from contracts.tools import ToolError
from policy.rules import Rule

_NET_ERROR = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_GONE = frozenset({404, 410})
_HOST_REFUSED = frozenset({"ERR_TUNNEL_CONNECTION_FAILED", "ERR_BLOCKED_BY_CLIENT", "ERR_NAME_NOT_RESOLVED"})
_TIMED_OUT = frozenset({"ERR_TIMED_OUT", "ERR_CONNECTION_TIMED_OUT"})


@dataclass(frozen=True)
class Problem:
    """A code for programs, and a sentence for people."""

    code: ToolError
    text: str


def problem_of(what: Seen, asked: WebAddress, patience: Patience, language: Language) -> Problem | None:
    """None if the page is a good page that was read."""
    url = what.watch.url or asked.href
    if what.timed_out:
        return Problem("timed_out", texts.PAGE_TIMED_OUT.say(language, url=one_line(url), limit=patience.load_seconds))
    if what.failure:
        return _failed(what, url, language)
    return _unsuited(what, url, language) or _status(what, url, language)


def _failed(what: Seen, url: str, language: Language) -> Problem:
    host = urlsplit(url).hostname or url
    found = _NET_ERROR.search(what.failure)
    code = found[1] if found else ""
    if code == "ERR_ABORTED" or "Download is starting" in what.failure:
        media_type = what.watch.media_type or "application/octet-stream"
        return Problem("refused", texts.IS_DOWNLOAD.say(language, url=one_line(url), media_type=media_type))
    if code.startswith(("ERR_CERT_", "ERR_SSL_")):
        return Problem("failed", texts.TLS_FAILED.say(language, host=host, detail=code))
    if code == "ERR_PROXY_CONNECTION_FAILED":
        return Problem("unavailable", texts.PROXY_MISSING.say(language))
    rule = what.watch.passage.closed(url)
    if code == "ERR_BLOCKED_BY_CLIENT" and rule not in (None, Rule.URL_UNLISTED):
        return Problem("refused", ADDRESS_CLOSED.say(language, url=one_line(url), rule=str(rule)))
    if code in _HOST_REFUSED:
        return Problem("refused", texts.HOST_REFUSED.say(language, host=host))
    detail = code or one_line(what.failure)
    return Problem(
        "timed_out" if code in _TIMED_OUT else "failed",
        texts.NETWORK_FAILED.say(language, host=host, detail=detail),
    )


def _unsuited(what: Seen, url: str, language: Language) -> Problem | None:
    media_type = what.watch.media_type
    if media_type == "application/pdf":
        return Problem("refused", texts.IS_PDF_PAGE.say(language, url=one_line(url)))
    if media_type.startswith(("audio/", "video/")) or (media_type.startswith("image/") and what.screenshot is None):
        return Problem("refused", texts.IS_NOT_TEXT.say(language, url=one_line(url), media_type=media_type))
    return None


def _status(what: Seen, url: str, language: Language) -> Problem | None:
    status = what.watch.status
    if status is None or status < 400:
        return None
    host = urlsplit(url).hostname or url
    if what.watch.is_refused:
        return Problem("refused", texts.HOST_REFUSED.say(language, host=host))
    code: ToolError = "not_found" if status in _GONE else "failed"
    return Problem(code, texts.PAGE_STATUS.say(language, host=host, status=status))
