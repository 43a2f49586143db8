"""Connection, namespace and the one wiring, against the real server."""

import asyncio
import logging
import subprocess
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle, WorkflowHistory
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.exceptions import ActivityError
from temporalio.worker import Replayer, Worker

from contracts import search
from contracts.messages import Sender
from runtime.keys import Keyring
from runtime.plugin import agent_os_plugin
from runtime.settings import Settings
from runtime.stack.parts import stack_of
from runtime.temporal import NamespaceUnfit, TemporalUnreachable, connect, prepare_namespace
from tests.ports import free_ports
from tests.runtime.conftest import Server
from tests.runtime.greeting import CANARY, Greeting, greet


async def _run(client: Client, sender: Sender) -> WorkflowHandle[Greeting, Sender]:
    queue = f"q-{uuid.uuid4()}"
    async with Worker(client, task_queue=queue, workflows=[Greeting], activities=[greet]):
        handle = await client.start_workflow(
            Greeting.run, sender, id=f"w-{uuid.uuid4()}", task_queue=queue, static_summary=f"goal {CANARY}"
        )
        if sender.id == "fail":
            with pytest.raises(WorkflowFailureError) as caught:
                await handle.result()
            assert isinstance(caught.value.cause, ActivityError)
            assert CANARY in str(caught.value.cause.cause)
        else:
            assert CANARY in (await handle.result()).name
        return handle


@pytest.fixture
async def client(server: Server) -> Client:
    return await connect(server.settings, Keyring.load(server.settings.data_dir), patience_seconds=20)


@pytest.mark.parametrize("sender", ["ok", "fail"])
async def test_neither_values_nor_failures_are_in_clear_in_history(client: Client, sender: str) -> None:
    handle = await _run(client, Sender(id=sender, name=CANARY))

    history = (await handle.fetch_history()).to_json()
    assert CANARY not in history
    assert "greeting.py" not in history


async def test_a_replay_with_the_same_plugin_agrees_with_every_run(client: Client, server: Server) -> None:
    histories = [await (await _run(client, Sender(id="ok"))).fetch_history() for _ in range(2)]
    replayer = Replayer(workflows=[Greeting], plugins=[agent_os_plugin(Keyring.load(server.settings.data_dir))])

    for history in histories:
        again = WorkflowHistory.from_json(history.workflow_id, history.to_json())
        await replayer.replay_workflow(again)


async def test_the_namespace_is_brought_in_order_and_twice_is_no_harm(client: Client) -> None:
    await prepare_namespace(client, 45)
    await prepare_namespace(client, 45)

    request = DescribeNamespaceRequest(namespace=client.namespace)
    described = await client.workflow_service.describe_namespace(request)
    assert described.config.workflow_execution_retention_ttl.ToTimedelta() == timedelta(days=45)


async def test_a_task_can_be_found_by_its_attributes(client: Client) -> None:
    await prepare_namespace(client, None)
    user = f"telegram:{uuid.uuid4()}"
    pairs = TypedSearchAttributes(
        [
            SearchAttributePair(search.TASK_PHASE, "acting"),
            SearchAttributePair(search.NEEDS_HUMAN, True),
            SearchAttributePair(search.USER_ID, user),
            SearchAttributePair(search.CHANNEL, "telegram"),
            SearchAttributePair(search.HOST_ID, "local"),
            SearchAttributePair(search.RISK_SCORE, 40),
            SearchAttributePair(search.COST_USD, 0.5),
            SearchAttributePair(search.STEP, 3),
        ]
    )
    handle = await client.start_workflow(
        "Anything",
        id=f"w-{uuid.uuid4()}",
        task_queue="nobody",
        search_attributes=pairs,
    )

    # The index lags behind, hence the loop.
    query = f'UserId="{user}" AND NeedsHuman=true AND RiskScore>30 AND CostUsd<1 AND Step=3 AND TaskPhase="acting"'
    async with asyncio.timeout(20):
        while [found.id async for found in client.list_workflows(query)] != [handle.id]:  # noqa: ASYNC110  nothing tells
            await asyncio.sleep(0.1)

    await handle.terminate()


async def test_a_namespace_with_an_attribute_of_another_type_is_named(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    await prepare_namespace(client, None)
    monkeypatch.setitem(search.TYPES, "TaskPhase", "Int")

    with pytest.raises(NamespaceUnfit, match=r"TaskPhase .* must be Int"):
        await prepare_namespace(client, None)


async def test_missing_attributes_are_added(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"Added{uuid.uuid4().hex[:8]}"
    monkeypatch.setitem(search.TYPES, name, "Datetime")

    await prepare_namespace(client, None)
    monkeypatch.setitem(search.TYPES, name, "Bool")

    with pytest.raises(NamespaceUnfit, match=name):
        await prepare_namespace(client, None)


async def test_connecting_waits_until_the_server_is_there(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    port, ui_port = free_ports(2)
    settings = Settings(data_dir=tmp_path, temporal_port=port, temporal_ui_port=ui_port)
    keyring = Keyring.load(tmp_path)
    (tmp_path / "temporal").mkdir()
    with caplog.at_level(logging.WARNING):
        waiting = asyncio.create_task(connect(settings, keyring))
        await asyncio.sleep(1)
        assert not waiting.done()
    process = await asyncio.create_subprocess_exec(
        *stack_of(settings).parts[0].argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(30):
            await waiting
    finally:
        process.kill()
        await process.wait()

    told = [record.message for record in caplog.records if "does not answer yet" in record.message]
    assert len(told) == 1
    assert f"127.0.0.1:{port}" in told[0]


async def test_patience_ends_with_the_address_and_the_remedy(tmp_path: Path) -> None:
    [port] = free_ports(1)
    settings = Settings(data_dir=tmp_path, temporal_port=port)

    with pytest.raises(TemporalUnreachable, match=rf"127\.0\.0\.1:{port}.*asos up"):
        await connect(settings, Keyring.load(tmp_path), patience_seconds=0.5)
