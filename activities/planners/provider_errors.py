"""What a provider's error means: never, with a remedy, or later, with a time."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite

import openai

from activities.planner import PlannerBusy, PlannerRefused
from contracts.language import Language
from contracts.texts import planner as texts

MAX_RETRY_AFTER_SECONDS = 3_600.0

_BY_CODE = {
    "insufficient_quota": "budget",
    "billing_hard_limit_reached": "budget",
    "context_length_exceeded": "context_window",
    "content_policy_violation": "content_policy",
    "content_filter": "content_policy",
}
_BY_KIND = {"ContextWindowExceededError": "context_window", "ContentPolicyViolationError": "content_policy"}
"""Names of litellm's own exceptions, for providers that say it in words only."""

_BY_STATUS = {401: "authentication", 402: "budget", 403: "authentication", 404: "not_found"}
_BUSY_STATUSES = frozenset({408, 409, 425, 429})


def translated(error: Exception, language: Language, model: str) -> PlannerRefused | PlannerBusy:
    """The provider's error as one of ours, without the provider's own words."""
    chain = _chain(error)
    code = next((_BY_CODE[code] for part in chain if (code := _code(part)) in _BY_CODE), "")
    code = code or _BY_KIND.get(type(error).__name__, "")
    status = next((found for part in reversed(chain) if (found := _status(part))), 0)
    code = code or _BY_STATUS.get(status, "")
    if not code and (reason := _busy_reason(chain, status)):
        return PlannerBusy(texts.BUSY_REASON[reason].say(language), _retry_after(chain))
    code = code or "bad_request"
    return PlannerRefused(code, texts.REMEDY[code].say(language, model=model))


def _chain(error: BaseException | None) -> list[BaseException]:
    """The error, and those that litellm made it of: they hold the provider's true status."""
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return chain


def _code(error: BaseException) -> str:
    body = getattr(error, "body", None)
    return str(body.get("code")) if isinstance(body, dict) else ""


def _status(error: BaseException) -> int:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else 0


def _busy_reason(chain: list[BaseException], status: int) -> str:
    """Why to ask again later; empty if that would not help."""
    if any(isinstance(part, openai.APITimeoutError) for part in chain):
        return "timeout"
    if any(isinstance(part, openai.APIConnectionError) for part in chain):
        return "connection"
    if status == 429:
        return "rate_limit"
    return "server" if status >= 500 or status in _BUSY_STATUSES or status in range(300) else ""


def _retry_after(chain: list[BaseException]) -> float | None:
    """Seconds, from a number or a date."""
    headers = [getattr(getattr(part, "response", None), "headers", None) or {} for part in chain]
    value = next((found.get("retry-after", "") for found in headers if found.get("retry-after")), "").strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        seconds = _seconds_until(value)
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_SECONDS) if isfinite(seconds) else None


def _seconds_until(date: str) -> float:
    try:
        return (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return 0.0
