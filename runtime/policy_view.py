"""How the policy in force looks on a terminal."""

from rich.console import Console

from contracts.language import Language
from contracts.texts import runtime as texts
from runtime.policy_state import PolicyState


def show_policy(console: Console, policy: PolicyState, language: Language) -> None:
    """Which policy is in force, and in red why a change to it is not."""
    in_force = texts.POLICY_IN_FORCE.say(language, version=policy.version[:12], file=policy.file)
    console.print(in_force, markup=False, highlight=False, soft_wrap=True)
    if policy.problem:
        refused = texts.POLICY_REFUSED.say(language, problem=policy.problem, file=policy.file)
        console.print(refused, style="red", markup=False, highlight=False, soft_wrap=True)
