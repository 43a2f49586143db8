"""The text of a visited or fetched page as tools give it: a frame that is ours around words that are the web's."""

from collections.abc import Sequence

from activities.addresses import web_address
from activities.preview import one_line
from activities.tool import BadArguments
from contracts.language import Language
from contracts.provenance import Provenance
from contracts.texts import tools as texts


def framed(title: str, url: str, status: int | None, notes: Sequence[str], text: str, language: Language) -> str:
    """Title, address and status, then what the person should know of the visit, then the page's own words."""
    frame = texts.PAGE_FRAME.say(
        language, title=titled(title, language), url=one_line(url, 2_000), status="-" if status is None else status
    )
    return "\n\n".join(part for part in ("\n".join((frame, *notes)), text or texts.PAGE_EMPTY.say(language)) if part)


def titled(title: str, language: Language) -> str:
    return one_line(title) or texts.PAGE_UNTITLED.say(language)


def seen(title: str, status: int | None, language: Language) -> str:
    """The headline of a page."""
    return one_line(texts.PAGE_SEEN.say(language, title=titled(title, language)[:150], status=status or "-"))


def from_web(*urls: str) -> Provenance:
    """Everything that a page says is somebody else's word."""
    origins = tuple(dict.fromkeys(f"web:{_origin(url)}" for url in urls if url))
    return Provenance(trusted=False, origins=origins, confidentiality="public")


def _origin(url: str) -> str:
    try:
        return web_address(url).origin
    except BadArguments:
        return "unknown"
