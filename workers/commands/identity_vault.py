"""The half of `asos identity` that is about the vault itself: unlock, lock, rotate, export, import, doctor."""

import json
import shutil
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.console import Console

from contracts.identity import VaultUnusable
from contracts.texts import identity as texts
from identity.backup import described, export, restore
from identity.document import Header, Lock, LockKind
from identity.passphrases import change_passphrase, make_vault, unlock_vault
from identity.rotation import rotate
from identity.sealing import wipe
from identity.session import Session
from identity.unlocking import MasterKey
from identity.vault import new_vault_id
from runtime.paths import DataPaths
from runtime.settings import Settings
from workers.commands.identity_asking import Refusal, asked
from workers.vault import VaultParts, opened_vault, vault_sentence, vault_state

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for programs.")]
Run = Callable[[Coroutine[None, None, int], bool], None]

_out = Console(soft_wrap=True, highlight=False)


def register(app: typer.Typer, settings: Settings, run: Run) -> None:
    """Add the commands."""

    @app.command()
    def unlock(as_json: Json = False) -> None:
        """Unlock the vault until `lock` or a restart; the first time, make it."""
        run(_Work(settings, as_json).unlock(), as_json)

    @app.command()
    def lock(as_json: Json = False) -> None:
        """Lock the vault for every process at once; who needs a secret waits."""
        run(_Work(settings, as_json).lock(), as_json)

    @app.command("rotate")
    def rotate_(
        passphrase: Annotated[bool, typer.Option("--passphrase", help="Give it a new passphrase as well.")] = False,
        as_json: Json = False,
    ) -> None:
        """Seal all secrets with a new key, while the system runs."""
        run(_Work(settings, as_json).rotate(passphrase=passphrase), as_json)

    @app.command("export")
    def export_(file: Annotated[Path, typer.Argument(help="File to write.")], as_json: Json = False) -> None:
        """Write a backup of everything, sealed with a passphrase of its own."""
        run(_Work(settings, as_json).export(file), as_json)

    @app.command("import")
    def import_(
        file: Annotated[Path, typer.Argument(help="A backup.")],
        older: Annotated[bool, typer.Option("--older", help="Even if the vault is newer than the backup.")] = False,
        anew: Annotated[bool, typer.Option("--anew", help="Put the present vault aside, and make a new one.")] = False,
        as_json: Json = False,
    ) -> None:
        """Put back what a backup holds; what it does not hold stays."""
        run(_Work(settings, as_json).restore(file, older=older, anew=anew), as_json)

    @app.command()
    def doctor(
        trust: Annotated[
            bool, typer.Option("--trust", help="Take what the store holds for the newest, if all of it opens.")
        ] = False,
        as_json: Json = False,
    ) -> None:
        """Open every secret once, and say what is wrong; exit code 1 if something is."""
        run(_Work(settings, as_json).doctor(trust=trust), as_json)


class _Work:
    """What the commands do; each gives its exit code."""

    def __init__(self, settings: Settings, as_json: bool) -> None:
        self._settings = settings
        self._language = settings.language
        self._as_json = as_json

    async def unlock(self) -> int:
        async with opened_vault(self._settings) as parts:
            header = await parts.vault.header()
            if header is None:
                return self._done({"state": "made"}, texts.MADE.say(self._language, place=await self._make(parts)))
            raised = await self._unlock(parts, header, trust=False)
        sentence = texts.UNLOCKED if header.lock.kind == "passphrase" else texts.UNLOCKED_BY
        if raised and not self._as_json:
            _out.print(texts.RAISED.say(self._language))
        return self._done({"state": "unlocked", "raised": raised}, sentence.say(self._language, kind=header.lock.kind))

    async def lock(self) -> int:
        session = Session(self._settings.vault_session_folder, str(self._settings.data_dir))
        if await session.drop():
            return self._done({"state": "locked", "was_open": True}, texts.LOCKED.say(self._language))
        async with opened_vault(self._settings) as parts:
            header = await parts.vault.header()
        if header is None:
            raise Refusal(texts.STATES["none"].say(self._language, detail=""))
        if header.lock.kind != "passphrase":
            raise Refusal(texts.NO_LOCK.say(self._language, kind=header.lock.kind))
        return self._done({"state": "locked", "was_open": False}, texts.WAS_LOCKED.say(self._language))

    async def rotate(self, *, passphrase: bool) -> int:
        async with opened_vault(self._settings) as parts:
            kind = (await parts.vault.current()).header.lock.kind
            if passphrase and kind != "passphrase":
                raise Refusal(texts.ONLY_PASSPHRASE.say(self._language, kind=kind))
            if passphrase:
                said = self._ask(texts.ASK_NEW.say(self._language), twice=True)
                try:
                    await change_passphrase(parts.vault, parts.session, said)
                finally:
                    wipe(said)
            count = await rotate(parts.vault, parts.store)
        if passphrase and not self._as_json:
            _out.print(texts.NEW_PASSPHRASE.say(self._language))
        return self._done({"rotated": count}, texts.ROTATED.say(self._language, count=count))

    async def export(self, file: Path) -> int:
        async with opened_vault(self._settings) as parts:
            await parts.vault.current()
            said = self._ask(texts.ASK_BACKUP.say(self._language), twice=True)
            try:
                count = await export(parts.vault, file, said)
            finally:
                wipe(said)
        return self._done(
            {"file": str(file), "secrets": count}, texts.EXPORTED.say(self._language, count=count, file=file)
        )

    async def restore(self, file: Path, *, older: bool, anew: bool) -> int:
        described(file)  # so that nothing is moved for a file that is none
        if anew:
            self._put_aside()
        async with opened_vault(self._settings) as parts:
            if await parts.vault.header() is None:
                await self._make(parts)
            await parts.vault.current()
            said = self._ask(texts.ASK_BACKUP.say(self._language))
            try:
                found = await restore(parts.vault, file, said, older=older)
            finally:
                wipe(said)
        return self._done(
            {"secrets": found.secrets, "unchanged": found.unchanged},
            texts.IMPORTED.say(self._language, count=found.secrets, unchanged=found.unchanged),
        )

    async def doctor(self, *, trust: bool) -> int:
        found = await vault_state(self._settings)
        if not trust and found.state != "unlocked":
            sentence = vault_sentence(found, self._language)
            return self._done({"state": found.state, "detail": found.detail}, sentence, int(found.state != "none"))
        async with opened_vault(self._settings) as parts:
            if trust:
                header = await parts.vault.header()
                if header is None:
                    raise Refusal(texts.STATES["none"].say(self._language, detail=""))
                await self._unlock(parts, header, trust=True)
            entries = (await parts.vault.current()).living()
            for entry in entries:
                async with parts.vault.opened(entry.key):
                    pass
        return self._done(
            {"state": "unlocked", "secrets": len(entries)}, texts.SOUND.say(self._language, count=len(entries))
        )

    async def _unlock(self, parts: VaultParts, header: Header, *, trust: bool) -> bool:
        if header.lock.kind != "passphrase":
            await parts.vault.unlock(trust=trust)
            return False
        said = self._ask(texts.ASK_PASSPHRASE.say(self._language))
        try:
            return await unlock_vault(parts.vault, parts.session, said, trust=trust)
        finally:
            wipe(said)

    async def _make(self, parts: VaultParts) -> str:
        """Give where it is."""
        kind = self._settings.vault_lock
        if kind == "passphrase":
            said = self._ask(texts.ASK_NEW.say(self._language), twice=True)
            try:
                await make_vault(parts.vault, parts.session, said)
            finally:
                wipe(said)
        else:
            vault_id = new_vault_id()
            lock = Lock(kind=kind, key_name=self._settings.vault_transit_key if kind == "transit" else "")
            await parts.vault.make(vault_id, lock, await self._master(parts, kind, vault_id, lock))
        return parts.vault.place

    async def _master(self, parts: VaultParts, kind: LockKind, vault_id: str, lock: Lock) -> MasterKey:
        if kind == "keyring":
            return await parts.keyring.make(vault_id)
        if kind == "transit":
            if parts.transit is None:
                raise VaultUnusable("transit needs a server: name it with ASOS_VAULT_ADDRESS")
            return await parts.transit.make(lock.key_name)
        path = self._settings.vault_key_file
        if path is not None and path.exists():
            return await parts.file.master_key(vault_id, lock)
        try:
            return await parts.file.make()
        except OSError as error:
            raise VaultUnusable(f"cannot make the key file {path}: {error.strerror or error}") from error

    def _put_aside(self) -> None:
        """A damaged vault is moved, never removed."""
        if self._settings.vault_store != "sqlite":
            raise Refusal(texts.NOT_ASIDE.say(self._language))
        paths = DataPaths(self._settings.data_dir)
        head = self._settings.vault_head or paths.vault_head
        aside = paths.vault.parent / f"aside-{datetime.now(UTC):%Y%m%d-%H%M%S}"
        found = [*paths.vault.parent.glob(f"{paths.vault.name}*"), *head.parent.glob(head.name)]
        if not found:
            return
        try:
            aside.mkdir(mode=0o700)
            for path in found:
                shutil.move(path, aside / path.name)  # the head may be on another disk
        except OSError as error:
            raise VaultUnusable(f"cannot put the vault aside in {aside}: {error.strerror}") from error
        if not self._as_json:
            _out.print(texts.PUT_ASIDE.say(self._language, folder=aside), markup=False)

    def _ask(self, prompt: str, *, twice: bool = False) -> bytearray:
        return asked(prompt, self._language, texts.ASK_AGAIN.say(self._language) if twice else "")

    def _done(self, facts: dict[str, JsonValue], sentence: str, code: int = 0) -> int:
        _out.print(json.dumps(facts, ensure_ascii=False) if self._as_json else sentence, markup=False)
        return code
