"""`asos identity` from end to end, with secrets from standard input."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from typer.testing import CliRunner, Result

from identity import passphrases
from identity.document import Argon
from runtime.paths import DataPaths
from runtime.settings import Settings
from tests.identity.bao_server import Server
from tests.identity.vaults import CHEAP
from workers.commands.identity import identity_app
from workers.vault import vault_check, vault_state

PASSPHRASE = "correct horse battery"


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """A folder that is on no disk."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", vault_lock="file", vault_key_file=tmp_path / "key")


def run(settings: Settings, *arguments: str, said: str = "") -> Result:
    return CliRunner().invoke(identity_app(settings), [*arguments], input=said)


def facts(settings: Settings, *arguments: str, said: str = "") -> dict[str, object]:
    done = run(settings, *arguments, "--json", said=said)
    assert done.exit_code == 0, done.output
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_secret_goes_in_by_standard_input_and_is_shown_nowhere(settings: Settings) -> None:
    assert facts(settings, "unlock") == {"state": "made"}

    added = run(settings, "add", "github", "--site", "github.example", "--kind", "api_key", said="hunter2hunter2\n")
    shown = run(settings, "show", "github")
    listed = run(settings, "list")

    assert added.exit_code == 0
    assert "version 1 is stored" in added.output
    assert "api_key main, v1" in shown.output
    assert "github.example" in listed.output
    assert all("hunter2" not in each.output for each in (added, shown, listed))
    assert b"hunter2" not in DataPaths(settings.data_dir).vault.read_bytes()


def test_the_same_for_programs(settings: Settings) -> None:
    facts(settings, "unlock")
    facts(settings, "add", "shop", "--account", "ann", "--kind", "password", said="secret\n")

    assert facts(settings, "show", "shop")["secrets"] == [{"kind": "password", "name": "main", "version": 1}]
    assert facts(settings, "rotate") == {"rotated": 2}
    assert facts(settings, "doctor") == {"state": "unlocked", "secrets": 2}
    assert facts(settings, "remove", "shop", "--kind", "password") == {"profile": "shop", "removed": 1}
    assert facts(settings, "remove", "shop", "--yes") == {"profile": "shop", "removed": 1}
    gone = run(settings, "show", "shop", "--json")
    assert (gone.exit_code, json.loads(gone.stdout)["error"]) == (1, "NoSuchProfile")


def test_a_backup_goes_out_and_into_a_vault_that_is_made_anew(settings: Settings, tmp_path: Path) -> None:
    file = str(tmp_path / "backup")
    facts(settings, "unlock")
    facts(settings, "add", "shop", "--kind", "password", said="secret\n")
    assert facts(settings, "export", file, said=f"{PASSPHRASE}\n")["secrets"] == 2
    database = DataPaths(settings.data_dir).vault
    database.write_bytes(database.read_bytes()[:4096] + b"damage")
    assert json.loads(run(settings, "list", "--json").stdout)["error"] == "damaged"

    done = run(settings, "import", file, "--anew", said=f"{PASSPHRASE}\n")

    assert "2 secrets were in the backup; 0 were here already" in done.output
    assert facts(settings, "doctor") == {"state": "unlocked", "secrets": 2}
    assert len(list(database.parent.glob("aside-*"))) == 1
    assert json.loads(run(settings, "import", "none", "--anew", "--json").stdout)["error"] == "BackupUnusable"
    assert len(list(database.parent.glob("aside-*"))) == 1


def test_a_passphrase_unlocks_until_it_is_locked(
    settings: Settings, tmp_path: Path, in_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passphrases, "new_argon", cheap)
    ours = settings.model_copy(update={"vault_lock": "passphrase", "vault_session_folder": in_memory})
    assert facts(ours, "unlock", said=f"{PASSPHRASE}\n") == {"state": "made"}

    assert facts(ours, "lock") == {"state": "locked", "was_open": True}
    locked = run(ours, "add", "shop")
    assert locked.exit_code == 1
    assert "run `asos identity unlock`" in locked.output
    assert "not the vault's passphrase" in run(ours, "unlock", said="another passphrase\n").output
    assert facts(ours, "unlock", said=f"{PASSPHRASE}\n") == {"state": "unlocked", "raised": False}
    assert facts(ours, "lock") == {"state": "locked", "was_open": True}
    (tmp_path / "data" / "identity-head" / "head.json").unlink()
    assert facts(ours, "doctor", "--trust", said=f"{PASSPHRASE}\n") == {"state": "unlocked", "secrets": 0}
    assert facts(ours, "lock") == {"state": "locked", "was_open": True}


@pytest.mark.parametrize(
    "bad", [("add", "../x"), ("add", "x", "--kind", "dna"), ("add", "x", "--kind", "token", "--name", "/")]
)
def test_what_is_no_name_is_told(settings: Settings, bad: tuple[str, ...]) -> None:
    assert run(settings, *bad).exit_code == 2


async def test_doctor_and_status_say_how_the_vault_is(settings: Settings, tmp_path: Path) -> None:
    away = settings.model_copy(update={"vault_store": "openbao", "vault_address": "http://127.0.0.1:1"})
    key = tmp_path / "key"

    states = [(await vault_state(settings)).state, (await vault_state(away)).state]
    checks = [await vault_check(settings), await vault_check(away)]

    assert states == ["none", "unreachable"]
    assert [each.status for each in checks] == ["ok", "missing"]
    assert not key.exists()


def test_a_key_file_that_is_gone_is_a_locked_vault(settings: Settings, tmp_path: Path) -> None:
    facts(settings, "unlock")
    (tmp_path / "key").rename(tmp_path / "taken")

    said = run(settings, "doctor", "--json")

    assert said.exit_code == 1
    assert json.loads(said.stdout)["state"] == "locked"


def test_the_same_commands_with_the_store_and_the_key_in_openbao(settings: Settings, bao: Server) -> None:
    ours = Settings(
        data_dir=settings.data_dir,
        vault_store="openbao",
        vault_lock="transit",
        vault_address=bao.address,
        vault_role_id=bao.role_id,
        vault_secret_id=SecretStr(bao.secret_id),
        vault_path="tasks/command",
    )
    assert facts(ours, "unlock") == {"state": "made"}
    facts(ours, "add", "shop", "--kind", "password", said="secret\n")

    assert facts(ours, "rotate") == {"rotated": 2}
    assert facts(ours, "unlock") == {"state": "unlocked", "raised": False}
    assert facts(ours, "doctor") == {"state": "unlocked", "secrets": 2}
    assert "comes from transit" in run(ours, "lock").output
    file = str(settings.data_dir.parent / "backup")
    facts(ours, "export", file, said=f"{PASSPHRASE}\n")
    assert "ASOS_VAULT_PATH" in run(ours, "import", file, "--anew").output
    assert not DataPaths(settings.data_dir).vault.exists()


def cheap(costs: Argon | None = None) -> Argon:
    return CHEAP
