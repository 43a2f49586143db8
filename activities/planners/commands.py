"""Slash commands: exact, and never guessed at."""

import difflib
import re

from activities.planners.intents import single
from activities.planners.outline import OpenPages, ReadPages, SendFile, Summarise, Wish, outline
from activities.planners.understanding import Say, Understood
from activities.planners.web_names import first_address
from activities.playbook.model import Step
from contracts.language import Language
from contracts.texts import planner as texts
from contracts.values import JsonObject

PLAN = "plan"
CONTACTS = "contacts"
USAGES = {
    "run": "/run ls -la",
    "browse": "/browse https://example.com",
    "read": "/read https://example.com",
    "get": "/get report.md",
    "remember": "/remember …",
    "recall": "/recall …",
    CONTACTS: "/contacts add Anna anna@example.com",
    PLAN: "/plan FILE",
    "help": "/help",
}

_COMMAND = re.compile(r"/([A-Za-z_]\w{0,31})(?:@\w+)?(?:\s+(.*))?", re.DOTALL)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def split_command(text: str) -> tuple[str, str] | None:
    """Name and rest of a slash command; None for everything else, such as a path."""
    found = _COMMAND.fullmatch(text.strip())
    return (found[1].lower(), (found[2] or "").strip()) if found else None


def obey(name: str, rest: str, tools: frozenset[str], language: Language) -> Understood:
    """What a command other than /plan asks for."""
    if name == "help":
        return Say(texts.HELP.say(language), "done")
    if name not in USAGES:
        return _unknown(name, language)
    if name == CONTACTS:
        return _book(rest, tools, language)
    if not rest:
        return Say(texts.USAGE.say(language, usage=USAGES[name]), "failed")
    if name in ("browse", "read"):
        return _page(name, rest, tools, language)
    if name == "get":
        return outline([SendFile(rest)], [], tools, language)
    tool, argument = {"run": ("shell", "script"), "remember": ("remember", "text"), "recall": ("recall", "query")}[name]
    return single(Step(name, tool, {argument: rest}), tools, language)


def _page(name: str, rest: str, tools: frozenset[str], language: Language) -> Understood:
    url = _address(rest)
    if url is None:
        return Say(texts.BAD_ADDRESS.say(language, text=rest[:200]), "failed")
    wishes: list[Wish] = [OpenPages()] if name == "browse" else [ReadPages(), Summarise()]
    return outline(wishes, [url], tools, language)


def _book(rest: str, tools: frozenset[str], language: Language) -> Understood:
    """`/contacts`, `/contacts add NAME ADDRESS`, `/contacts remove NAME`; a name may have several words."""
    verb, *words = rest.split() or ["list"]
    if verb == "list" and not words:
        return single(Step("list", CONTACTS, {"operation": "list"}), tools, language)
    if verb == "add" and len(words) > 1:
        args: JsonObject = {"operation": "add", "name": " ".join(words[:-1]), "address": words[-1]}
        return single(Step("add", CONTACTS, args), tools, language)
    if verb == "remove" and words:
        return single(Step("remove", CONTACTS, {"operation": "remove", "name": " ".join(words)}), tools, language)
    return Say(texts.USAGE.say(language, usage=USAGES[CONTACTS]), "failed")


def _address(text: str) -> str | None:
    """One address and nothing else; a host without a scheme, such as `localhost:8000`, is taken as https."""
    if re.search(r"\s", text):
        return None
    whole = text if _SCHEME.match(text) else f"https://{text}"
    return whole if first_address(whole) == whole else None


def _unknown(name: str, language: Language) -> Say:
    near = difflib.get_close_matches(name, USAGES, n=1, cutoff=0.5)
    if near:
        return Say(texts.UNKNOWN_COMMAND.say(language, command=f"/{name}", nearest=f"/{near[0]}"), "failed")
    return Say(texts.UNKNOWN_COMMAND_ALONE.say(language, command=f"/{name}"), "failed")
