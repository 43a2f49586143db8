"""Plain requests: one thing that takes the whole message, or several clauses that make up one piece of work."""

import re
from dataclasses import replace

from activities.planners.clauses import is_filler, wish_of, without_opening
from activities.planners.outline import OpenPages, ReadPages, RunCommand, Summarise, Wish, WriteFile, outline
from activities.planners.requests import Request
from activities.planners.understanding import Do, Say, Understood
from activities.planners.web_names import first_address, replace_urls
from activities.playbook.model import Playbook, Step
from contracts.language import Language
from contracts.texts import planner as texts
from contracts.values import JsonObject

LONGEST = 4_000
"""Longer messages are not read as plain requests: they are more likely pasted text."""

_CODE = re.compile(r"```(?:\w*\n)?(.+?)```|`([^`\n]+)`", re.DOTALL)
_SPLIT = re.compile(
    r"[,;，；。！!?？\n]+|\.(?=\s|$)|(?<![\w.])(?:and\s+then|and|then|afterwards)(?![\w.])|然后|并且|并|接着|最后|同时|随后|之后",
    re.IGNORECASE,
)
_REMEMBER = re.compile(r"(?:remember|keep in mind)(?:\s+that)?\s*[:,]?\s+(?P<value>.+)", re.IGNORECASE | re.DOTALL)
_记住 = re.compile(r"(?:记住|记下来?|记得)\s*[：:，,]?\s*(?P<value>.+)", re.DOTALL)
_RECALL = re.compile(
    r"(?:what\s+do|do)\s+you\s+(?:still\s+)?remember(?:\s+anything)?(?:\s+about)?\s*(?P<value>.*?)\s*\??"
    r"|recall\s+(?P<recalled>.+?)\s*\??",
    re.IGNORECASE | re.DOTALL,
)
_回忆 = re.compile(
    r"(?:关于(?P<subject>.+?)[，,]?)?你?(?:还)?记得(?:关于)?(?:我的)?(?P<value>.*?)的?(?:事情?)?"
    r"(?:是?什么|哪些内容|哪些|内容)?[吗么]?[?？]"
    r"|关于(?P<about>.+?)[，,]?你?(?:还)?(?:记得|知道)(?:些)?(?:什么|哪些)"
    r"|你(?:还)?记得(?:关于)?(?:我的)?(?P<yours>.+?)的?(?:事情?)?(?:是?什么|哪些内容|哪些|内容)?[吗么]?"
    r"|回忆一?下?(?P<recalled>.+)",
    re.DOTALL,
)
_RUN = re.compile(
    r"(?:run|execute)(?:\s+(?:the\s+)?command)?\s*:?\s+(?P<value>.+)"
    r"|(?:运行|执行)(?:一下)?(?:这个|以下)?(?:命令)?\s*[：:]?\s*(?P<command>.+)",
    re.IGNORECASE | re.DOTALL,
)
_NO_PROGRAM = frozenset(
    [
        "the",
        "a",
        "an",
        "my",
        "this",
        "that",
        "it",
        "some",
        "all",
        "these",
        "those",
        "your",
        "again",
        "tests",
        "everything",
    ]
)


def understand(request: Request, tools: frozenset[str], language: Language) -> Understood:
    """What a plain message asks for; if any part of it is not understood, nothing is done."""
    text = request.text.strip()
    if not text:
        return Say(texts.NO_MESSAGE.say(language, help=texts.HELP.say(language)), "failed")
    if len(text) > LONGEST:
        return _not_understood("", language)
    return _whole(text, tools, language) or _pieces(request, text, tools, language)


def single(step: Step, tools: frozenset[str], language: Language) -> Understood:
    """One step whose arguments are the person's own words."""
    if step.tool not in tools:
        return Say(texts.TOOL_ABSENT.say(language, tool=step.tool), "failed")
    return Do(Playbook(name="request", steps=(replace(step, verbatim=True),)))


def _whole(text: str, tools: frozenset[str], language: Language) -> Understood | None:
    """Requests whose rest is free text."""
    bare = without_opening(text)
    steps: tuple[tuple[re.Pattern[str], str, str, str], ...] = (
        (_RECALL, "recall", "recall", "query"),
        (_回忆, "recall", "recall", "query"),
        (_REMEMBER, "remember", "remember", "text"),
        (_记住, "remember", "remember", "text"),
        (_RUN, "run", "shell", "script"),
    )
    for pattern, step_id, tool, argument in steps:
        found = pattern.fullmatch(bare)
        value = next(filter(None, found.groups()), "") if found else ""
        if found is None or (tool == "shell" and not _is_command(value)):
            continue
        args: JsonObject = {argument: value.strip()}
        return single(Step(step_id, tool, args), tools, language)
    return None


def _is_command(text: str) -> bool:
    """A command starts with the name of a program: `run the tests` is meant for somebody who understands."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return (
        "`" not in text
        and re.fullmatch(r"[\w./~+-]+", first, re.ASCII) is not None
        and first.lower() not in _NO_PROGRAM
    )


def _pieces(request: Request, text: str, tools: frozenset[str], language: Language) -> Understood:
    codes: list[str] = []
    text = _CODE.sub(lambda found: _numbered(codes, found[1] or found[2]), text)
    text, urls = replace_urls(text)
    answer = request.answers.get("?page")
    urls += [address] if answer and (address := first_address(answer)) else []
    if "?page" in request.answers and not urls:
        return Say(texts.BAD_ADDRESS.say(language, text=(answer or "")[:200]), "failed")
    wishes: list[Wish] = []
    for clause in filter(None, (part.strip() for part in _SPLIT.split(text))):
        wish = wish_of(clause)
        if wish is None and not is_filler(clause):
            return _not_understood(clause, language)
        if wish is not None:
            wishes.append(RunCommand(codes[int(wish.script)]) if isinstance(wish, RunCommand) else wish)
    if urls and not any(isinstance(wish, OpenPages | ReadPages | Summarise) for wish in wishes):
        wishes = [ReadPages(), *([] if any(isinstance(wish, WriteFile) for wish in wishes) else [Summarise()]), *wishes]
    if not wishes:
        return _not_understood("", language)
    return outline(wishes, list(dict.fromkeys(urls)), tools, language, (request.answers.get("?file") or "").strip())


def _numbered(codes: list[str], code: str) -> str:
    codes.append(code.strip())
    return f"⟦{len(codes) - 1}⟧"


def _not_understood(part: str, language: Language) -> Say:
    help_text = texts.HELP.say(language)
    if part:
        return Say(texts.PART_NOT_UNDERSTOOD.say(language, part=part[:200], help=help_text), "failed")
    return Say(texts.NOT_UNDERSTOOD.say(language, help=help_text), "failed")
