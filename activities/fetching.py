"""Fetch one address with curl inside the sandbox, through its proxy, within limits, and without following anything."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from activities.addresses import WebAddress
from activities.output import plain, whole
from contracts.sandbox import Captured, Command, CommandOutcome, FileRefused, Sandbox

MOST_BYTES = 20 * 1024 * 1024
MOST_SECONDS = 60
_CONNECT_SECONDS = 20
_MISSING = 127
_USER_AGENT = "Mozilla/5.0 (compatible; AgentSandboxOS/0.1)"


REFUSAL_HEADER = "x-asos-reason"
"""Stands in an answer of the egress proxy itself."""


class CurlMissing(Exception):
    """Raised when the sandbox has no curl."""


class FetchTooLarge(Exception):
    """Raised when an answer is longer than MOST_BYTES."""


class FetchFailed(Exception):
    """Raised when there was no answer; `curl_code` is curl's exit code, `refused` if the proxy let nothing through."""

    def __init__(self, curl_code: int, detail: str, *, refused: bool = False) -> None:
        super().__init__(detail)
        self.curl_code = curl_code
        self.refused = refused


@dataclass(frozen=True)
class Fetched:
    """One answer."""

    status: int
    content_type: str
    location: str
    """Where a redirect leads; empty for any other answer."""
    body: bytes


class _Report(BaseModel):
    """The fields of curl's own report that are used; it has many more."""

    model_config = ConfigDict(extra="ignore")

    response_code: int = 0
    http_connect: int = 0
    content_type: str | None = None
    redirect_url: str | None = None
    errormsg: str | None = None
    refusal: str = ""
    """Why the proxy answered by itself."""


async def fetch(sandbox: Sandbox, address: WebAddress, proxy: str) -> Fetched:
    """Raises: CurlMissing, FetchTooLarge, FetchFailed, SandboxLost."""
    outcome = await sandbox.run(Command(argv=_argv(address, proxy), cwd="/", timeout_seconds=MOST_SECONDS + 15))
    if outcome.exit_code == _MISSING:
        raise CurlMissing
    report = _report(outcome)
    if outcome.exit_code != 0 or report.response_code == 0 or report.refusal:
        raise _failure(outcome, report)
    return Fetched(
        status=report.response_code,
        content_type=report.content_type or "",
        location=report.redirect_url or "",
        body=await _body(outcome.stdout, sandbox),
    )


def _argv(address: WebAddress, proxy: str) -> tuple[str, ...]:
    return (
        "curl",
        "--disable",  # a ~/.curlrc that the task wrote must not take part
        "--silent",
        "--globoff",
        "--proto",
        "=http,https",
        "--proxy",
        proxy,
        "--noproxy",
        "",
        "--connect-timeout",
        str(_CONNECT_SECONDS),
        "--max-time",
        str(MOST_SECONDS),
        "--max-filesize",
        str(MOST_BYTES),
        "--compressed",
        "--user-agent",
        _USER_AGENT,
        "--write-out",
        "%{stderr}%{json}\n%header{" + REFUSAL_HEADER + "}",
        "--url",
        address.href,
    )


def _report(outcome: CommandOutcome) -> _Report:
    try:
        written, _, refusal = (outcome.stderr.head + outcome.stderr.tail).rpartition(b"\n")
        return _Report.model_validate_json(written).model_copy(update={"refusal": plain(refusal).strip()})
    except ValidationError:
        return _Report(errormsg=plain(outcome.stderr.head).strip()[:300])


def _failure(outcome: CommandOutcome, report: _Report) -> Exception:
    too_large = 63
    if outcome.exit_code == too_large:
        return FetchTooLarge()
    timed_out = 28
    code = timed_out if outcome.exit_code is None else outcome.exit_code
    refused = report.http_connect >= 400 or bool(report.refusal)
    return FetchFailed(code, report.errormsg or report.refusal or f"curl ended with code {code}", refused=refused)


async def _body(captured: Captured, sandbox: Sandbox) -> bytes:
    if captured.total_bytes > MOST_BYTES or captured.clipped:
        raise FetchTooLarge
    try:
        return await whole(captured, sandbox.files)
    except FileRefused as refused:
        raise FetchFailed(0, str(refused)) from refused
