"""The person's policy with the files over it, for whoever asks it; the worker also says which one is in force."""

import logging
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from activities.policy_source import OnChange, PolicyFile
from contracts.activities import Demands
from contracts.verdicts import Question, Verdict
from policy.ceilings import ceilings_of
from policy.document import PolicyError
from policy.file import parse
from policy.judge import judge
from policy.roles import BrowserRules, Policy
from policy.sandboxes import wanted
from policy.shipped import default_text
from policy.tightening import tightened
from runtime.files import create_atomically
from runtime.paths import FOLDER_MODE, DataPaths
from runtime.policy_state import PolicyState, overlays_of, write_policy_state
from runtime.process import CannotStart
from runtime.settings import Settings

_log = logging.getLogger(__name__)


def policy_path(settings: Settings, paths: DataPaths) -> Path:
    """The person's policy file; the shipped one is copied at the first start, for them to change."""
    if settings.policy_file is not None:
        return settings.policy_file.absolute()
    if not paths.policy.exists():
        create_atomically(paths.policy, default_text().encode())
    return paths.policy


def policy_in(
    path: Path, overlays: tuple[Path, ...] = (), on_change: OnChange = lambda _kind, _version, _problem: None
) -> PolicyFile[Policy]:
    """The person's policy, read and in force. Raises: CannotStart with the line that is wrong."""
    try:
        return PolicyFile(
            path,
            lambda text: parse(text, path.name),
            judge,
            demands,
            PolicyError,
            ceilings_of,
            browsing,
            overlays=overlays,
            tighten=_over,
            version=lambda policy: policy.version,
            on_change=on_change,
        )
    except (PolicyError, OSError, ValueError) as error:
        raise CannotStart(f"the policy cannot be read: {error}; run `asos policy check {path}`") from error


def policy_of(settings: Settings, paths: DataPaths, on_change: OnChange | None = None) -> PolicyFile[Policy]:
    """The policy of an installation; which version is in force is noted where `asos status` looks.

    Raises: CannotStart, OSError.
    """
    path, overlays = policy_path(settings, paths), overlays_of(settings)

    def changed(kind: Literal["policy.changed", "policy.refused"], version: str, problem: str) -> None:
        _note(paths, path, overlays, version, problem)
        if on_change is not None:
            on_change(kind, version, problem)

    found = policy_in(path, overlays, changed)
    _note(paths, path, overlays, found.current().version)
    return found


def demands(question: Question, verdict: Verdict, policy: Policy) -> Demands:
    """What policy wants, in the words of the activities."""
    found = wanted(question, verdict, policy)
    return Demands(runtime=found.runtime, snapshot=found.snapshot, retention_days=found.retention_days)


def browsing(role: str, policy: Policy) -> BrowserRules:
    """What a role may do with addresses; what any file blocks is blocked."""
    known = policy.roles.get(role)
    if known is None or known.browser is None:
        return BrowserRules()
    rules = [known.browser, *(each.browser for each in known.narrowed if each.browser is not None)]
    return replace(known.browser, blocked=tuple(dict.fromkeys(rule for each in rules for rule in each.blocked)))


def _over(policy: Policy, text: str, path: Path) -> Policy:
    found = tightened(policy, text, path.name)
    for ignored in found.ignored[len(policy.ignored) :]:
        _log.warning("not taken from a file that may only tighten: %s", ignored)
    return found


def _note(paths: DataPaths, path: Path, overlays: tuple[Path, ...], version: str, problem: str = "") -> None:
    state = PolicyState(
        file=str(path), overlays=tuple(map(str, overlays)), version=version, at=datetime.now(UTC), problem=problem
    )
    try:
        paths.policy_state.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        write_policy_state(paths.policy_state, state)
    except OSError as error:
        _log.error("which policy is in force cannot be noted for `asos status`: %s", error)
