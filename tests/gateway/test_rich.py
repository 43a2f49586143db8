"""Text with marks: whatever a model writes arrives whole, fits, and is well-formed for Telegram."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.markdown import to_spans
from gateway.rich import Span, cut, length, text_of
from gateway.telegram.html import to_html
from tests.telegram_server import html

NASTY = st.text(alphabet=st.sampled_from(list("ab <>&_*`~[]()#|-+.!\\\"'\n\t>1😀中é://h")), max_size=400)


@settings(max_examples=100, deadline=None)
@given(NASTY)
def test_any_text_becomes_html_that_telegram_reads_as_the_same_text(source: str) -> None:
    spans = to_spans(source)

    text, _ = html.parse(to_html(spans))

    assert text == text_of(spans)


@settings(max_examples=80, deadline=None)
@given(NASTY)
def test_letters_never_get_lost_in_formatting(source: str) -> None:
    letters = [character for character in source if character in "😀中é"]

    shown = text_of(to_spans(source))

    assert [character for character in shown if character in "😀中é"] == letters or "](" in source


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(NASTY, st.sampled_from([(), ("bold",), ("pre",), ("quote", "italic")])), max_size=6))
def test_parts_fit_and_together_say_the_same(pieces: list[tuple[str, tuple[str, ...]]]) -> None:
    spans = tuple(Span(text, marks) for text, marks in pieces if text)  # type: ignore[arg-type]  # from a table

    parts = cut(spans, 50)

    assert all(0 < length(text_of(part)) <= 50 for part in parts)
    together = "".join(text_of(part) for part in parts)
    assert "".join(together.split()) == "".join(text_of(spans).split())
    for part in parts:
        assert html.utf16(html.parse(to_html(part))[0]) <= 50


def test_a_code_block_that_is_cut_is_a_code_block_in_each_part() -> None:
    source = "before\n\n```python\n" + "\n".join(f"line_{n} = {n}" for n in range(60)) + "\n```\n\nafter"

    parts = cut(to_spans(source), 300)

    assert len(parts) > 2
    for part in parts[1:-1]:
        assert to_html(part).count("<pre>") == to_html(part).count("</pre>") == 1
        assert any(entity["type"] == "pre" for entity in html.parse(to_html(part))[1])


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("**bold** and *it*", "<b>bold</b> and <i>it</i>"),
        ("# Title\n\ntext", "<b>Title</b>\n\ntext"),
        ("- a\n- b", "• a\n• b"),
        ("2. a\n3. b", "2. a\n3. b"),
        ("`x < y`", "<code>x &lt; y</code>"),
        ("[site](https://e.org/?a=1&b=2)", '<a href="https://e.org/?a=1&amp;b=2">site</a>'),
        ("[site](javascript:alert(1))", "[site](javascript:alert(1))"),
        (
            "<b>raw</b> me@example.org a_b_c 2*3*4 **open",
            "&lt;b&gt;raw&lt;/b&gt; me@example.org a_b_c 2<i>3</i>4 **open",
        ),
        ("> quoted *text*\n> more", "<blockquote>quoted <i>text</i>\nmore</blockquote>"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "<code>a | b</code>\n<code>1 | 2</code>"),
        ("```sh\nls <x>\n```", '<pre><code class="language-sh">ls &lt;x&gt;</code></pre>'),
    ],
)
def test_markdown_looks_like_this(source: str, expected: str) -> None:
    assert to_html(to_spans(source)) == expected
