"""A wrong setting is named without its value, which might be a secret."""

from pathlib import Path

import pytest

from runtime.settings import Settings, SettingsInvalid, read_settings
from runtime.stack.parts import stack_of


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_variable_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "asos.toml").write_text('host_id = "from-file"\nmax_sandboxes = 3\n')
    monkeypatch.setenv("ASOS_HOST_ID", "from-variable")

    settings = read_settings()

    assert (settings.host_id, settings.max_sandboxes) == ("from-variable", 3)


@pytest.mark.parametrize(("name", "value"), [("ASOS_GATEWAY_PORT", "canary"), ("ASOS_HOST_ID", "Canary!")])
def test_a_wrong_variable_is_named_without_its_value(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(SettingsInvalid, match=name) as caught:
        read_settings()

    assert value not in str(caught.value)


@pytest.mark.parametrize("text", ["no toml", "unknown_setting = 1"])
def test_a_wrong_file_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "asos.toml").write_text(text)

    with pytest.raises(SettingsInvalid):
        read_settings()


def test_the_data_folder_is_the_same_from_everywhere(tmp_path: Path) -> None:
    assert Settings(data_dir=Path("here")).data_dir == tmp_path / "here"
    assert Settings(data_dir=Path("~/there")).data_dir == Path.home() / "there"


def test_a_machine_that_only_holds_sandboxes_must_know_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASOS_WORKER_ROLE", "host")
    with pytest.raises(SettingsInvalid, match=r"ASOS_WORKER_ROLE.*ASOS_TEMPORAL_ADDRESS"):
        read_settings()

    monkeypatch.setenv("ASOS_TEMPORAL_ADDRESS", "server:7233")

    assert read_settings().worker_role == "host"


@pytest.mark.parametrize(
    ("role", "parts"), [("host", ["worker"]), ("all", ["worker", "gateway"]), ("control", ["worker", "gateway"])]
)
def test_what_runs_on_a_machine_follows_its_role(role: str, parts: list[str]) -> None:
    settings = Settings.model_validate({"temporal_address": "server:7233", "worker_role": role})

    assert [part.name for part in stack_of(settings).parts] == parts
