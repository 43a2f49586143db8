"""Why the stack did not start, as one sentence with its remedy."""

from contracts.language import Language
from contracts.texts import runtime as texts
from contracts.texts.sentence import Sentence
from runtime.stack.state import Failure, FailureKind

_SENTENCES: dict[FailureKind, Sentence] = {
    "port_in_use": texts.PORT_IN_USE,
    "program_missing": texts.PROGRAM_MISSING,
    "exited": texts.EXITED,
    "not_healthy": texts.NOT_HEALTHY,
    "supervisor_died": texts.SUPERVISOR_DIED,
    "unusable": texts.UNUSABLE,
}


def explained(failure: Failure, language: Language) -> str:
    """The one line that a person gets."""
    return _SENTENCES[failure.kind].say(
        language,
        part=failure.part,
        port=failure.port,
        setting=failure.setting,
        holder=failure.holder or texts.UNKNOWN_HOLDER.say(language),
        code="?" if failure.exit_code is None else failure.exit_code,
        seconds=failure.seconds,
        detail=failure.detail,
        log=failure.log,
    )
