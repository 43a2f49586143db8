"""Where the pages of an installation are: their addresses on loopback, from the settings."""

from urllib.parse import quote, urlsplit

from runtime.settings import Settings

UI_PATH = "/temporal"
"""Path of the Temporal UI, on its own port as on the gateway's, which shows it to the owner."""

REPLAY_PATH = "/replay"
"""Path of the recordings of tasks on the gateway's port."""


def gateway(settings: Settings) -> str:
    return f"http://127.0.0.1:{settings.gateway_port}"


def host_api(settings: Settings) -> str:
    """Where the files and terminals of this host's sandboxes are."""
    return settings.host_api_url or f"http://127.0.0.1:{settings.worker_port}"


def host_name(settings: Settings) -> str:
    """The name in that address, as a request spells it; an IPv6 address is in brackets."""
    name = urlsplit(host_api(settings)).hostname or ""
    return f"[{name}]" if ":" in name else name


def host_listens(settings: Settings) -> str:
    """A further address of this machine to listen at; empty for loopback, and behind a proxy that speaks TLS."""
    parts = urlsplit(host_api(settings))
    name = parts.hostname or ""
    return "" if parts.scheme == "https" or name in ("127.0.0.1", "localhost", "::1") else name


def codec_endpoint(settings: Settings) -> str:
    """Where the Temporal UI has payloads decoded."""
    return f"{gateway(settings)}/codec"


def embedded_ui(settings: Settings) -> str:
    """The embedded server's own web page, without a path; empty with an external server."""
    return "" if settings.temporal_address else f"http://127.0.0.1:{settings.temporal_ui_port}"


def ui(settings: Settings) -> str:
    """The Temporal UI as the owner opens it; empty with an external server, whose page we do not know."""
    return "" if settings.temporal_address else f"{gateway(settings)}{UI_PATH}"


def task(settings: Settings, task_id: str) -> str:
    """A task's page in the Temporal UI; with an external server, where docker-compose.temporal.yml puts the page."""
    page = ui(settings) or f"http://127.0.0.1:{settings.temporal_ui_port}"
    return f"{page}/namespaces/{quote(settings.temporal_namespace)}/workflows/task%2F{task_id}"


def replay(settings: Settings, task_id: str) -> str:
    """The page with a task's recording."""
    return f"{gateway(settings)}{REPLAY_PATH}/{task_id}"
