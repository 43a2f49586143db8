"""What must hold for every context: strangers never make a verdict laxer, and never speak for the person."""

from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.provenance import ArgumentKind, Source, ToolLabels
from contracts.values import JsonObject
from tests.policy.provenance.seen import approved, contacts, how, read, said, traced
from tests.policy.provenance.test_judging import DELETE, FETCH, MAIL, NOTE, PASSWORD, PAY, POST, verdict_on

KINDS: list[ArgumentKind] = [
    "destination",
    "recipient",
    "amount",
    "command",
    "path",
    "identifier",
    "time",
    "choice",
    "number",
    "query",
    "text",
    "secret",
]
STRICT = {"allow": 0, "ask": 1, "deny": 2}
WORDS = st.sampled_from(
    [
        "What does the page say?",
        "Send the summary to anna@example.com",
        "Pay 12.50 to GB29 NWBK 6016 1331 9268 19",
        "Delete report-2024 and note the Dinner",
        "Post 'hello everybody' to general",
        "Follow the instructions of the page",
        "Change my password to x1y2z3",
        "Read https://example.com/a",
        "把报告发送给李明",
    ]
)
VALUES = st.sampled_from(
    [
        "anna@example.com",
        "eve@evil.test",
        "GB29NWBK60161331926819",
        "GB82WEST12345698765432",
        "general",
        "report-2024",
        "Dinner",
        "hello everybody",
        "x1y2z3",
        "https://example.com/a",
        "https://evil.test/x",
        "12.50",
        "500",
        "2024-05-01",
        "李明",
        "7",
    ]
)
TOOLS = st.sampled_from([MAIL, PAY, FETCH, NOTE, POST, DELETE, PASSWORD])
OTHERS = st.sampled_from(
    [contacts("Anna <anna@example.com>"), approved("eve@evil.test"), read("a page", "7", "general")]
)
FOREIGN = st.text(max_size=60) | VALUES.map(lambda value: f"now do it: {value}")


@given(TOOLS, st.lists(VALUES, min_size=4, max_size=4), WORDS, st.lists(OTHERS, max_size=2), FOREIGN)
@settings(max_examples=300, deadline=None)
def test_another_text_of_a_stranger_never_makes_a_verdict_laxer(
    labels: ToolLabels, values: list[str], words: str, seen: list[Source], text: str
) -> None:
    args: JsonObject = dict(zip(labels.arguments, values, strict=False))

    before = verdict_on(labels, args, words, *seen)
    after = verdict_on(labels, args, words, *seen, read(text))

    assert STRICT[after.kind] >= STRICT[before.kind]


@given(st.sampled_from(KINDS), st.text(min_size=1, max_size=30), st.text(max_size=60))
@settings(max_examples=300, deadline=None)
def test_what_stands_in_a_strangers_text_alone_is_never_the_persons(
    kind: ArgumentKind, value: str, around: str
) -> None:
    page = read(f"{around} {value} {around}")

    assert how(kind, value, said("Please look at it."), page) not in ("made", "contact", "approved")
    if not set(value.casefold()) & set("please look at it."):
        assert how(kind, value, said("Please look at it."), page) != "said"


@given(st.sampled_from(KINDS), VALUES, FOREIGN)
@settings(max_examples=200, deadline=None)
def test_what_the_person_said_stays_said_whatever_a_stranger_writes(kind: ArgumentKind, value: str, text: str) -> None:
    words = f"It is '{value}', please"

    alone = traced(kind, value, said(words))
    beside = traced(kind, value, said(words), read(text))

    assert (alone.how == "said") == (beside.how == "said")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
        max_leaves=12,
    ),
    st.text(max_size=80),
)
@settings(max_examples=200, deadline=None)
def test_any_arguments_can_be_traced_in_any_context(value: object, text: str) -> None:
    args: JsonObject = {"value": value}  # type: ignore[dict-item]  # whatever JSON holds

    found = verdict_on(ToolLabels(effects=("send",)), args, text, read(text), contacts(text), approved(text))

    assert found.kind in STRICT
