"""What worker and gateway have in common: settings, folder, logs and telemetry first, then work until a signal."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from runtime.logs import start_logging
from runtime.paths import DataPaths
from runtime.process import run_until_signal
from runtime.redact import Redactor, secrets_of
from runtime.settings import Settings, SettingsInvalid, read_settings
from runtime.telemetry import Telemetry, start_telemetry

USAGE = 2


@dataclass(frozen=True)
class Service:
    """One process of the installation, ready to work."""

    name: str
    settings: Settings
    paths: DataPaths
    redactor: Redactor
    telemetry: Telemetry


def run_service(
    name: str,
    metrics_port: Callable[[Settings], int],
    serve: Callable[[Service, asyncio.Event], Coroutine[None, None, None]],
) -> int:
    """Run `serve` until SIGTERM or SIGINT; gives the exit code, which is USAGE for settings that cannot be read."""
    try:
        settings = read_settings()
    except SettingsInvalid as error:
        sys.stderr.write(f"{error}\n")
        return USAGE
    paths = DataPaths(settings.data_dir)
    paths.prepare()
    redactor = redactor_of(settings)
    log = start_logging(name, logs=paths.logs, level=settings.log_level, redactor=redactor)
    telemetry = start_telemetry(name, metrics_port=metrics_port(settings), otlp_endpoint=settings.otlp_endpoint)
    try:
        return run_until_signal(lambda stop: serve(Service(name, settings, paths, redactor, telemetry), stop))
    finally:
        telemetry.close()
        log.close()


def redactor_of(settings: Settings) -> Redactor:
    """Masks this installation's secrets."""
    return Redactor(secrets_of(dict(settings), os.environ))
