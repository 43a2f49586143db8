"""From what was seen of a page to the result of `browse`."""

from dataclasses import dataclass

from activities.addresses import WebAddress
from activities.browsing.failures import problem_of
from activities.browsing.look import Looked
from activities.browsing.visit import Patience, Seen
from activities.extraction import readable
from activities.output import Shown, cleaned, keep, show
from activities.preview import one_line
from activities.tool import ToolContext
from activities.webtext import framed, from_web, seen, titled
from contracts.language import Language
from contracts.messages import Attachment
from contracts.provenance import Provenance
from contracts.texts import tools as texts
from contracts.tools import RESULT_TEXT_BYTES, ToolResult
from contracts.values import JsonObject

_LINKS_ROOM = 8_192


@dataclass(frozen=True)
class _Page:
    """The words of a page, cleaned."""

    title: str
    text: str


async def reported(what: Seen, asked: WebAddress, patience: Patience, context: ToolContext) -> ToolResult:
    """The result, whether or not the page was good."""
    problem = problem_of(what, asked, patience, context.language)
    page = await _page(what)
    links = _links(what.looked)
    body = "\n\n".join(part for part in (page.text, _linked(links, context.language)) if part)
    notes = [*([problem.text] if problem else []), *_notes(what, context.language)]
    url, status = what.url or asked.href, what.watch.status
    whole = framed(page.title, url, status, notes, body, context.language)
    shown = await show(
        whole.encode(), f"page-{context.call_id}.txt", RESULT_TEXT_BYTES, blobs=context.blobs, language=context.language
    )
    return ToolResult(
        call_id=context.call_id,
        tool="browse",
        ok=problem is None,
        headline=one_line(problem.text) if problem else seen(page.title, status, context.language),
        text=shown.text,
        data=_data(what, page, links, url),
        files=await _files(what, shown, context),
        provenance=from_web(asked.href, url),
        error=problem.code if problem else None,
    )


def unavailable(context: ToolContext, text: str) -> ToolResult:
    """For a sandbox without a working browser."""
    return ToolResult(
        call_id=context.call_id,
        tool="browse",
        ok=False,
        headline=one_line(text),
        text=text,
        provenance=Provenance(trusted=True, origins=("tool:browse",), confidentiality="public"),
        error="unavailable",
    )


async def _page(what: Seen) -> _Page:
    looked = what.looked
    found = await readable(looked.html.encode("utf-8", "replace"), what.url) if looked.html else None
    text = found.text if found and _is_enough(found.text, looked.text) else looked.text
    return _Page(title=cleaned(looked.title), text=cleaned(text).strip())


def _is_enough(extracted: str, visible: str) -> bool:
    """An extraction that kept next to nothing took the wrong part: then all that is visible is better."""
    return len(extracted) * 10 >= min(len(visible), 20_000) and bool(extracted.strip())


def _links(looked: Looked) -> list[dict[str, str]]:
    return [{"text": one_line(cleaned(link.text)), "url": one_line(link.url, 2_000)} for link in looked.links]


def _linked(links: list[dict[str, str]], language: Language) -> str:
    lines = [texts.PAGE_LINKS.say(language)]
    room = _LINKS_ROOM
    for link in links:
        line = f"- {link['text'] or '-'}: {link['url']}"
        room -= len(line.encode()) + 1
        if room < 0:
            break
        lines.append(line)
    return "\n".join(lines) if links else ""


def _notes(what: Seen, language: Language) -> list[str]:
    watch = what.watch
    notes = []
    if not what.settled and not what.failure and not what.timed_out:
        notes.append(texts.PAGE_STILL_LOADING.say(language))
    if what.looked.cut:
        notes.append(texts.PAGE_CUT.say(language))
    if watch.dialogs:
        notes.append(texts.PAGE_DIALOGS.say(language, words=one_line("; ".join(watch.dialogs))))
    if watch.popups:
        notes.append(texts.PAGE_POPUPS.say(language, urls=one_line("; ".join(watch.popups), 1_000)))
    if watch.blocked:
        notes.append(texts.PAGE_BLOCKED.say(language, hosts=one_line(", ".join(watch.blocked), 1_000)))
    return notes


def _data(what: Seen, page: _Page, links: list[dict[str, str]], url: str) -> JsonObject:
    watch = what.watch
    return {
        "title": one_line(page.title, 500),
        "url": url,
        "status": watch.status,
        "media_type": watch.media_type,
        "text": page.text[:RESULT_TEXT_BYTES],
        "links": [dict(link) for link in links],
        "blocked_hosts": list(watch.blocked),
        "settled": what.settled,
    }


async def _files(what: Seen, shown: Shown, context: ToolContext) -> tuple[Attachment, ...]:
    files = [shown.file] if shown.file else []
    if what.screenshot is not None:
        picture = await keep(what.screenshot, f"screenshot-{context.call_id}.png", "image/png", context.blobs)
        caption = titled(what.looked.title, context.language)
        files.append(picture.model_copy(update={"caption": caption}))
    return tuple(files)
