"""Run one tool so that whatever happens inside it becomes a result, except a failure of the platform."""

import asyncio
import logging
import traceback

from activities import outcomes
from activities.failures import is_platform_failure
from activities.redaction import Redact
from activities.tool import BadArguments, Tool, ToolContext
from contracts.sandbox import SandboxLost
from contracts.tools import ToolCall, ToolResult
from contracts.values import JsonObject

_log = logging.getLogger(__name__)


async def run_safely(
    tool: Tool, call: ToolCall, args: JsonObject, context: ToolContext, limit_seconds: float, redact: Redact
) -> ToolResult:
    """Raises: SandboxLost, and whatever `is_platform_failure` says is one."""
    try:
        async with asyncio.timeout(limit_seconds):
            return await tool.run(args, context)
    except SandboxLost:
        raise
    except BadArguments as problem:
        return outcomes.not_understood(call, str(problem), "bad_arguments", context.language)
    except TimeoutError:
        return outcomes.timed_out(call, limit_seconds, context.language)
    except Exception as error:  # a tool is somebody's code: the person hears that it broke, and the task goes on
        if is_platform_failure(error):
            raise
        _log.error("the tool %s broke in call %s: %s", call.tool, call.call_id, redact(_trace(error)))
        return outcomes.failed(call, f"{type(error).__name__}: {error}", context.language)


def _trace(error: Exception) -> str:
    return "".join(traceback.format_exception(error))
