"""One sentence in both languages."""

from contracts.language import Language
from contracts.values import Value


class Sentence(Value):
    """A template for `str.format` in each language; both take the same names."""

    en: str
    zh: str

    def say(self, language: Language, **values: object) -> str:
        template = self.zh if language == "zh" else self.en
        return template.format(**values)
