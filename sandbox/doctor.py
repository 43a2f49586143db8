"""What a machine lacks for sandboxes, and how to get it."""

import asyncio
import shutil
from dataclasses import dataclass
from typing import Literal

from contracts.language import Language
from contracts.sandbox import SandboxUnavailable
from contracts.texts import limits as limit_texts
from contracts.texts import sandbox as texts
from sandbox import cgroups
from sandbox.checkpoints import process_snapshots
from sandbox.drivers import bubblewrap, docker
from sandbox.engine import runtimes
from sandbox.hardening import GVISOR


@dataclass(frozen=True)
class Gap:
    """One thing that is missing."""

    part: Literal["engine", "gvisor", "image", "chromium", "bubblewrap", "namespaces", "bounds", "processes"]
    text: str
    """What is missing and the remedy, for a person."""


async def gaps(*, docker_host: str = "", runtime: str = "auto", language: Language = "en") -> tuple[Gap, ...]:
    """All gaps of both drivers; one driver without gaps is enough to work."""
    return (*await _engine_gaps(docker_host, runtime, language), *await _bubblewrap_gaps(language))


async def _engine_gaps(docker_host: str, runtime: str, language: Language) -> list[Gap]:
    try:
        known = await runtimes(docker_host)
    except SandboxUnavailable as error:
        return [Gap("engine", str(error))]
    found = []
    if runtime not in ("auto", *known):
        found.append(Gap("engine", texts.RUNTIME_ABSENT.say(language, runtime=runtime, known=", ".join(known))))
    if GVISOR not in known:
        found.append(Gap("gvisor", texts.GVISOR_ABSENT.say(language)))
    elif (reason := await process_snapshots(docker_host, language)) is not None:
        found.append(Gap("processes", reason))
    engine = docker.Driver(docker_host=docker_host, language=language)
    try:
        for image in ("base", "browser"):
            try:
                await engine.resolve_image(image)
            except SandboxUnavailable as error:
                found.append(Gap("image", str(error)))
    finally:
        await engine.close()
    return found


async def _bubblewrap_gaps(language: Language) -> list[Gap]:
    found = [
        Gap("bubblewrap", texts.PROGRAM_ABSENT.say(language, program=program, package=package))
        for program, package in bubblewrap.missing()
    ]
    if not found and (fault := await bubblewrap.namespace_fault()) is not None:
        found.append(Gap("namespaces", texts.NAMESPACES_CLOSED.say(language, cause=fault)))
    elif not found:
        found.append(Gap("bounds", await _bounds(language)))
    if shutil.which("chromium", path="/usr/bin") is None:
        found.append(Gap("chromium", texts.PROGRAM_ABSENT.say(language, program="chromium", package="chromium")))
    return found


async def _bounds(language: Language) -> str:
    """What bubblewrap does not hold even where it works."""
    grouped = await asyncio.to_thread(cgroups.can_be_made)
    more = (limit_texts.BOUNDS_BY_GROUP if grouped else limit_texts.BOUNDS_BY_PROCESS).say(language)
    return limit_texts.BOUNDS.say(language, more=more)
