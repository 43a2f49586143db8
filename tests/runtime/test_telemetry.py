"""Metrics show on their page, traces reach a collector, and recording or not changes no workflow."""

import json
import subprocess
import sys
import textwrap

import pytest

from runtime.keys import Keyring
from runtime.stack.processes import PROJECT
from tests.ports import free_ports
from tests.runtime.conftest import Server

_RUN = textwrap.dedent(
    """
    import asyncio, http.server, json, sys, threading, urllib.request, uuid
    from pathlib import Path
    from temporalio.client import WorkflowHistory
    from temporalio.worker import Replayer, Worker
    from contracts.messages import Sender
    from runtime.keys import Keyring
    from runtime.plugin import agent_os_plugin
    from runtime.settings import Settings
    from runtime.telemetry import start_telemetry
    from runtime.temporal import connect
    from tests.runtime.greeting import Greeting, greet

    data_dir, port, metrics_port, collector_port, traced, history = json.loads(sys.argv[1])
    received = []

    class Collector(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", collector_port), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{collector_port}" if traced else ""
    telemetry = start_telemetry("worker", metrics_port=metrics_port, otlp_endpoint=endpoint)
    settings = Settings(data_dir=data_dir, temporal_port=port, otlp_endpoint=endpoint)
    keyring = Keyring.load(settings.data_dir)

    async def run():
        client = await connect(settings, keyring, runtime=telemetry.runtime)
        queue = str(uuid.uuid4())
        async with Worker(client, task_queue=queue, workflows=[Greeting], activities=[greet]):
            handle = await client.start_workflow(Greeting.run, Sender(id="ok"), id=queue, task_queue=queue)
            await handle.result()
        if history:
            replayer = Replayer(workflows=[Greeting], plugins=[agent_os_plugin(keyring)])
            await replayer.replay_workflow(WorkflowHistory.from_json("w", history))
        return (await handle.fetch_history()).to_json()

    ran = asyncio.run(run())
    page = urllib.request.urlopen(f"http://127.0.0.1:{metrics_port}/metrics").read().decode()
    telemetry.close()
    spans = b"".join(body for _, body in received).decode("utf-8", "replace")
    print(json.dumps({"history": ran, "metrics": "temporal_" in page, "paths": [path for path, _ in received],
                      "spans": "RunActivity:greet" in spans, "canary": "canary" in spans}))
    """
)


def _run(server: Server, *, traced: bool, history: str = "") -> dict[str, object]:
    Keyring.load(server.settings.data_dir)
    ports = free_ports(2)
    facts = [str(server.settings.data_dir), server.settings.temporal_port, *ports, traced, history]
    done = subprocess.run(
        [sys.executable, "-c", _RUN, json.dumps(facts)],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("traced", [False, True])
def test_a_process_shows_metrics_and_sends_traces_only_if_asked(server: Server, traced: bool) -> None:
    found = _run(server, traced=traced)

    assert found["metrics"] is True
    assert found["spans"] is traced
    assert set(found["paths"] if isinstance(found["paths"], list) else []) == ({"/v1/traces"} if traced else set())
    assert found["canary"] is False


@pytest.mark.parametrize("traced", [False, True])
def test_what_ran_with_traces_replays_without_them_and_the_other_way_round(server: Server, traced: bool) -> None:
    first = _run(server, traced=traced)

    _run(server, traced=not traced, history=str(first["history"]))
