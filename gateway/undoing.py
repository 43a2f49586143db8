"""Says what became of taking something back, the same in the chat and at the terminal."""

from contracts.language import Language
from contracts.texts import undo as texts
from contracts.undo import Undone


def undone_text(undone: Undone, language: Language) -> str:
    """A few lines; the last says what is never taken back."""
    if undone.step is None:
        return f"{texts.NOTHING.say(language)} {texts.LIMITS.say(language)}"
    lines = (
        [texts.RESTORED.say(language, step=undone.step, paths=", ".join(undone.restored))] if undone.restored else []
    )
    lines += [texts.LEFT[each.why].say(language, path=each.path) for each in undone.left]
    return "\n".join([*lines, texts.LIMITS.say(language)])
