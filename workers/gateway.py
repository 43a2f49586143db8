"""Starts the gateway: `python -m workers.gateway` runs until SIGTERM or SIGINT. It stands here, and not in `gateway/`,
since who may speak is said by the policy file, which the gateway itself does not read."""

import asyncio
import sys

from activities.policy_source import PolicyFile
from gateway.access import Standing
from gateway.main import NAME, build
from gateway.recording import recording
from policy.roles import Policy
from runtime.keys import Keyring
from runtime.policy_state import overlays_of
from runtime.service import Service, run_service
from workers.policy_in_force import policy_in, policy_path


class PolicyAccess:
    """Who may speak, by the policy in force. It may read the file, so ask off the event loop."""

    def __init__(self, policy: PolicyFile[Policy]) -> None:
        self._policy = policy

    def standing(self, sender: str) -> Standing:
        policy = self._policy.current()
        return Standing(blocked=policy.blocks(sender), role=policy.role_of(sender))

    def problem(self) -> str:
        return self._policy.problem()


def main() -> int:
    """Gives the exit code."""
    return run_service(NAME, lambda settings: settings.metrics_port + 1, serve)


async def serve(service: Service, stop: asyncio.Event) -> None:
    """Raises: CannotStart, PortInUse."""
    settings, paths = service.settings, service.paths
    policy = await asyncio.to_thread(lambda: policy_in(policy_path(settings, paths), overlays_of(settings)))
    keyring = Keyring.load(settings.data_dir)
    async with recording(settings, keyring, service.redactor.redact) as recorder:
        await build(settings, paths, service.telemetry, keyring, recorder, PolicyAccess(policy)).run(stop)


if __name__ == "__main__":
    sys.exit(main())
