"""OpenBao and HashiCorp Vault as they behave on bad days, and their transit engine as the master key."""

import asyncio
from pathlib import Path
from typing import Any

import hvac
import pytest

from contracts.identity import VaultLocked, VaultUnusable
from identity.bao import Bao, BaoAccess
from identity.document import Lock
from identity.head import HeadFile
from identity.stores.openbao import OpenBaoStore
from identity.stores.sqlite import SqliteStore
from identity.transit import Transit
from identity.unlocking import LocalKey, WrongKey
from identity.vault import SealedVault, new_vault_id
from tests.identity.bao_server import TOKEN, Server, running
from tests.identity.vaults import Fixed, in_bao, named, plain


def role(server: Server) -> BaoAccess:
    return BaoAccess(server.address, role_id=server.role_id, secret_id=server.secret_id)


def life_of(root: hvac.Client, token: str) -> dict[str, Any]:
    answer: Any = root.auth.token.lookup(token)
    found: dict[str, Any] = answer["data"]
    return found


async def test_the_transit_engine_wraps_the_keys_of_a_vault_in_a_file(bao: Server, tmp_path: Path) -> None:
    connection = await Bao.open(role(bao))
    transit = Transit(connection, "transit")
    vault = SealedVault(await SqliteStore.open(tmp_path / "vault.db"), HeadFile(tmp_path / "head.json"), transit)

    await vault.make(new_vault_id(), Lock(kind="transit", key_name="asos"), await transit.make("asos"))
    await vault.put(named("token"), bytearray(b"secret"))
    vault.forget()
    found = await plain(vault, named("token"))
    key = await transit.make("asos")
    wrapped = await key.wrap(bytearray(32), b"bound to this")

    assert found == b"secret"
    with pytest.raises(WrongKey, match="refuses"):
        await key.unwrap(wrapped, b"bound to that")
    await vault.close()
    await connection.close()


async def test_a_server_without_transit_is_told_with_the_remedy(bao: Server) -> None:
    connection = await Bao.open(BaoAccess(bao.address, token=TOKEN))

    with pytest.raises(VaultUnusable, match="bao secrets enable -path=nowhere transit"):
        await Transit(connection, "nowhere").make("asos")
    with pytest.raises(VaultLocked, match="no name of a transit key"):
        await Transit(connection, "transit").master_key("v", Lock(kind="transit", key_name="../x"))
    await connection.close()


async def test_a_server_without_the_kv_engine_is_told_with_the_remedy(bao: Server, tmp_path: Path) -> None:
    store = OpenBaoStore(await Bao.open(BaoAccess(bao.address, token=TOKEN)), "nowhere", "vault")
    vault = SealedVault(store, HeadFile(tmp_path / "head.json"), Fixed(bytes(32)))

    with pytest.raises(VaultUnusable, match="version=2 kv"):
        await vault.make(new_vault_id(), Lock(kind="file"), LocalKey.new())
    await vault.close()


async def test_a_kv_engine_of_version_1_is_refused(bao: Server, tmp_path: Path) -> None:
    with bao.root() as root:
        root.sys.enable_secrets_engine("kv", path="former", options={"version": "1"})
    store = OpenBaoStore(await Bao.open(BaoAccess(bao.address, token=TOKEN)), "former", "vault")
    vault = SealedVault(store, HeadFile(tmp_path / "head.json"), Fixed(bytes(32)))

    with pytest.raises(VaultUnusable, match="no KV engine of version 2"):
        await vault.make(new_vault_id(), Lock(kind="file"), LocalKey.new())
    await vault.close()


async def test_a_path_that_the_policy_does_not_allow_is_told(bao: Server) -> None:
    store = OpenBaoStore(await Bao.open(role(bao)), "secret", "others")

    with pytest.raises(VaultUnusable, match="forbids it: the role has ended, or its policy"):
        await store.document()
    await store.close()


async def test_a_token_that_is_none_is_told(bao: Server) -> None:
    with pytest.raises(VaultUnusable, match="forbids it: the token has ended"):
        await Bao.open(BaoAccess(bao.address, token="no token"))


async def test_a_server_that_is_away_is_told() -> None:
    with pytest.raises(VaultUnusable, match="cannot be reached"):
        await Bao.open(BaoAccess("http://127.0.0.1:1", token="any"))


async def test_a_server_that_was_sealed_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    with running() as server:
        place = in_bao(tmp_path, server)
        async with place.made() as vault:
            await vault.put(named("token"), bytearray(b"secret"))
            with server.root() as root:
                root.write_data("sys/seal", data={})

            with pytest.raises(VaultUnusable, match="bao operator unseal"):
                await plain(vault, named("token"))
            late = bytearray(b"later")
            with pytest.raises(VaultUnusable):
                await vault.put(named("token"), late)
    assert late == bytes(5)


async def test_a_token_is_renewed_at_half_of_its_life(bao: Server) -> None:
    now = [1_000.0]
    with bao.root() as root:
        created: Any = root.auth.token.create(policies=["tasks"], ttl="1h", renewable=True)
        token = created["auth"]["client_token"]
        connection = await Bao.open(BaoAccess(bao.address, token=token), clock=lambda: now[0])
        before = life_of(root, token)
        now[0] += 1_900

        await connection.call(lambda client: client.auth.token.lookup_self())

        after = life_of(root, token)
    assert not before.get("last_renewal_time")
    assert after["last_renewal_time"] > 0
    await connection.close()


async def test_a_role_logs_in_again_when_its_token_was_revoked(bao: Server) -> None:
    connection = await Bao.open(role(bao))
    tokens = [await connection.call(lambda client: client.token)]
    with bao.root() as root:
        root.auth.token.revoke(tokens[0])

    await connection.call(lambda client: client.auth.token.lookup_self())

    tokens.append(await connection.call(lambda client: client.token))
    assert tokens[0] != tokens[1]
    await connection.close()


async def test_the_server_keeps_no_former_document(bao: Server, tmp_path: Path) -> None:
    place = in_bao(tmp_path, bao)
    async with place.made() as vault:
        for text in (b"one", b"two", b"three"):
            await vault.put(named("token"), bytearray(text))
        path = vault.place.rpartition("secret/")[2]

    with bao.root() as root:
        metadata: Any = root.secrets.kv.v2.read_secret_metadata(f"{path}/document")
        boxes: Any = root.secrets.kv.v2.list_secrets(f"{path}/boxes")
    assert list(metadata["data"]["versions"]) == ["4"]
    assert len(boxes["data"]["keys"]) == 1


async def test_calls_of_many_at_once_share_one_connection(bao: Server) -> None:
    connection = await Bao.open(role(bao))

    answers = await asyncio.gather(
        *(connection.call(lambda client: client.auth.token.lookup_self()["data"]["policies"]) for _ in range(8))
    )

    assert all("tasks" in policies for policies in answers)
    await connection.close()


def test_access_shows_neither_token_nor_secret() -> None:
    assert "hush" not in repr(BaoAccess("http://127.0.0.1", token="hush", role_id="r", secret_id="hush"))
