"""The vault of an installation, put together from its settings, and what `asos doctor` and `asos status` say of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from contracts.identity import VaultDamaged, VaultLocked, VaultUnusable
from contracts.language import Language
from contracts.texts import identity as texts
from contracts.values import Value
from identity.bao import Bao, BaoAccess
from identity.document import LockKind
from identity.head import HeadFile
from identity.session import Session
from identity.stores.openbao import OpenBaoStore
from identity.stores.sqlite import SqliteStore
from identity.stores.store import Store
from identity.transit import Transit
from identity.unlocking import BySource, FileKey, KeySource, OsKeyring, WrongKey
from identity.vault import SealedVault
from runtime.doctor.check import Check
from runtime.paths import DataPaths
from runtime.settings import Settings

PATIENCE_SECONDS = 15.0


@dataclass(frozen=True)
class VaultParts:
    """The vault, and what making, rotating and locking it needs besides."""

    vault: SealedVault
    store: Store
    session: Session
    file: FileKey
    keyring: OsKeyring
    transit: Transit | None


class VaultState(Value):
    """How the vault is at this moment."""

    state: Literal["none", "locked", "unlocked", "damaged", "unreachable"]
    detail: str = ""


@asynccontextmanager
async def opened_vault(settings: Settings) -> AsyncIterator[VaultParts]:
    """Closed after the block; nothing is unlocked yet. Raises: VaultUnusable, VaultDamaged."""
    paths = DataPaths(settings.data_dir)
    async with AsyncExitStack() as stack:
        bao = await Bao.open(_access(settings)) if settings.vault_address else None
        if bao is not None:
            stack.push_async_callback(bao.close)
        transit = Transit(bao, settings.vault_transit_mount) if bao is not None else None
        session = Session(settings.vault_session_folder, str(settings.data_dir))
        file, keyring = FileKey(settings.vault_key_file), OsKeyring()
        sources: dict[LockKind, KeySource] = {"passphrase": session, "file": file, "keyring": keyring}
        if transit is not None:
            sources["transit"] = transit
        store = await _store(settings, paths, bao)
        head = HeadFile(settings.vault_head or paths.vault_head)
        vault = SealedVault(store, head, BySource(sources))
        stack.push_async_callback(vault.close)
        yield VaultParts(vault, store, session, file, keyring, transit)


async def vault_state(settings: Settings) -> VaultState:
    """Look, and change nothing."""
    if settings.vault_store == "sqlite" and not DataPaths(settings.data_dir).vault.exists():
        return VaultState(state="none")
    try:
        async with asyncio.timeout(PATIENCE_SECONDS), opened_vault(settings) as parts:
            if await parts.vault.header() is None:
                return VaultState(state="none")
            await parts.vault.unlock()
            return VaultState(state="unlocked", detail=parts.vault.place)
    except (VaultLocked, WrongKey) as error:
        return VaultState(state="locked", detail=str(error))
    except VaultDamaged as error:
        return VaultState(state="damaged", detail=str(error))
    except (VaultUnusable, TimeoutError) as error:
        return VaultState(state="unreachable", detail=str(error))


async def vault_check(settings: Settings) -> Check:
    """One line of the doctor."""
    found, language = await vault_state(settings), settings.language
    bad = found.state in ("damaged", "unreachable")
    status: Literal["ok", "warn", "missing"] = "missing" if bad else "warn" if found.state == "locked" else "ok"
    return Check(name="vault", status=status, detail=vault_sentence(found, language))


def vault_sentence(found: VaultState, language: Language) -> str:
    return texts.STATES[found.state].say(language, detail=found.detail)


async def _store(settings: Settings, paths: DataPaths, bao: Bao | None) -> Store:
    if settings.vault_store == "sqlite":
        return await SqliteStore.open(paths.vault)
    if bao is None:
        raise VaultUnusable("the vault's store is openbao, and ASOS_VAULT_ADDRESS names no server")
    return OpenBaoStore(bao, settings.vault_mount, settings.vault_path)


def _access(settings: Settings) -> BaoAccess:
    return BaoAccess(
        settings.vault_address,
        token=settings.vault_token.get_secret_value() if settings.vault_token else "",
        role_id=settings.vault_role_id,
        secret_id=settings.vault_secret_id.get_secret_value() if settings.vault_secret_id else "",
        namespace=settings.vault_namespace,
        ca_file=settings.vault_ca_file,
    )
