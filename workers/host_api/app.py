"""The worker's HTTP: its health for the supervisor, and its sandboxes for the owner."""

from collections.abc import Collection
from dataclasses import dataclass

from fastapi import FastAPI
from starlette.responses import Response

from contracts.sandbox import HostedSandbox
from runtime.health import Report
from workers.host_api.doors import Doors
from workers.host_api.files import file_routes
from workers.host_api.guard import Guard
from workers.host_api.kill import KillDoor, kill_routes
from workers.host_api.refusal import answer_refusals
from workers.host_api.shell import shell_routes


@dataclass(frozen=True)
class Entry:
    """What lets the owner in."""

    doors: Doors
    token: str
    names: Collection[str]
    """Under which this host is asked."""
    kill: KillDoor | None = None


def build_app(entry: Entry, report: Report) -> FastAPI:
    """The supervisor, which knows no token, asks for the health."""
    app = FastAPI(title="Agent Sandbox OS host", docs_url=None, redoc_url=None, openapi_url=None)

    @app.api_route("/health", methods=["GET", "HEAD"])
    async def health() -> Response:
        said = report()
        return Response(said.model_dump_json(), 200 if said.healthy else 503, media_type="application/json")

    @app.get("/sandboxes")
    async def sandboxes() -> list[HostedSandbox]:
        return list(await entry.doors.hosted())

    app.include_router(file_routes(entry.doors))
    app.include_router(shell_routes(entry.doors))
    if entry.kill is not None:
        app.include_router(kill_routes(entry.kill))
    answer_refusals(app)
    app.add_middleware(Guard, token=entry.token, names=entry.names)
    return app
