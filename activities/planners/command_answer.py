"""What a command printed, as an answer: the output in a code block, and under it how the command ended."""

import re

from contracts.tools import ToolResult

_FENCE = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)


def command_answer(result: ToolResult) -> str:
    """Both streams of the result, each named only where there are two; without streams the result's whole text."""
    streams = {name: _stream(result, name) for name in ("stdout", "stderr")}
    printed = {name: text for name, text in streams.items() if text}
    if not printed:
        return result.text.strip()
    only_stdout = list(printed) == ["stdout"]
    blocks = [_block(text) if only_stdout else f"{name}:\n{_block(text)}" for name, text in printed.items()]
    return "\n\n".join([*blocks, result.headline])


def _stream(result: ToolResult, name: str) -> str:
    text = result.data.get(name)
    return text.strip("\n") if isinstance(text, str) and text.strip() else ""


def _block(text: str) -> str:
    """Fenced by more backticks than any line of it begins with, so that no output ends its own block."""
    fence = "`" * max([3, *(len(found[1]) + 1 for found in _FENCE.finditer(text))])
    return f"{fence}\n{text}\n{fence}"
