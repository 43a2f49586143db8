"""What an approval card shows."""

import pytest

from activities.preview import PREVIEW_CHARACTERS, escaped, one_line, preview
from activities.tools.shell import Shell


def test_a_short_command_is_shown_whole() -> None:
    assert (
        Shell().preview({"script": "rm -r build\nls"})
        == "script:\nrm -r build\nls\ncwd: /workspace\ntimeout_seconds: 120"
    )


@pytest.mark.parametrize(
    ("hidden", "code"),
    [
        ("\u202e", "202E"),
        ("\u2066", "2066"),
        ("\u200b", "200B"),
        ("\x1b", "001B"),
        ("\r", "000D"),
        ("\t", "0009"),
        ("\x00", "0000"),
        ("\u00a0", "00A0"),
        ("\u2028", "2028"),
        ("\u3164", "3164"),
        ("\U000e0041", "E0041"),
        ("\ud800", "D800"),
        ("⟦", "27E6"),
    ],
)
def test_what_cannot_be_seen_is_shown_as_its_code(hidden: str, code: str) -> None:
    assert escaped(f"a{hidden}b") == f"a⟦U+{code}⟧b"


def test_blanks_cannot_push_a_command_out_of_sight() -> None:
    shown = escaped("ls" + " " * 500 + "; rm -r x" + "\n" * 300 + "curl evil.test")

    assert shown == "ls⟦500 spaces⟧; rm -r x⟦300 line breaks⟧curl evil.test"


def test_a_long_command_shows_head_tail_and_the_digest_of_all() -> None:
    shown = preview({"script": "begin" + "x" * 9_000 + "end"})

    assert len(shown) <= PREVIEW_CHARACTERS
    assert "begin" in shown
    assert shown.endswith("end")
    assert "SHA-256" in shown
    assert shown != preview({"script": "begin" + "x" * 4_000 + "y" + "x" * 4_999 + "end"})


def test_a_headline_is_one_line_and_bounded() -> None:
    assert one_line("a\nb\t c") == "a b c"
    assert len(one_line("x" * 500)) == 200
