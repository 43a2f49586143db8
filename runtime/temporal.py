"""The connection to Temporal: waits until the server answers, and brings its namespace in order."""

import asyncio
import logging
import time

from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import UpdateNamespaceRequest
from temporalio.client import Client
from temporalio.runtime import Runtime
from temporalio.service import RPCError, RPCStatusCode

from contracts import search
from runtime.keys import Keyring
from runtime.plugin import agent_os_plugin
from runtime.settings import Settings

RETRY_SECONDS = 0.25
REPORT_SECONDS = 10.0
"""How often a wait is spoken of in the log."""

_PERMANENT = (RPCStatusCode.UNAUTHENTICATED, RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED)

_log = logging.getLogger(__name__)


class TemporalUnreachable(Exception):
    """Raised when the server does not answer in time, or refuses; the text names its address and the remedy."""


class NamespaceUnfit(Exception):
    """Raised when the namespace lacks a search attribute that cannot be added; the text says which."""


async def connect(
    settings: Settings,
    keyring: Keyring,
    *,
    runtime: Runtime | None = None,
    identity: str | None = None,
    patience_seconds: float | None = None,
) -> Client:
    """A client with the project's wiring. Waits for the server, at most `patience_seconds`, else for ever.

    Raises: TemporalUnreachable.
    """
    begun = spoken = time.monotonic()
    while True:
        try:
            return await _connected(settings, keyring, runtime, identity)
        except RuntimeError as error:
            now = time.monotonic()
            if patience_seconds is not None and now - begun >= patience_seconds:
                raise _unreachable(settings.temporal_target, now - begun, error) from error
            if spoken == begun or now - spoken >= REPORT_SECONDS:
                spoken = now
                _log.warning("Temporal at %s does not answer yet, still trying: %s", settings.temporal_target, error)
        await asyncio.sleep(RETRY_SECONDS)


async def prepare_namespace(client: Client, retention_days: int | None) -> None:
    """Register the search attributes that are missing; set how long closed workflows stay, unless None.

    Raises: NamespaceUnfit.
    """
    if retention_days is not None:
        await _keep_closed_workflows(client, retention_days)
    registered = await _registered(client)
    wanted = {name: IndexedValueType.Value(_enum_name(kind)) for name, kind in search.TYPES.items()}
    for name, kind in wanted.items():
        if registered.get(name, kind) != kind:
            raise NamespaceUnfit(
                f"the search attribute {name} of namespace {client.namespace!r} has the type "
                f"{IndexedValueType.Name(registered[name])} and must be {search.TYPES[name]}; use another namespace"
            )
    missing = {name: kind for name, kind in wanted.items() if name not in registered}
    if missing:
        await _register(client, missing)


async def _connected(settings: Settings, keyring: Keyring, runtime: Runtime | None, identity: str | None) -> Client:
    return await Client.connect(
        settings.temporal_target,
        namespace=settings.temporal_namespace,
        api_key=settings.temporal_api_key.get_secret_value() if settings.temporal_api_key else None,
        tls=settings.temporal_tls or settings.temporal_api_key is not None,
        plugins=[agent_os_plugin(keyring, spans=bool(settings.otlp_endpoint))],
        runtime=runtime,
        identity=identity,
    )


def _unreachable(target: str, waited: float, error: RuntimeError) -> TemporalUnreachable:
    return TemporalUnreachable(
        f"Temporal at {target} did not answer within {waited:.0f} s: {error}; start it with `asos up`, "
        "or set ASOS_TEMPORAL_ADDRESS"
    )


async def _keep_closed_workflows(client: Client, days: int) -> None:
    retention = Duration(seconds=days * 86_400)
    await client.workflow_service.update_namespace(
        UpdateNamespaceRequest(
            namespace=client.namespace, config=NamespaceConfig(workflow_execution_retention_ttl=retention)
        )
    )


async def _registered(client: Client) -> dict[str, IndexedValueType.ValueType]:
    request = ListSearchAttributesRequest(namespace=client.namespace)
    return dict((await client.operator_service.list_search_attributes(request)).custom_attributes)


async def _register(client: Client, missing: dict[str, IndexedValueType.ValueType]) -> None:
    request = AddSearchAttributesRequest(namespace=client.namespace, search_attributes=missing)
    try:
        await client.operator_service.add_search_attributes(request)
    except RPCError as error:
        if error.status is RPCStatusCode.ALREADY_EXISTS:
            return
        names = ", ".join(f"{name}={search.TYPES[name]}" for name in missing)
        raise NamespaceUnfit(
            f"namespace {client.namespace!r} lacks the search attributes {names}, and they cannot be added "
            f"({error.message}); ask its administrator to register them"
        ) from error


def _enum_name(kind: str) -> str:
    return f"INDEXED_VALUE_TYPE_{kind.upper()}"
