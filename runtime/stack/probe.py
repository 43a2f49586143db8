"""Ask a part whether it is healthy."""

import asyncio
import http.client

from temporalio.client import Client
from temporalio.service import RPCError

from runtime.stack.part import HealthCheck, HttpHealth

PROBE_SECONDS = 2.0


async def is_healthy(check: HealthCheck) -> bool:
    """One question with a short time-out; no answer is a no."""
    if isinstance(check, HttpHealth):
        return await asyncio.to_thread(_http_is_healthy, check)
    return await _temporal_is_healthy(check.port)


def _http_is_healthy(health: HttpHealth) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", health.port, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", health.path)
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


async def _temporal_is_healthy(port: int) -> bool:
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            client = await Client.connect(f"127.0.0.1:{port}")
            return await client.service_client.check_health()
    except (RPCError, RuntimeError, TimeoutError):
        return False
