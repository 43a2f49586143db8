"""Which bound of its sandbox a command met, as a sentence for the planner and the person."""

from contracts.language import Language
from contracts.sandbox import CommandOutcome
from contracts.texts import limits as texts

FIRST_SIGNAL_CODE = 129
"""How a shell reports that a signal ended its last command."""


def limit_sentence(outcome: CommandOutcome, language: Language) -> str | None:
    """None if it met none."""
    if outcome.limit is None:
        return None
    ended = outcome.exit_code is None or outcome.exit_code >= FIRST_SIGNAL_CODE
    sentence = (texts.ENDED if ended else texts.MET)[outcome.limit]
    return sentence.say(language, amount=outcome.limit_amount or 0)
