"""The codec endpoint of the Temporal UI: opens payloads for the owner, and for nobody else.

The UI calls it from the person's browser. Where the gateway shows the UI, both are of one origin and the browser sends
its cookie; from another address it does so if "include cross-origin credentials" is on in the UI's codec settings. The
command line sends what `--codec-auth` says.
"""

from collections.abc import Sequence

from fastapi import APIRouter, HTTPException, Request, Response
from google.protobuf import json_format
from temporalio.api.common.v1 import Payloads
from temporalio.converter import PayloadCodec

from gateway.owner import COOKIE, Owner

MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_PAYLOADS = 5_000
ALLOWED_HEADERS = "authorization, content-type, x-namespace"


def codec_routes(codec: PayloadCodec, owner: Owner, ui_origins: Sequence[str]) -> APIRouter:
    """POST /codec/decode and /codec/encode."""
    router = APIRouter()
    origins = frozenset(ui_origins)

    @router.options("/codec/{action}")
    async def preflight(request: Request, action: str) -> Response:
        headers = _cors(request, origins)
        if not headers:
            raise HTTPException(403, "this page may not use the codec")
        return Response(status_code=204, headers=headers)

    @router.post("/codec/{action}")
    async def convert(request: Request, action: str) -> Response:
        headers = _cors(request, origins)
        if request.headers.get("origin") and not headers:
            raise HTTPException(403, "this page may not use the codec")
        if not _is_owner(request, owner):
            raise HTTPException(401, "the owner's token is missing or wrong", headers=headers)
        if action not in ("decode", "encode"):
            raise HTTPException(404, f"no action {action!r}", headers=headers)
        given = await _payloads(request, headers)
        work = codec.decode if action == "decode" else codec.encode
        try:
            done = Payloads(payloads=await work(given.payloads))
        except Exception as error:  # the codec is given from outside: whatever it raises is about these bytes
            raise HTTPException(400, f"not readable: {type(error).__name__}", headers=headers) from error
        return Response(json_format.MessageToJson(done), media_type="application/json", headers=headers)

    return router


def _cors(request: Request, origins: frozenset[str]) -> dict[str, str]:
    """Exactly the UI's origin, never a wildcard; empty for any other page."""
    origin = request.headers.get("origin", "")
    if origin not in origins:
        return {}
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Credentials": "true",
        "Access-Control-Allow-Headers": ALLOWED_HEADERS,
        "Access-Control-Allow-Methods": "POST, OPTIONS",
        "Vary": "Origin",
    }


def _is_owner(request: Request, owner: Owner) -> bool:
    scheme, _, said = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and owner.is_token(said.strip()):
        return True
    return owner.is_cookie(request.cookies.get(COOKIE, ""))


async def _payloads(request: Request, headers: dict[str, str]) -> Payloads:
    body = await _bounded(request, MAX_BODY_BYTES, headers)
    try:
        given = json_format.Parse(body, Payloads())
    except (json_format.ParseError, UnicodeDecodeError, RecursionError):
        raise HTTPException(400, "the body is not a Payloads message in JSON", headers=headers) from None
    if len(given.payloads) > MAX_PAYLOADS:
        raise HTTPException(413, f"at most {MAX_PAYLOADS} payloads at once", headers=headers)
    return given


async def _bounded(request: Request, limit: int, headers: dict[str, str]) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body.extend(chunk)
        if len(body) > limit:
            raise HTTPException(413, f"at most {limit} bytes", headers=headers)
    return bytes(body)
