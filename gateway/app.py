"""The gateway's HTTP on loopback: health, the Temporal UI with its codec endpoint, and Telegram's webhook."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hmac import compare_digest

from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from temporalio.converter import PayloadCodec

from contracts.audit import Recorder
from gateway.channel import ChannelBusy, ChannelUnreachable, Liveness
from gateway.codec_page import codec_routes
from gateway.desk import DeskUnreachable
from gateway.login_page import login_routes
from gateway.owner import Owner
from gateway.replay_page import Replays
from gateway.temporal_page import TemporalPage
from runtime.addresses import UI_PATH
from runtime.health import Health
from runtime.web import LOOPBACK_NAMES

MAX_UPDATE_BYTES = 1_048_576
SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105  the header's name, not a secret

Take = Callable[[object], Awaitable[None]]


def build_app(
    *,
    reachable: Callable[[], Awaitable[bool]],
    liveness: Callable[[], Mapping[str, Liveness]],
    codec: PayloadCodec,
    owner: Owner,
    ui_origins: Sequence[str],
    ui: TemporalPage | None = None,
    webhook_secret: str = "",
    take: Take | None = None,
    public_host: str = "",
    pages: Sequence[APIRouter] = (),
    recorder: Recorder | None = None,
    replays: Replays | None = None,
) -> FastAPI:
    """`take` receives webhook updates; `public_host` is the name under which a proxy offers the webhook."""
    app = FastAPI(title="Agent Sandbox OS gateway", docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(_health_routes(reachable, liveness))
    app.include_router(codec_routes(codec, owner, ui_origins))
    app.include_router(login_routes(owner, UI_PATH if ui is not None else "", recorder))
    if replays is not None:
        app.include_router(replays.routes(owner))
    for page in pages:
        app.include_router(page)
    if ui is not None:
        app.include_router(ui.routes())
    if take is not None:
        app.include_router(_webhook_routes(webhook_secret, take))

    @app.middleware("http")
    async def known_names_only(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        # A page that points its own name at loopback must not be served as if it were ours.
        name = request.headers.get("host", "").rpartition(":")[0] or request.headers.get("host", "")
        webhook = request.url.path.startswith("/telegram/")
        if name in LOOPBACK_NAMES or (webhook and public_host and name == public_host):
            return await call_next(request)
        return Response("unknown host name", status_code=421)

    return app


def _health_routes(
    reachable: Callable[[], Awaitable[bool]], liveness: Callable[[], Mapping[str, Liveness]]
) -> APIRouter:
    router = APIRouter()

    @router.get("/health")
    async def health() -> Response:
        """200 while Temporal answers, else 503; a channel that is down is told, and does not make the gateway ill."""
        temporal = await reachable()
        channels = {
            name: {
                "connected": state.connected,
                "checked_at": state.checked_at.isoformat() if state.checked_at else None,
                "detail": state.detail,
            }
            for name, state in liveness().items()
        }
        report = Health.model_validate({"healthy": temporal, "detail": {"temporal": temporal, "channels": channels}})
        return Response(report.model_dump_json(), 200 if temporal else 503, media_type="application/json")

    return router


def _webhook_routes(secret: str, take: Take) -> APIRouter:
    router = APIRouter()

    @router.post("/telegram/{said}")
    async def webhook(request: Request, said: str) -> Response:
        """200 only when the update is safe: anything else makes Telegram send it again."""
        header = request.headers.get(SECRET_HEADER, "")
        in_path = compare_digest(said.encode("utf-8", "replace"), secret.encode())
        if not (in_path and compare_digest(header.encode("utf-8", "replace"), secret.encode())):
            raise HTTPException(404)
        try:
            await take(json.loads(await _bounded(request)))
        except ValueError:
            raise HTTPException(400, "not an update") from None
        except (DeskUnreachable, ChannelUnreachable, ChannelBusy):
            raise HTTPException(503, "not safe yet, send it again") from None
        return Response()

    return router


async def _bounded(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body.extend(chunk)
        if len(body) > MAX_UPDATE_BYTES:
            raise HTTPException(413)
    return bytes(body)
