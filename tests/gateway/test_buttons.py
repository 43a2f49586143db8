"""Buttons: small enough for the platform, and bound to what was shown."""

import pytest

from gateway.buttons import MAX_BYTES, NotAButton, Press, token_of, token_of_question, unpack
from tests.gateway.made import TASK, approval, asked


@pytest.mark.parametrize("action", ["approve", "deny", "choose", "pause", "resume", "stop"])
def test_a_button_comes_back_as_it_was_and_fits(action: str) -> None:
    press = Press(action, TASK, token_of(approval()), 7)  # type: ignore[arg-type]  # from a table

    data = press.pack()

    assert len(data.encode()) <= MAX_BYTES
    assert unpack(data) == press


def test_a_button_that_does_not_fit_is_never_made() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        Press("approve", "x" * 60).pack()


@pytest.mark.parametrize(
    "data", ["", "approve", "launch:a:b:0", "approve:a:b:-1", "approve:a:b:c:0", "a" * 100, "😀:::"]
)
def test_what_is_no_button_of_ours_is_refused(data: str) -> None:
    with pytest.raises(NotAButton):
        unpack(data)


def test_the_token_changes_with_the_arguments_the_call_and_the_question() -> None:
    one = approval()

    assert token_of(one) != token_of(approval(args="b"))
    assert token_of(one) != token_of(one.model_copy(update={"call_id": "call2"}))
    assert token_of(one) != token_of(one.model_copy(update={"approval_id": "other"}))
    assert token_of_question(asked("a", "b")) != token_of_question(asked("b", "a"))
