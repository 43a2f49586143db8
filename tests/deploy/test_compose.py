"""The production file for Temporal: complete, in the right order, and open to this machine alone."""

import re
import shutil
import subprocess
from typing import Any

import pytest
import yaml

from tests.deploy.scripts import ROOT

FILE = ROOT / "docker-compose.temporal.yml"
ONE_SHOTS = {"schema", "namespace", "search-attributes"}
SERVERS = {"postgres", "temporal", "ui"}


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(FILE.read_text())["services"]
    return loaded


def composed(**variables: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("docker-compose") is None:
        pytest.skip("docker-compose is not installed; `make test` installs it")
    command = ["docker-compose", "-f", str(FILE), "config"]
    return subprocess.run(command, env={"PATH": "/usr/bin:/bin", **variables}, capture_output=True, text=True)


def test_it_names_every_part(services: dict[str, Any]) -> None:
    assert set(services) == ONE_SHOTS | SERVERS


def test_compose_itself_accepts_it() -> None:
    read = composed(TEMPORAL_DB_PASSWORD="x1!")

    assert read.returncode == 0, read.stderr
    assert set(yaml.safe_load(read.stdout)["services"]) == ONE_SHOTS | SERVERS


def test_there_is_no_built_in_password() -> None:
    read = composed()

    assert read.returncode != 0
    assert "choose a password" in read.stderr


def test_each_part_starts_after_what_it_needs(services: dict[str, Any]) -> None:
    waits = {name: service.get("depends_on", {}) for name, service in services.items()}

    assert waits["schema"] == {"postgres": {"condition": "service_healthy"}}
    assert waits["temporal"] == {"schema": {"condition": "service_completed_successfully"}}
    assert waits["namespace"] == {"temporal": {"condition": "service_healthy"}}
    assert waits["search-attributes"] == {"namespace": {"condition": "service_completed_successfully"}}


@pytest.mark.parametrize("name", sorted(SERVERS))
def test_a_server_comes_back_after_a_crash_and_a_one_shot_ends(services: dict[str, Any], name: str) -> None:
    assert services[name]["restart"] == "unless-stopped"
    assert all(services[one_shot]["restart"].startswith("on-failure:") for one_shot in ONE_SHOTS)


def test_every_port_is_on_loopback_and_the_database_has_none(services: dict[str, Any]) -> None:
    ports = [port for service in services.values() for port in service.get("ports", [])]

    assert all(port.startswith("${ASOS_BIND:-127.0.0.1}:") for port in ports)
    assert "ports" not in services["postgres"]


def test_every_mounted_script_and_setting_is_there(services: dict[str, Any]) -> None:
    mounted = {volume.split(":")[0] for service in services.values() for volume in service.get("volumes", [])}
    used = set(re.findall(r"/setup/([\w.]+)", FILE.read_text()))

    assert "./deploy/temporal" in mounted
    assert used == {path.name for path in (ROOT / "deploy" / "temporal").iterdir()}


def test_the_servers_settings_are_lists_of_values_as_it_reads_them() -> None:
    settings = yaml.safe_load((ROOT / "deploy" / "temporal" / "dynamicconfig.yaml").read_text())

    assert settings["frontend.WorkerCommandsEnabled"] == [{"value": True}]
    assert all(isinstance(values, list) and all("value" in value for value in values) for values in settings.values())
