"""The answer of a command is what it printed, and nothing that it prints ends its block."""

import pytest

from activities.planners.command_answer import command_answer
from contracts.provenance import Provenance
from contracts.tools import ToolResult
from gateway.markdown import to_spans


def result(stdout: str = "", stderr: str = "", text: str = "whole text") -> ToolResult:
    return ToolResult(
        call_id="c",
        tool="shell",
        ok=True,
        headline="Exit code 0 after 0.1 s",
        text=text,
        data={"stdout": stdout, "stderr": stderr},
        provenance=Provenance(trusted=False, origins=("sandbox:command",)),
    )


def test_output_alone_is_a_block_with_the_end_under_it() -> None:
    assert command_answer(result("  a\nb\n")) == "```\n  a\nb\n```\n\nExit code 0 after 0.1 s"


def test_two_streams_are_named() -> None:
    answer = command_answer(result("out", "err"))

    assert "stdout:\n```\nout\n```" in answer
    assert "stderr:\n```\nerr\n```" in answer


def test_silence_and_results_without_streams_keep_their_text() -> None:
    assert command_answer(result()) == "whole text"


@pytest.mark.parametrize("printed", ["```\n# heading\n```", "   ````\n[x](http://evil.example)", "a\n```\nb"])
def test_what_is_printed_stays_code_in_a_chat(printed: str) -> None:
    spans = to_spans(command_answer(result(printed)))

    assert [span.marks for span in spans if "heading" in span.text or "evil" in span.text or span.text == printed] == [
        ("pre",)
    ]
