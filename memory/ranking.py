"""How well a note fits a question: shared words, and shared pairs of characters for scripts without blanks."""

import re
from collections import Counter
from collections.abc import Sequence
from math import log

WORD = re.compile(r"[a-z0-9]+(?:[._@'-][a-z0-9]+)*")
WIDE = re.compile(r"[\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
STOP_WORDS = frozenset(
    re.split(
        r"\s+",
        """a an and are as at be but by do does for from has have how i in is it its me my of on or our please
    so tell that the their them they this to was we were what when where which who why will with you
    your about know remember""",
    )
)
STOP_PAIRS = frozenset(re.split(" ", "什么 关于 记得 知道 我的 你的 是什 么的 的是 我是 一下 告诉 诉我"))


def features(text: str) -> Counter[str]:
    """Words of alphabets (with a short stem of the long ones), and character pairs of runs in other scripts."""
    lowered = text.lower()
    found: Counter[str] = Counter()
    for word in WORD.findall(lowered):
        if word not in STOP_WORDS:
            found[_stem(word)] += 1
    for run in WIDE.findall(lowered):
        pairs = [run[at : at + 2] for at in range(len(run) - 1)] or [run]
        found.update(pair for pair in pairs if pair not in STOP_PAIRS)
    return found


def rank(query: str, texts: Sequence[str]) -> list[int]:
    """Positions of the texts that share something with the query, best first; of equals the later text is first."""
    asked = features(query)
    described = [features(text) for text in texts]
    spread = Counter(name for found in described for name in found)
    scores = [_score(asked, found, spread, len(texts)) for found in described]
    return sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: (-scores[at], -at))


def _score(asked: Counter[str], found: Counter[str], spread: Counter[str], texts: int) -> float:
    shared = sum(log(1 + texts / spread[name]) for name in asked if name in found)
    return shared / (1 + log(1 + sum(found.values())) / 10)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
