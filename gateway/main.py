"""Starts the gateway: `python -m gateway.main` runs until SIGTERM or SIGINT."""

import asyncio
import sys

from contracts.audit import Recorder
from contracts.task import Limits
from gateway.archive import Archive
from gateway.channels.telegram import Telegram
from gateway.gateway import Gateway, Places
from gateway.recording import recording
from gateway.replay_page import Replays
from gateway.wording import sentence_for
from runtime import addresses
from runtime.blobs import FileBlobs
from runtime.codec import EncryptionCodec
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.service import Service, run_service
from runtime.settings import Settings
from runtime.telemetry import Telemetry
from runtime.temporal import connect

NAME = "gateway"


def main() -> int:
    """Gives the exit code."""
    return run_service(NAME, lambda settings: settings.metrics_port + 1, serve)


async def serve(service: Service, stop: asyncio.Event) -> None:
    keyring = Keyring.load(service.settings.data_dir)
    async with recording(service.settings, keyring, service.redactor.redact) as recorder:
        await build(service.settings, service.paths, service.telemetry, keyring, recorder).run(stop)


def build(settings: Settings, paths: DataPaths, telemetry: Telemetry, keyring: Keyring, recorder: Recorder) -> Gateway:
    """The gateway that the settings describe."""
    return Gateway(
        connect=lambda: connect(settings, keyring, runtime=telemetry.runtime, identity=NAME),
        places=Places(
            database=paths.gateway_database,
            pairing_code=paths.pairing_code,
            owner_token=paths.owner_token,
        ),
        blobs=FileBlobs(paths.blobs, keyring),
        codec=EncryptionCodec(keyring),
        telegram=telegram(settings),
        webhook_url=settings.telegram_webhook_url,
        sentence_for=sentence_for,
        limits=Limits(budget_usd=settings.task_budget_usd),
        port=settings.gateway_port,
        ui_origins=ui_origins(settings),
        ui_upstream=addresses.embedded_ui(settings),
        recorder=recorder,
        replays=Replays(Archive(settings, keyring)),
    )


def ui_origins(settings: Settings) -> tuple[str, ...]:
    """The pages that may use the codec: the UI as the gateway shows it, and on its own port."""
    return tuple(
        f"http://{name}:{port}"
        for name in ("127.0.0.1", "localhost")
        for port in (settings.gateway_port, settings.temporal_ui_port)
    )


def telegram(settings: Settings) -> Telegram | None:
    """The bot, if there is a token for one."""
    if settings.telegram_token is None:
        return None
    return Telegram(
        settings.telegram_token.get_secret_value(),
        settings.telegram_base_url,
        settings.telegram_base_file_url,
        settings.telegram_webhook_url,
    )


if __name__ == "__main__":
    sys.exit(main())
