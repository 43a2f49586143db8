"""An edit of the policy file is noticed, whether or not anything is asked."""

import asyncio
from pathlib import Path

from activities.policy_source import PolicyFile
from contracts.verdicts import Allow
from workers.policy_watch import looking_at_policy


async def test_a_mistake_in_the_file_and_its_mending_are_told_of_while_nobody_asks(tmp_path: Path) -> None:
    path, told = tmp_path / "policy.yaml", asyncio.Queue[str]()
    path.write_text("1")
    loop = asyncio.get_running_loop()

    def tell(kind: str, _version: str, _problem: str) -> None:
        loop.call_soon_threadsafe(told.put_nowait, kind)

    policy = PolicyFile(path, int, lambda _question, _policy: Allow(), on_change=tell)

    async with looking_at_policy(policy.current, seconds=0.01), asyncio.timeout(30):
        path.write_text("broken")
        broken = await told.get()
        path.write_text("2")
        mended = await told.get()

    assert (broken, mended) == ("policy.refused", "policy.changed")
