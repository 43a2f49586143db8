"""Why a playbook cannot be run, in words for its author."""

from contracts.language import Language
from contracts.texts.sentence import Sentence


class BadPlaybook(Exception):
    """Raised when a playbook cannot be run; `line` counts from 1."""

    def __init__(self, line: int, problem: Sentence, /, **values: object) -> None:
        super().__init__(f"line {line}: {problem.say('en', **values)}")
        self.line = line
        self._problem = problem
        self._values = values

    def say(self, language: Language) -> str:
        """The problem without the line."""
        return self._problem.say(language, **self._values)
