"""Whether somebody's words hold a value: compared character by character at its borders, never as a mere substring."""

import re
import unicodedata

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_IS_CJK = re.compile(f"[{_CJK}]")
_TOKEN = re.compile(rf"[{_CJK}]|(?:(?![{_CJK}])[^\W_])+")

_BEFORE = frozenset("给和与跟同向到请让叫把将对由从在是找约为及或以按据看读打开问见替把叫名")
"""Chinese is written without blanks, so a name may be a part of a longer one. It ends where one of these stands."""
_AFTER = frozenset("的和与跟同及或在是说发写吗吧呢了里中上下地频群文邮账帐有要会去来讲把给到请并问做公今明这那")

_PRONOUNS = (
    "i me my mine myself you your yours yourself we us our ours he him his she her hers they them their theirs it its "
    "m re ve ll d s am are is was were have has had that 我 你 您 他 她 们 的"
)
_PERSONS = frozenset(_PRONOUNS.split())
"""What changes when a sentence is told instead of said: `that you've seen it` becomes `I've seen it`."""


def folded(text: str) -> str:
    """One spelling for what looks alike by rule (NFKC, case). Look-alikes of other scripts stay different."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def tokens(text: str) -> tuple[str, ...]:
    """Words and numbers of a folded text; each Chinese character is one."""
    return tuple(_TOKEN.findall(text))


def holds(words: str, value: str) -> bool:
    """Whether folded words hold a folded value as a whole: not inside a longer name, address or number."""
    if len(value) < 2:
        return False
    start = words.find(value)
    while start >= 0:
        if _opens(words, start, value[0]) and _closes(words, start + len(value), value[-1]):
            return True
        start = words.find(value, start + 1)
    return False


def holds_number(words: str, value: str) -> bool:
    """Whether words name a bare number as the number of something: an id of few digits stands anywhere by chance."""
    lead = r"(?:\bids?|\bnumbers?|\bno\.?|\bnr\.?|#|编号|号码|['\"“‘「`])"
    return re.search(rf"{lead}[\s:：='\"“‘`#]{{0,4}}{re.escape(value)}(?![\w@-]|\.\d)", words) is not None


def tells(words: tuple[str, ...], value: tuple[str, ...]) -> bool:
    """Whether a text says, word after word, what the words say; only who is meant by I and you may differ."""
    wanted = [token for token in value if token not in _PERSONS]
    if not wanted:
        return False
    given = [token for token in words if token not in _PERSONS]
    return any(given[start : start + len(wanted)] == wanted for start in _starts(given, wanted[0]))


def _starts(given: list[str], first: str) -> list[int]:
    return [index for index, token in enumerate(given) if token == first]


def _opens(words: str, start: int, edge: str) -> bool:
    before = words[start - 1] if start else ""
    if _IS_CJK.match(edge):
        return not _IS_CJK.match(before) or before in _BEFORE
    if not edge.isalnum() or not before:
        return True
    if before in "._-@/+":
        return before in "./-" and not (start > 1 and words[start - 2].isalnum())
    return not before.isalnum() or bool(_IS_CJK.match(before))


def _closes(words: str, end: int, edge: str) -> bool:
    after = words[end : end + 1]
    if _IS_CJK.match(edge):
        return not _IS_CJK.match(after) or after in _AFTER
    if not edge.isalnum() or not after:
        return True
    if after in "._-@/+":
        follows = words[end + 1 : end + 2]
        return after in "./-" and not (follows.isalnum() and not _IS_CJK.match(follows))
    return not after.isalnum() or bool(_IS_CJK.match(after))
