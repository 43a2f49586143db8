"""Every rule can be said, in both languages."""

from contracts.texts.policy import REASONS
from policy.rules import Rule


def test_every_rule_has_its_sentence_and_every_sentence_its_rule() -> None:
    assert set(REASONS) == {rule.value for rule in Rule}


def test_every_sentence_can_be_said_in_both_languages() -> None:
    for sentence in REASONS.values():
        for language in ("en", "zh"):
            said = sentence.say("zh" if language == "zh" else "en", detail="<x{y}>")
            assert "{detail}" not in said
        assert ("{detail}" in sentence.en) == ("{detail}" in sentence.zh)
        assert any("\u4e00" <= character <= "\u9fff" for character in sentence.zh)
