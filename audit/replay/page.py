"""The page that plays a recording: one file, no network, and whatever a task has met is shown as text."""

import base64
import hashlib
import json
from datetime import datetime
from html import escape
from pathlib import Path

from pydantic import JsonValue

from audit.replay.brief import brief
from audit.replay.recorded import Given, Line, Picture, Recording
from audit.replay.steps import Aside, Entry, Step, arguments, commands, entries, output
from contracts.language import Language
from contracts.texts import replay as texts
from contracts.texts.policy import REASONS

MOST_CHARACTERS = 8_000
"""Of one text; the bundle has the whole."""

_HERE = Path(__file__).parent
STYLE = (_HERE / "style.css").read_text("utf-8")
SCRIPT = (_HERE / "player.js").read_text("utf-8")


def content_policy() -> str:
    """Nothing may be loaded, and nothing runs but our own script."""

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    return (
        f"default-src 'none'; style-src 'sha256-{digest(STYLE)}'; script-src 'sha256-{digest(SCRIPT)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def page(recording: Recording, language: Language) -> str:
    """Call it off the event loop."""
    found = entries(recording)
    steps = [entry for entry in found if isinstance(entry, Step)]
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(content_policy())}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{_say(texts.TITLE.say(language))} {escape(recording.task_id)}</title><style>{STYLE}</style></head>"
        "<body>"
        f"{_header(recording, steps, language)}{_player(language)}"
        f'<main><section><h2>{_say(texts.LOG.say(language))}</h2><div id="log">'
        f"{''.join(_entry(entry, language) for entry in found)}</div></section>"
        f'<div class="watch"><section><h2>{_say(texts.SCREEN.say(language))}</h2><div id="screen">'
        f"{''.join(_pictures(step) for step in steps)}"
        f'<p id="none">{_say(texts.NO_PICTURE.say(language))}</p></div></section>'
        f'<section><h2>{_say(texts.SESSION.say(language))}</h2><div id="session">'
        f"{''.join(_session(step, language) for step in steps)}</div></section></div></main>"
        f'<ol id="moments">{"".join(_moment(line, language) for line in recording.lines)}</ol>'
        f"<script>{SCRIPT}</script></body></html>"
    )


def _header(recording: Recording, steps: list[Step], language: Language) -> str:
    if recording.lines:
        counted = texts.COUNTED.say(
            language,
            lines=len(recording.lines),
            steps=len(steps),
            pictures=sum(len(step.given.pictures) for step in steps if step.given),
            first=f"{recording.lines[0].at:%Y-%m-%d %H:%M:%S}",
            last=f"{recording.lines[-1].at:%Y-%m-%d %H:%M:%S}",
        )
    else:
        counted = texts.NOTHING.say(language)
    title = recording.goal or texts.TITLE.say(language)
    task = f"{texts.TASK.say(language)} {recording.task_id}"
    return f"<header><h1>{_say(title)}</h1><p>{_say(task)} · {_say(counted)}</p></header>"


def _player(language: Language) -> str:
    play, pause = escape(texts.PLAY.say(language)), escape(texts.PAUSE.say(language))
    back, forward = escape(texts.BACK.say(language)), escape(texts.FORWARD.say(language))
    speeds = "".join(
        f'<option value="{speed}"{" selected" if speed == 1 else ""}>{speed}×</option>' for speed in (0.5, 1, 2, 4, 16)
    )
    return (
        f'<div id="player" hidden><button id="play" data-play="{play}" data-pause="{pause}">{play}</button>'
        f'<button id="back" title="{back}" aria-label="{back}">◀</button>'
        f'<button id="on" title="{forward}" aria-label="{forward}">▶</button>'
        f'<input id="slider" type="range" min="0" value="0" aria-label="{escape(texts.MOMENT.say(language))}">'
        f'<span id="clock"></span><span id="caption"></span>'
        f'<select id="speed" aria-label="{escape(texts.SPEED.say(language))}">{speeds}</select></div>'
    )


def _entry(entry: Entry, language: Language) -> str:
    return _aside(entry, language) if isinstance(entry, Aside) else _step(entry, language)


def _aside(aside: Aside, language: Language) -> str:
    line = aside.line
    return (
        f'<article class="aside" data-from="{aside.number}" data-last="{aside.number}"><div class="top">'
        f"<span>{_say(_kind(line, language))}</span><span>{_say(line.actor)}</span>"
        f"<span>{_say(brief(line.kind, line.data, line.words))}</span>{_time(line.at)}</div></article>"
    )


def _step(step: Step, language: Language) -> str:
    verdict = step.verdict
    said = str(verdict.data.get("verdict")) if verdict else ""
    shown = said if said in texts.VERDICTS else ""
    badge = f'<span class="badge">{_say(texts.VERDICTS[shown].say(language))}</span>' if shown else ""
    risk = ""
    if verdict is not None:
        risk = f'<span class="risk">{_say(texts.RISK.say(language, risk=verdict.data.get("risk")))}</span>'
    summary = _text((verdict.words or {}).get("summary")) if verdict else ""
    last = step.lines[-1][0]
    return (
        f'<article class="{shown}" data-from="{step.first}" data-last="{last}"><div class="top">'
        f"<b>{_say(step.tool)}</b>"
        f"<span>{_say(summary)}</span>{badge}{risk}{_time(step.lines[0][1].at)}</div>"
        f"<dl>{_facts(verdict, language) if verdict else ''}{_arguments(step, language)}"
        f"{''.join(_happened(number, line, language) for number, line in step.lines if line.kind != 'verdict')}"
        f"{_result(step, language)}</dl></article>"
    )


def _facts(verdict: Line, language: Language) -> str:
    data, words = verdict.data, verdict.words
    if words is None:
        return _pair(texts.WHY.say(language), _say(texts.SEALED.say(language)))
    rows = [
        (texts.WHY, " ".join(_reason(each, language) for each in _list(words.get("reasons")))),
        (texts.RULES, ", ".join(map(_text, _list(data.get("rules"))))),
        (texts.EFFECTS, ", ".join(map(_text, _list(data.get("effects"))))),
        (texts.GOES_TO, ", ".join(map(_text, _list(words.get("destinations")) or _list(data.get("hosts"))))),
        (texts.RISK_PARTS, ", ".join(_part(each) for each in _list(words.get("risk_parts")))),
        (texts.POLICY, verdict.policy_version[:12]),
    ]
    return "".join(_pair(name.say(language), _say(value)) for name, value in rows if value)


def _reason(reason: JsonValue, language: Language) -> str:
    if not isinstance(reason, dict):
        return ""
    rule, detail = _text(reason.get("rule")), _text(reason.get("detail"))
    return REASONS[rule].say(language, detail=detail) if rule in REASONS else f"{rule} {detail}".strip()


def _part(part: JsonValue) -> str:
    if not isinstance(part, dict):
        return ""
    return f"{_text(part.get('name'))} {part.get('points')}"


def _arguments(step: Step, language: Language) -> str:
    args = arguments(step)
    if not args:
        return ""
    shown = json.dumps(args, ensure_ascii=False, indent=1)
    return _pair(texts.ARGUMENTS.say(language), f"<pre>{_cut(shown, language)}</pre>")


def _happened(number: int, line: Line, language: Language) -> str:
    what = " · ".join(part for part in (line.actor, brief(line.kind, line.data, line.words)) if part)
    name = _kind(line, language)
    return f'<dt data-from="{number}">{_say(name)}</dt><dd data-from="{number}">{_say(what)}</dd>'


def _result(step: Step, language: Language) -> str:
    if step.given is None:
        return ""
    result = step.given.result
    mark = "" if result.ok else ' class="failed"'
    number = step.moment("effect.ended")
    since = f' data-from="{number}"' if number is not None else ""
    left = f" {texts.LEFT_OUT.say(language, count=step.given.left_out)}" if step.given.left_out else ""
    name = _say(texts.RESULT.say(language))
    return f"<dt{since}>{name}</dt><dd{since}{mark}>{_say(result.headline + left)}</dd>"


def _pictures(step: Step) -> str:
    if step.given is None:
        return ""
    at = step.moment("effect.ended")
    number = step.first if at is None else at
    return "".join(_picture(picture, number, step.given) for picture in step.given.pictures)


def _picture(picture: Picture, number: int, given: Given) -> str:
    content = base64.b64encode(picture.content).decode()
    source = f"data:{escape(picture.media_type)};base64,{content}"
    said = _say(given.result.headline)
    return f'<figure data-at="{number}"><img alt="{said}" src="{source}"><figcaption>{said}</figcaption></figure>'


def _session(step: Step, language: Language) -> str:
    typed = list(commands(step))
    if not typed:
        return ""
    begun, ended = step.moment("effect.begun"), step.moment("effect.ended")
    if begun is None:
        return ""
    lines = "".join(f'<pre class="typed">{_cut(command, language)}</pre>' for command in typed)
    gave = ""
    if step.given is not None and ended is not None:
        gave = f'<pre data-from="{ended}">{_cut(output(step.given), language)}</pre>'
    return f'<div class="run" data-from="{begun}">{lines}{gave}</div>'


def _moment(line: Line, language: Language) -> str:
    milliseconds = int(line.at.timestamp() * 1000)
    said = f"{line.at:%H:%M:%S} {_kind(line, language)} {_text(line.data.get('tool'))}"
    return f'<li data-at="{milliseconds}">{_say(said.strip())}</li>'


def _kind(line: Line, language: Language) -> str:
    return texts.KINDS[line.kind].say(language) if line.kind in texts.KINDS else line.kind


def _pair(name: str, html: str) -> str:
    return f"<dt>{_say(name)}</dt><dd>{html}</dd>"


def _time(at: datetime) -> str:
    return f'<time datetime="{at.isoformat()}">{at:%H:%M:%S}</time>'


def _cut(text: str, language: Language) -> str:
    if len(text) <= MOST_CHARACTERS:
        return _say(text)
    more = texts.CUT.say(language, count=len(text) - MOST_CHARACTERS)
    return _say(f"{text[:MOST_CHARACTERS]}\n{more}")


def _text(value: JsonValue) -> str:
    return "" if value is None else str(value)


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _say(text: str) -> str:
    """As text of the page. What would turn or hide the text around it is shown as a mark."""
    return escape("".join("\N{REPLACEMENT CHARACTER}" if _hides(each) else each for each in text))


def _hides(character: str) -> bool:
    """Controls, halves of pairs, and the signs that set the direction of writing."""
    code = ord(character)
    return (
        (code < 32 and character not in "\n\t")
        or 0x7F <= code < 0xA0
        or 0xD800 <= code < 0xE000
        or 0x202A <= code <= 0x202E
        or 0x2066 <= code <= 0x2069
        or code in (0x200E, 0x200F, 0xFEFF)
    )
