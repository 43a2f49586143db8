"""Builds the gateway from its settings; workers/gateway.py starts it."""

from contracts.audit import Recorder
from contracts.task import Limits
from gateway.access import Access
from gateway.archive import Archive
from gateway.channels.telegram import Telegram
from gateway.gateway import Gateway, Places
from gateway.recording import factor_of
from gateway.replay_page import Replays
from gateway.telling import lift_elsewhere
from gateway.wording import sentence_for
from runtime import addresses
from runtime.blobs import FileBlobs
from runtime.codec import EncryptionCodec
from runtime.keys import Keyring
from runtime.killing.brake import FileBrake
from runtime.killing.desk import KillDesk
from runtime.killing.state import StateFile
from runtime.paths import DataPaths
from runtime.settings import Settings
from runtime.telemetry import Telemetry
from runtime.temporal import connect

NAME = "gateway"


def build(
    settings: Settings, paths: DataPaths, telemetry: Telemetry, keyring: Keyring, recorder: Recorder, access: Access
) -> Gateway:
    """The gateway that the settings describe, for those whom the owner's rules let speak."""
    return Gateway(
        connect=lambda: connect(settings, keyring, runtime=telemetry.runtime, identity=NAME),
        places=Places(
            database=paths.gateway_database,
            pairing_code=paths.pairing_code,
            owner_token=paths.owner_token,
            standing=paths.standing,
        ),
        blobs=FileBlobs(paths.blobs, keyring),
        codec=EncryptionCodec(keyring),
        telegram=telegram(settings),
        webhook_url=settings.telegram_webhook_url,
        sentence_for=sentence_for,
        limits=Limits(budget_usd=settings.task_budget_usd),
        port=settings.gateway_port,
        kills=KillDesk.of(
            paths, keyring, factor_of(settings, keyring), recorder, lift_elsewhere(settings, paths, keyring)
        ),
        brake=FileBrake(StateFile.of(paths, keyring)),
        ui_origins=ui_origins(settings),
        ui_upstream=addresses.embedded_ui(settings),
        access=access,
        language=settings.language,
        sealer=keyring,
        confirm=factor_of(settings, keyring).confirm,
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
