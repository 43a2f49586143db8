"""Checks of the local stack: the Temporal server's program and the ports."""

import asyncio
import subprocess

from contracts.language import Language
from contracts.texts import runtime as texts
from runtime.doctor.check import Check
from runtime.paths import DataPaths
from runtime.settings import Settings
from runtime.stack.parts import stack_of, temporal_binary
from runtime.stack.ports import holder_of, is_free
from runtime.stack.state import read_state

ANSWER_SECONDS = 10.0


async def temporal(settings: Settings, language: Language) -> Check:
    if settings.temporal_address:
        return await _external(settings.temporal_address, language)
    return await asyncio.to_thread(_embedded, language)


def ports(settings: Settings, language: Language) -> Check:
    state = read_state(DataPaths(settings.data_dir).stack_state)
    ours = {port for part in state.parts for port in part.ports} if state is not None and state.is_alive else set()
    wanted = {port: name for part in stack_of(settings).parts for name, port in part.ports.items()}
    for port, setting in wanted.items():
        if port not in ours and not is_free(port):
            holder = holder_of(port) or texts.UNKNOWN_HOLDER.say(language)
            detail = texts.PORT_TAKEN.say(language, port=port, holder=holder)
            remedy = texts.PORT_TAKEN_REMEDY.say(language, setting=setting)
            return Check(name="ports", status="missing", detail=detail, remedy=remedy)
    sentence = texts.PORTS_OURS if ours else texts.PORTS_FREE
    return Check(name="ports", status="ok", detail=sentence.say(language, ports=", ".join(map(str, wanted))))


async def _external(address: str, language: Language) -> Check:
    host, _, port = address.rpartition(":")
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            _, writer = await asyncio.open_connection(host, int(port))
    except (OSError, ValueError):
        detail = texts.TEMPORAL_UNREACHABLE.say(language, address=address)
        remedy = texts.TEMPORAL_UNREACHABLE_REMEDY.say(language)
        return Check(name="temporal", status="missing", detail=detail, remedy=remedy)
    writer.close()
    await writer.wait_closed()
    return Check(name="temporal", status="ok", detail=texts.TEMPORAL_EXTERNAL.say(language, address=address))


def _embedded(language: Language) -> Check:
    path = temporal_binary()
    try:
        answer = subprocess.run(  # noqa: S603  our own wheel's program with a fixed argument
            [str(path), "--version"], capture_output=True, text=True, timeout=ANSWER_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        detail = texts.NO_TEMPORAL_BINARY.say(language, path=path, problem=error)
        remedy = texts.NO_TEMPORAL_BINARY_REMEDY.say(language)
        return Check(name="temporal", status="missing", detail=detail, remedy=remedy)
    return Check(
        name="temporal", status="ok", detail=texts.TEMPORAL_BINARY.say(language, version=answer.stdout.strip())
    )
