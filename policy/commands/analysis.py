"""Judge one command action: a script by its grammar, or one argv as it stands."""

from collections.abc import Mapping

from contracts.verdicts import CommandAction
from policy.commands.environment import judge_assignment
from policy.commands.scene import Scene
from policy.commands.screen import screen
from policy.commands.state import State
from policy.commands.touches import NOTHING_REAL, Touches
from policy.commands.walk import Walk
from policy.commands.word import literal
from policy.findings import Findings
from policy.paths import resolve
from policy.roles import Role
from policy.rules import Rule
from policy.setting import SANDBOX
from policy.urls import KnownHosts


def judge_command(
    action: CommandAction,
    role: Role,
    known: KnownHosts,
    findings: Findings,
    real: Mapping[str, str] = NOTHING_REAL,
    touches: Touches | None = None,
) -> None:
    """Add everything that the command would do, as far as its text says.

    `real` says where paths lead that go through links; `touches` takes the paths that are named.
    """
    findings.affect("execute")
    scene = Scene(role, known, findings, touches=touches or Touches(), real=real)
    walk = Walk(scene)
    state = State(cwds=frozenset({resolve(action.cwd, SANDBOX.workspace)}))
    for name, value in action.env.items():
        judge_assignment(scene, name, literal(value), state)
        state.assign(name, literal(value))
    try:
        _judge(walk, action, state)
    except RecursionError:
        findings.ask(Rule.COMMAND_COMPLEX, "nested too deeply")


def _judge(walk: Walk, action: CommandAction, state: State) -> None:
    if action.script is not None:
        _judge_script(walk, action.script, state)
    if action.argv and all(screen(word, walk.scene.findings) for word in action.argv):
        walk.run_words([literal(word) for word in action.argv], state)
    if action.script is None and not action.argv:
        walk.scene.findings.deny(Rule.COMMAND_GRAMMAR, "")


def _judge_script(walk: Walk, script: str, state: State) -> None:
    """Continued lines are read as bash joins them, and asked about as well, since they can hide a word."""
    if "\\\n" in script:
        walk.scene.findings.ask(Rule.COMMAND_CONTINUATION, script)
        script = script.replace("\\\n", "")
    if not script.strip():
        walk.scene.findings.deny(Rule.COMMAND_GRAMMAR, script)
    walk.run_here(script, state)
    _judge_traps(walk, state)


def _judge_traps(walk: Walk, state: State) -> None:
    """They may run at any point: in any folder that the script has been in, and with any values."""
    scene = walk.scene
    known = None if scene.lost or state.cwds is None else state.cwds | scene.folders
    for script in scene.traps:
        walk.run_script(script, State(cwds=known, variables={}, functions=dict(state.functions)))
