"""An extractive summary: the sentences that say most of what the text says, in their own order. English and Chinese."""

import re
from collections import Counter
from math import sqrt

from memory.ranking import features

LEAST_SENTENCES = 5
MOST_SENTENCES = 8
MAX_SENTENCES_READ = 600
MAX_SENTENCE_CHARACTERS = 400
EXCERPT_CHARACTERS = 1_500

_END = re.compile(r"(?<=[。！？；])(?![”’」』）])|(?<=[。！？][”’」』）])|(?<=[.!?])\s+|(?<=[.!?][\"'”’)\]])\s+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|No|Fig|Inc|Ltd|Jr|Sr)|\b[A-Z])\.$")
_FURNITURE = re.compile(
    r"cookie|privacy policy|terms of (?:use|service)|all rights reserved|subscribe|sign (?:in|up)|log ?in|newsletter"
    r"|©|版权所有|隐私政策|登录|注册|订阅|备案",
    re.IGNORECASE,
)


def summarise(text: str) -> str:
    """Five to eight sentences, fewer of a short text; empty if there is nothing to read."""
    sentences = _sentences(text)
    if len(sentences) <= LEAST_SENTENCES:
        return _joined(sentences)
    wanted = min(MOST_SENTENCES, max(LEAST_SENTENCES, len(sentences) // 5))
    return _joined([sentences[at] for at in sorted(_best(sentences, wanted))])


def excerpt(text: str) -> str:
    """The beginning, up to the end of a sentence where one is near."""
    text = text.strip()
    if len(text) <= EXCERPT_CHARACTERS:
        return text
    start = text[:EXCERPT_CHARACTERS]
    ends = [found.start() for found in _END.finditer(start) if found.start() > EXCERPT_CHARACTERS // 2]
    return f"{start[: ends[-1]] if ends else start}…"


def _sentences(text: str) -> list[str]:
    """Sentences worth repeating, each once. Lines that only navigate are left out unless there is nothing else."""
    found: dict[str, None] = {}
    for line in text.splitlines():
        for sentence in _split(line):
            found[sentence] = None
            if len(found) >= MAX_SENTENCES_READ:
                break
    sentences = list(found)
    return [sentence for sentence in sentences if _says_something(sentence)] or sentences[:LEAST_SENTENCES]


def _split(line: str) -> list[str]:
    parts: list[str] = []
    for piece in _END.split(" ".join(line.split())):
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {piece}"
        elif piece.strip():
            parts.append(piece)
    return [_clipped(part.strip()) for part in parts]


def _clipped(sentence: str) -> str:
    return sentence if len(sentence) <= MAX_SENTENCE_CHARACTERS else f"{sentence[: MAX_SENTENCE_CHARACTERS - 1]}…"


def _says_something(sentence: str) -> bool:
    wide = len(_WIDE.findall(sentence))
    long_enough = wide >= 8 or len(sentence.split()) >= 5
    ends = sentence[-1] in ".!?。！？；…”\"'’)）:："
    return long_enough and (ends or wide >= 15 or len(sentence.split()) >= 9) and not _FURNITURE.search(sentence)


def _best(sentences: list[str], wanted: int) -> list[int]:
    """Take the weightiest sentence, then always the one that adds most to those already taken."""
    described = [features(sentence) for sentence in sentences]
    spread = Counter(name for found in described for name in found)
    weights = [_weight(found, spread, at, len(sentences)) for at, found in enumerate(described)]
    chosen: list[int] = []
    overlap = [0.0] * len(sentences)
    while len(chosen) < wanted:
        rest = [at for at in range(len(sentences)) if at not in chosen]
        best = max(rest, key=lambda at: (weights[at] * (1 - overlap[at]), -at))
        chosen.append(best)
        overlap = [max(seen, _likeness(described[best], other)) for seen, other in zip(overlap, described, strict=True)]
    return chosen


def _weight(found: Counter[str], spread: Counter[str], at: int, count: int) -> float:
    """Mean weight of its words over the whole text; early sentences carry the subject."""
    if not found:
        return 0.0
    lead = 1.0 + 0.5 * max(0.0, 1 - at / max(1.0, 0.15 * count))
    shared = sum(spread[name] for name in found if spread[name] > 1)
    return lead * shared / (sqrt(len(found)) * sqrt(len(found) + 6))


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    if not one or not other:
        return 0.0
    return len(one.keys() & other.keys()) / sqrt(len(one) * len(other))


def _joined(sentences: list[str]) -> str:
    """Blanks between sentences of alphabets, none in Chinese."""
    text = ""
    for sentence in sentences:
        gap = "" if not text or (text[-1] in "。！？；…」』”" and _WIDE.match(sentence)) else " "
        text = f"{text}{gap}{sentence}"
    return text
