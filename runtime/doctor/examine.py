"""Run every check at once; one that breaks is itself a finding."""

import asyncio
from collections.abc import Awaitable, Sequence

from contracts.language import Language
from contracts.texts import runtime as texts
from runtime.doctor import local_stack, machine, remote
from runtime.doctor.check import Check
from runtime.settings import Settings

Looking = tuple[str, Awaitable[Check]]


async def examine(settings: Settings, language: Language) -> list[Check]:
    """The checks of this package; those of the sandbox come from `sandbox.doctor`."""
    looking: Sequence[Looking] = (
        ("python", asyncio.to_thread(machine.python, language)),
        ("environment", asyncio.to_thread(machine.environment, language)),
        ("data folder", asyncio.to_thread(machine.data_folder, settings, language)),
        ("disk", asyncio.to_thread(machine.disk, settings, language)),
        ("temporal", local_stack.temporal(settings, language)),
        ("ports", asyncio.to_thread(local_stack.ports, settings, language)),
        ("policy", asyncio.to_thread(machine.policy_file, settings, language)),
        ("model", remote.model(settings, language)),
        ("telegram", remote.telegram(settings, language)),
    )
    return list(await asyncio.gather(*(_safely(name, check, language) for name, check in looking)))


async def _safely(name: str, check: Awaitable[Check], language: Language) -> Check:
    try:
        return await check
    except OSError as error:
        detail = texts.CHECK_FAILED.say(language, problem=error.strerror)
        return Check(name=name, status="warn", detail=detail)
