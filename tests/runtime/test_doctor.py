"""The doctor names what is missing, with the remedy, in both languages, and no secret."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

import pytest
from pydantic import SecretStr

from contracts.language import Language
from runtime.doctor import local_stack, machine, remote
from runtime.doctor.examine import examine
from runtime.doctor.sandboxes import sandbox_checks
from runtime.paths import DataPaths
from runtime.settings import Settings
from tests.ports import free_ports

TOKEN = "1234567890:AAcanaryAAcanaryAAcanaryAAcanaryAAc"

Status = Literal["ok", "warn", "missing"]


class Platform(BaseHTTPRequestHandler):
    """Answers like Telegram and like a model's server, to the right token alone."""

    def do_GET(self) -> None:
        known = TOKEN in self.path or self.headers.get("Authorization") == "Bearer right"
        self.send_response(200 if known else 401)
        self.end_headers()
        self.wfile.write(json.dumps({"ok": known, "result": {"username": "a_bot"}}).encode())

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def platform() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Platform)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def _settings(data_dir: Path, **changes: object) -> Settings:
    names = ("temporal_port", "temporal_ui_port", "gateway_port", "worker_port", "metrics_port")
    ports = dict(zip(names, free_ports(5), strict=True))
    return Settings.model_validate({"data_dir": data_dir, **ports, **changes})


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_fresh_machine_has_all_that_is_checked_here(tmp_path: Path, language: Language) -> None:
    settings = _settings(tmp_path / "data")

    checks = await examine(settings, language)

    assert {check.name for check in checks if check.status == "missing"} == set()
    assert [check.name for check in checks if not check.detail or "{" in check.detail + check.remedy] == []


def test_an_open_data_folder_is_missing_its_lock(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    DataPaths(settings.data_dir).prepare()
    closed = machine.data_folder(settings, "en")
    settings.data_dir.chmod(0o755)
    opened = machine.data_folder(settings, "en")

    assert closed.status == "ok"
    assert opened.status == "missing"
    assert "chmod" in opened.remedy


@pytest.mark.parametrize(
    ("content", "status"), [(None, "missing"), ("role: owner", "ok"), ("a: [", "missing"), ("\x00", "missing")]
)
def test_a_policy_file_must_be_there_and_be_yaml(tmp_path: Path, content: str | None, status: Status) -> None:
    path = tmp_path / "policy.yaml"
    if content is not None:
        path.write_text(content)

    check = machine.policy_file(Settings(data_dir=tmp_path, policy_file=path), "en")

    assert check.status == status
    assert "policy.yaml" in check.detail
    assert "\n" not in check.detail


async def test_a_taken_port_is_named_with_its_setting(tmp_path: Path, platform: str) -> None:
    port = int(platform.rpartition(":")[2])

    check = local_stack.ports(_settings(tmp_path, gateway_port=port), "en")

    assert check.status == "missing"
    assert f"port {port}" in check.detail
    assert "ASOS_GATEWAY_PORT" in check.remedy


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere", "host:port", "no.such.host.invalid:7233"])
async def test_a_named_server_that_does_not_answer_is_missing(tmp_path: Path, address: str) -> None:
    check = await local_stack.temporal(Settings(data_dir=tmp_path, temporal_address=address), "en")

    assert check.status == "missing"
    assert address in check.detail


@pytest.mark.parametrize(
    ("token", "base", "status", "word"),
    [
        (None, "", "ok", "not connected"),
        (TOKEN, "", "ok", "@a_bot"),
        ("1:wrong-canary", "", "missing", "refuses"),
        (TOKEN, "http://127.0.0.1:1", "missing", "does not answer"),
        (TOKEN, "no address", "missing", "does not answer"),
    ],
)
async def test_the_telegram_token_is_tried(
    tmp_path: Path, platform: str, token: str | None, base: str, status: Status, word: str
) -> None:
    settings = Settings(
        data_dir=tmp_path,
        telegram_token=None if token is None else SecretStr(token),
        telegram_base_url=f"{base or platform}/bot",
    )

    check = await remote.telegram(settings, "en")

    assert check.status == status
    assert word in check.detail
    assert "canary" not in str(check)


@pytest.mark.parametrize(
    ("key", "base", "status", "word"),
    [
        ("right", "", "ok", "answers"),
        ("wrong-canary", "", "missing", "refuses"),
        ("right", "http://127.0.0.1:1", "missing", "does not answer"),
        (None, None, "warn", "without a key"),
        ("canary", None, "ok", "with a key"),
    ],
)
async def test_the_model_is_tried(
    tmp_path: Path, platform: str, key: str | None, base: str | None, status: Status, word: str
) -> None:
    settings = Settings(
        data_dir=tmp_path,
        model="openai/some",
        model_base_url="" if base is None else base or platform,
        model_api_key=None if key is None else SecretStr(key),
    )

    check = await remote.model(settings, "en")

    assert check.status == status
    assert word in check.detail
    assert "canary" not in str(check)


@pytest.mark.parametrize(
    ("parts", "statuses"),
    [
        ((), ["ok"]),
        (("engine",), ["warn", "ok"]),
        (("bubblewrap", "chromium"), ["warn", "warn", "ok"]),
        (("engine", "namespaces"), ["missing", "missing"]),
        (("image", "bubblewrap", "gvisor"), ["missing", "missing", "warn"]),
        (("gvisor",), ["warn", "ok"]),
        (("bounds",), ["ok", "ok"]),
        (("engine", "bounds"), ["warn", "warn", "ok"]),
    ],
)
def test_one_sandbox_driver_is_enough(parts: tuple[str, ...], statuses: list[Status]) -> None:
    checks = sandbox_checks([(part, f"no {part}") for part in parts], "en")

    assert [check.status for check in checks] == statuses
