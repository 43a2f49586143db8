"""Follows the links of what a call touches, right before it runs, and judges it again where they lead elsewhere.

What is looked at may change between this look and the use: a process that the task left running in its sandbox could
put another link in the place. The sandbox itself is what holds then.
"""

import asyncio
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from activities import outcomes
from activities.examining import Examined, Examiner
from contracts.activities import Fingerprint, RunRequest
from contracts.paths import Followed
from contracts.sandbox import FileRefused, Files, Sandbox
from contracts.texts import links as texts
from contracts.tools import ToolResult
from contracts.verdicts import Action, Allow, Ask, Verdict
from policy.commands.touched import touched_paths

BATCH = 512
"""Paths in one exchange with the sandbox."""
MOST_FINGERPRINTS = 64
_FIXED = frozenset({"/", "/workspace", "/home/agent", "/tmp", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})  # noqa: S108 - of the sandbox
"""Where the sandbox itself is mounted, and devices: no task puts a link there."""
_STRICTNESS: tuple[type, ...] = (Allow, Ask)


@dataclass(frozen=True)
class Moved:
    """Links lead elsewhere than was judged: what to say instead of running the call, and where they lead."""

    result: ToolResult
    real: dict[str, str] | None = None
    """None if that could not be found out."""


async def led_elsewhere(
    examined: Examined, run: RunRequest, sandbox: Sandbox | None, examiner: Examiner
) -> Moved | None:
    """None if its links lead to what was judged, or to nothing stricter. Raises: SandboxLost."""
    request, language = run.judged, run.language
    if sandbox is None or examined.tool is None:
        return None
    try:
        real = await real_paths(examined.tool.actions(examined.args), sandbox.files)
    except FileRefused as refused:
        return Moved(outcomes.changed(request.call, texts.LINKS_UNCLEAR.say(language, why=str(refused))))
    seen = request.real_paths
    # What a person said yes to is the target on the card, and no other, however it is judged.
    unseen = run.approval is not None and any(real.get(path, path) != target for path, target in seen.items())
    if not real and not unseen:
        return None
    again = (await examiner.examine(request, real, again=True)).outcome.verdict
    if not unseen and not is_stricter(again, examined.outcome.verdict):
        return None
    link, target = _named(real or {path: path for path in seen}, again)
    rules = ", ".join(dict.fromkeys(reason.rule for reason in again.reasons))
    said = texts.LINK_CHANGED.say(language, link=link, target=target, rules=rules)
    return Moved(outcomes.changed(request.call, said), real)


async def real_paths(actions: Iterable[Action], files: Files) -> dict[str, str]:
    """Each path that the actions touch and that leads elsewhere. Raises: FileRefused, SandboxLost."""
    found: dict[str, str] = {}
    # Off the event loop: a long script takes a while to be walked.
    followed, parents = await asyncio.to_thread(_asked, tuple(actions))
    for one in await _all(files, followed):
        found[one.path] = one.real
    for one in await _all(files, [posixpath.dirname(path) for path in parents]):
        found.update(_of_names(one, parents))
    return {path: real for path, real in found.items() if posixpath.normpath(path) != real}


async def fingerprint_of(files: Files, paths: Sequence[str]) -> Fingerprint:
    """What files are now. Raises: FileRefused, SandboxLost."""
    looked = await files.follow(paths[:MOST_FINGERPRINTS], digests=True) if paths else ()
    beyond = paths[MOST_FINGERPRINTS:]
    return Fingerprint(
        real={one.path: one.real for one in looked} | dict(zip(beyond, beyond, strict=True)),
        content={one.real: one.content for one in looked} | dict.fromkeys(beyond, "too_large"),
    )


def is_stricter(again: Verdict, before: Verdict) -> bool:
    """Whether it says more against the call than what was granted."""
    new, old = _level(again), _level(before)
    return new > old or (new == old > 0 and not set(again.reasons) <= set(before.reasons))


def _level(verdict: Verdict) -> int:
    return _STRICTNESS.index(type(verdict)) if isinstance(verdict, _STRICTNESS) else len(_STRICTNESS)


def _asked(actions: Iterable[Action]) -> tuple[list[str], list[str]]:
    """Paths that are followed to their end, and names of which only the folder is."""
    whole: dict[str, None] = {}
    names: dict[str, None] = {}
    for action in actions:
        touched = touched_paths(action)
        whole.update(dict.fromkeys((*touched.reads, *touched.writes, *touched.runs, *touched.sends)))
        names.update(dict.fromkeys(touched.removes))
    return [path for path in whole if path not in _FIXED], [path for path in names if path not in _FIXED]


async def _all(files: Files, paths: Sequence[str]) -> list[Followed]:
    asked = [path for path in dict.fromkeys(paths) if path not in _FIXED]
    batches = [asked[at : at + BATCH] for at in range(0, len(asked), BATCH)]
    return [one for batch in batches for one in await files.follow(batch)]


def _of_names(folder: Followed, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """A name in a folder that is a link lies in the folder which the link leads to."""
    for path in names:
        above, name = posixpath.split(path)
        if folder.path.count("/") < above.count("/"):  # the beginning of a path with wildcards
            yield folder.path, folder.real
        else:
            yield posixpath.join(folder.path, name), posixpath.join(folder.real, name)


def _named(real: dict[str, str], verdict: Verdict) -> tuple[str, str]:
    details = {reason.detail for reason in verdict.reasons}
    return next((item for item in real.items() if item[1] in details), next(iter(real.items())))
