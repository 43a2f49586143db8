"""The tool `read`: fetch an address without a browser and give its readable text."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from activities.addresses import WebAddress, joined, web_address
from activities.arguments import parse, schema_of
from activities.documents import Document, NotText, PdfUnreadable, document, media_type_of
from activities.fetching import MOST_BYTES, CurlMissing, Fetched, FetchFailed, FetchTooLarge, fetch
from activities.output import keep, show
from activities.parts import ToolParts
from activities.preview import one_line, preview
from activities.tool import BadArguments, Tool, ToolContext
from activities.webtext import framed, from_web, seen
from contracts.language import Language
from contracts.messages import Attachment
from contracts.provenance import ToolLabels
from contracts.texts import tools as texts
from contracts.texts.visits import ADDRESS_CLOSED
from contracts.tools import RESULT_TEXT_BYTES, ToolError, ToolResult, ToolSpec
from contracts.values import JsonObject, Value
from contracts.verdicts import VisitAction
from policy.passage import Passage, opened

MOST_REDIRECTS = 5
_TIMED_OUT = 28
_PROXY_GONE = frozenset({5, 7})
_TLS = frozenset({35, 51, 58, 60, 77, 83, 90, 91})
_GONE = frozenset({404, 410})


class Arguments(Value):
    """What `read` is asked."""

    url: Annotated[str, Field(min_length=1, description="An http or https address.")]


SPEC = ToolSpec(
    name="read",
    description="Fetch a web address without a browser and give its readable text: HTML, PDF, JSON or plain text.",
    parameters=schema_of(Arguments),
    repeatable=True,
    needs_sandbox=True,
    labels=ToolLabels(
        effects=("read", "egress"), output="foreign", confidentiality="public", arguments={"url": "destination"}
    ),
)


@dataclass(frozen=True)
class Read:
    """Follows redirects on the same host; one to another host is told, for policy has not judged that host."""

    proxy: str
    spec: ToolSpec = SPEC

    def actions(self, args: JsonObject) -> tuple[VisitAction, ...]:
        return (VisitAction(url=_address(args).href),)

    def summary(self, args: JsonObject, language: Language) -> str:
        return one_line(texts.READ_SUMMARY.say(language, url=_address(args).href))

    def preview(self, args: JsonObject) -> str:
        return preview({"url": _address(args).href})

    def timeout_seconds(self, args: JsonObject) -> float:
        return 240.0

    async def run(self, args: JsonObject, context: ToolContext) -> ToolResult:
        return await self._followed(_address(args), MOST_REDIRECTS, context)

    async def _followed(self, address: WebAddress, hops_left: int, context: ToolContext) -> ToolResult:
        context.beat("fetching")
        try:
            fetched = await fetch(context.sandbox, address, self.proxy)
        except (CurlMissing, FetchTooLarge, FetchFailed) as error:
            return _failed(address, error, context)
        if not fetched.location:
            return await _answered(address, fetched, context)
        try:
            target = joined(address, fetched.location)
        except BadArguments as problem:
            return _problem(context, address, "failed", str(problem))
        if target.host != address.host:
            return _led_away(address, target, context)
        if (rule := Passage(context.browser, opened(address.href, context.egress)).closed(target.href)) is not None:
            text = ADDRESS_CLOSED.say(context.language, url=one_line(target.href), rule=str(rule))
            return _problem(context, address, "refused", text, redirect=target.href)
        if hops_left == 0:
            text = texts.TOO_MANY_REDIRECTS.say(context.language, url=one_line(address.href), limit=MOST_REDIRECTS)
            return _problem(context, address, "failed", text)
        return await self._followed(target, hops_left - 1, context)


def tools(parts: ToolParts) -> list[Tool]:
    return [Read(parts.proxy)]


def _address(args: JsonObject) -> WebAddress:
    return web_address(parse(Arguments, args).url)


async def _answered(address: WebAddress, fetched: Fetched, context: ToolContext) -> ToolResult:
    try:
        words = await document(fetched.body, fetched.content_type, address.href, context.sandbox)
    except NotText as kind:
        text = texts.IS_NOT_TEXT.say(context.language, url=one_line(address.href), media_type=one_line(str(kind), 80))
        return _problem(context, address, "refused", text, await _kept(fetched, context), fetched.status)
    except PdfUnreadable as problem:
        file = await _kept(fetched, context)
        return _problem(context, address, "refused", _pdf_words(address, problem, file, context), file, fetched.status)
    return await _result(address, fetched, words, context)


async def _result(address: WebAddress, fetched: Fetched, words: Document, context: ToolContext) -> ToolResult:
    language, problem = context.language, ""
    if fetched.status >= 400:
        problem = texts.PAGE_STATUS.say(language, host=address.host, status=fetched.status)
    whole = framed(words.title, address.href, fetched.status, [problem] if problem else [], words.text, language)
    name = f"page-{context.call_id}.txt"
    shown = await show(
        whole.encode("utf-8", "replace"), name, RESULT_TEXT_BYTES, blobs=context.blobs, language=language
    )
    title = words.title or address.href
    return ToolResult(
        call_id=context.call_id,
        tool="read",
        ok=not problem,
        headline=one_line(problem) if problem else seen(title, fetched.status, language),
        text=shown.text,
        data={
            "title": one_line(words.title, 500),
            "url": address.href,
            "status": fetched.status,
            "media_type": media_type_of(fetched.content_type, fetched.body),
            "size": len(fetched.body),
            "text": words.text[:RESULT_TEXT_BYTES],
        },
        files=(shown.file,) if shown.file else (),
        provenance=from_web(address.href),
        error=_code(fetched.status),
    )


def _code(status: int) -> ToolError | None:
    if status < 400:
        return None
    return "not_found" if status in _GONE else "failed"


async def _kept(fetched: Fetched, context: ToolContext) -> Attachment:
    media_type = media_type_of(fetched.content_type, fetched.body)
    ending = ".pdf" if media_type == "application/pdf" else ".bin"
    return await keep(fetched.body, f"fetched-{context.call_id}{ending}", media_type, context.blobs)


def _pdf_words(address: WebAddress, problem: PdfUnreadable, file: Attachment, context: ToolContext) -> str:
    detail = texts.PDF_NEEDS_POPPLER.say(context.language) if problem.tool_missing else one_line(str(problem))
    return texts.PDF_UNREADABLE.say(context.language, url=one_line(address.href), detail=detail, name=file.name)


def _led_away(address: WebAddress, target: WebAddress, context: ToolContext) -> ToolResult:
    text = texts.REDIRECTED_AWAY.say(
        context.language, url=one_line(address.href), location=one_line(target.href, 2_000)
    )
    return _problem(context, address, "refused", text, redirect=target.href)


def _failed(address: WebAddress, error: Exception, context: ToolContext) -> ToolResult:
    language, url = context.language, one_line(address.href)
    if isinstance(error, CurlMissing):
        return _problem(context, address, "unavailable", texts.CURL_MISSING.say(language))
    if isinstance(error, FetchTooLarge):
        return _problem(context, address, "refused", texts.TOO_LARGE.say(language, url=url, limit=MOST_BYTES))
    if isinstance(error, FetchFailed):
        return _problem(context, address, *_told(address, error, language))
    raise error


def _told(address: WebAddress, error: FetchFailed, language: Language) -> tuple[ToolError, str]:
    host, detail = address.host, one_line(str(error))
    if error.curl_code == _TIMED_OUT:
        return "timed_out", texts.NETWORK_FAILED.say(language, host=host, detail=detail)
    if error.refused:
        return "refused", texts.HOST_REFUSED.say(language, host=host)
    if error.curl_code in _PROXY_GONE:
        return "unavailable", texts.PROXY_MISSING.say(language)
    if error.curl_code in _TLS:
        return "failed", texts.TLS_FAILED.say(language, host=host, detail=detail)
    return "failed", texts.NETWORK_FAILED.say(language, host=host, detail=detail)


def _problem(
    context: ToolContext,
    address: WebAddress,
    error: ToolError,
    text: str,
    file: Attachment | None = None,
    status: int | None = None,
    redirect: str | None = None,
) -> ToolResult:
    return ToolResult(
        call_id=context.call_id,
        tool="read",
        ok=False,
        headline=one_line(text),
        text=text,
        data={"url": address.href, "status": status, "redirect": redirect},
        files=(file,) if file else (),
        provenance=from_web(address.href),
        error=error,
    )
