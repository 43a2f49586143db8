"""Results for calls that did not run or did not end well, in words that a person and a planner can act on."""

from datetime import datetime

from activities.granting import Refused
from activities.preview import one_line
from contracts.language import Language
from contracts.provenance import Provenance
from contracts.texts import limits as limit_texts
from contracts.texts import tools as texts
from contracts.tools import ToolCall, ToolError, ToolResult

_OURS = Provenance(trusted=True, origins=("system",), confidentiality="public")


def not_understood(call: ToolCall, problem: str, rule: str, language: Language) -> ToolResult:
    """For an unknown tool and for arguments that do not fit."""
    if rule == "unknown_tool":
        return _bad(call, texts.UNKNOWN_TOOL.say(language, tool=one_line(call.tool, 64)), "unknown_tool")
    return _bad(call, texts.BAD_ARGUMENTS.say(language, problem=problem), "bad_arguments")


def denied(call: ToolCall, refused: Refused, language: Language) -> ToolResult:
    """For a call that policy or the lack of an approval keeps from running."""
    text = texts.DENIED.say(language, why=refused.say(language))
    if refused.ask_again:
        return changed(call, text, refused.rules)
    return _bad(call, text, "denied", rules=refused.rules)


def wrong_runtime(call: ToolCall, demanded: str, found: str, language: Language) -> ToolResult:
    """For a call that policy lets run under one runtime alone, where the sandbox has another."""
    why = limit_texts.RUNTIME_DEMANDED.say(language, demanded=demanded, found=found)
    return _bad(call, texts.DENIED.say(language, why=why), "denied")


def changed(call: ToolCall, text: str, rules: tuple[str, ...] = ()) -> ToolResult:
    """For a call that would now do something else than what was judged."""
    return _bad(call, text, "changed", rules=rules)


def uncertain(call: ToolCall, started_at: datetime, language: Language) -> ToolResult:
    """For a call whose effect may have happened, and that may not be tried twice."""
    text = texts.UNCERTAIN.say(language, started=f"{started_at:%Y-%m-%d %H:%M:%S %Z}".strip())
    return _bad(call, text, "uncertain", headline=texts.UNCERTAIN_HEADLINE.say(language))


def failed(call: ToolCall, detail: str, language: Language) -> ToolResult:
    """For a tool that broke down; the detail is short and holds no stack trace."""
    return _bad(call, texts.TOOL_FAILED.say(language, tool=call.tool, detail=one_line(detail)), "failed")


def timed_out(call: ToolCall, limit_seconds: float, language: Language) -> ToolResult:
    """For a tool that did not end by itself in its time."""
    return _bad(call, texts.TOOL_TIMED_OUT.say(language, tool=call.tool, limit=limit_seconds), "timed_out")


def _bad(call: ToolCall, text: str, error: ToolError, *, headline: str = "", rules: tuple[str, ...] = ()) -> ToolResult:
    return ToolResult(
        call_id=call.call_id,
        tool=call.tool,
        ok=False,
        headline=one_line(headline or text),
        text=text,
        data={"rules": list(rules)} if rules else {},
        provenance=_OURS,
        error=error,
    )
