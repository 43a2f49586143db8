"""Reads the small forms of the gateway's own pages."""

from urllib.parse import parse_qs

from fastapi import Request

MAX_BODY_BYTES = 4_096


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a small form; of a larger body none."""
    body = bytearray()
    async for chunk in request.stream():
        body.extend(chunk)
        if len(body) > MAX_BODY_BYTES:
            return {}
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=8)
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}
