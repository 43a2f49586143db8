"""`asos audit …`: check the record, read it, take a task's whole past out, and watch it again."""

import asyncio
import json
import webbrowser
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from audit.bundle_check import checked_bundle, manifest_of
from audit.chain import HeadBroken
from audit.reading import reading, records, tasks
from audit.replay.page import page
from audit.replay.steps import Step, entries
from audit.signing import KeyUnusable, PublicKey
from audit.storage import StorageUnusable
from audit.verifying import Broken, Intact, verified
from contracts.language import Language
from contracts.sandbox import Artifact
from contracts.texts import auditing as texts
from gateway.archive import Archive
from gateway.cli.audit_screen import ages, lines_table, shown
from gateway.cli.office import DONE, FAILED, USAGE, Complaint, Office, complain, find_task, run
from gateway.cli.sandboxes import artifacts_of
from gateway.exporting import Export
from gateway.recording import audit_places
from gateway.sandbox_desk import SandboxDesk
from runtime import addresses
from runtime.codec import PayloadUnreadable
from runtime.keys import Keyring, KeyringUnusable
from runtime.paths import DataPaths
from runtime.settings import Settings

PANEL = "The system"

Task = Annotated[str, typer.Argument(help="A task's id, a part at its beginning or end, or `last`.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def register(app: typer.Typer, settings: Settings) -> None:
    """Add the commands."""
    audit = typer.Typer(no_args_is_help=True, help="Check the record of what happened, read it, take it out.")
    _add_checking(audit, settings)
    _add_reading(audit, settings)
    _add_taking_out(audit, settings)
    app.add_typer(audit, name="audit", rich_help_panel=PANEL)


def _add_checking(app: typer.Typer, settings: Settings) -> None:
    @app.command()
    def verify(
        bundle: Annotated[Path | None, typer.Argument(help="A bundle; without it this installation's log.")] = None,
        key: Annotated[str, typer.Option(help="Fingerprint of the public key, as you wrote it down.")] = "",
        as_json: Json = False,
    ) -> None:
        """Check every record and signature, offline; names the first bad one, and then ends with exit code 1."""
        fingerprint = key.strip().lower().replace(":", "")
        if bundle is None:
            places = audit_places(settings)
            if not any(path.exists() for path in (places.database, places.head, places.public_key)):
                raise typer.Exit(complain(texts.NO_LOG.say(settings.language, folder=settings.data_dir), USAGE))
            found = verified(places, fingerprint)
        else:
            try:
                found = checked_bundle(bundle, fingerprint)
            except OSError as error:
                sentence = texts.NO_BUNDLE.say(settings.language, path=bundle, reason=error.strerror)
                raise typer.Exit(complain(sentence, USAGE)) from error
        raise typer.Exit(_tell(found, bundle, bool(fingerprint), settings.language, as_json))


def _add_reading(app: typer.Typer, settings: Settings) -> None:
    @app.command("list")
    def list_records(
        task: Annotated[str, typer.Argument(help="A task's id, a part of it, or `last`; without it all.")] = "",
        kind: Annotated[
            list[str] | None, typer.Option(help="Such as `verdict`, `approval`, `effect.ended`; may be given again.")
        ] = None,
        since: Annotated[str, typer.Option(help="Such as 30d, 12h, 45m, or 2026-01-31.")] = "",
        as_json: Json = False,
    ) -> None:
        """Who asked, approved and did what, with arguments, result and policy version, oldest first."""
        try:
            raise typer.Exit(_list(settings, task, tuple(kind or ()), since, as_json))
        except Complaint as complaint:
            raise typer.Exit(complain(str(complaint), complaint.exit_code)) from complaint
        except (StorageUnusable, KeyringUnusable) as error:
            raise typer.Exit(complain(str(error), FAILED)) from error


def _add_taking_out(app: typer.Typer, settings: Settings) -> None:
    @app.command()
    def export(
        task: Task,
        out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write.")] = None,
        plain: Annotated[
            bool, typer.Option("--plain", help="Write all words out, with a page that plays them.")
        ] = False,
    ) -> None:
        """Write one signed bundle: history, audit lines with proof, screenshots and files with their digests."""
        run(settings, lambda office: _export(office, task, out, plain=plain))

    @app.command()
    def replay(
        task: Task,
        out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write.")] = None,
        show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    ) -> None:
        """Write a page that plays what a task did: its steps, its screenshots, its commands."""
        run(settings, lambda office: _replay(office, task, out, show=show))


def _tell(found: Intact | Broken, bundle: Path | None, checked_key: bool, language: Language, as_json: bool) -> int:
    if as_json:
        typer.echo(found.model_dump_json())
        return DONE if isinstance(found, Intact) else FAILED
    if isinstance(found, Broken):
        sentence = texts.BROKEN[found.reason].say(language, sequence=found.sequence, detail=found.detail)
        return complain(sentence.strip(), FAILED)
    typer.echo(_whole(found, bundle, language))
    if found.after_head:
        typer.echo(texts.AFTER_HEAD.say(language, count=found.after_head))
    if not checked_key:
        typer.echo(texts.COMPARE_KEY.say(language))
    return DONE


def _whole(found: Intact, bundle: Path | None, language: Language) -> str:
    if bundle is None:
        return texts.WHOLE.say(language, records=found.records, head=found.head[:16], fingerprint=found.fingerprint)
    manifest = manifest_of(bundle)
    return texts.BUNDLE_WHOLE.say(
        language,
        task_id=manifest.task_id,
        members=len(manifest.members),
        records=found.records,
        fingerprint=found.fingerprint,
    )


def _list(settings: Settings, task: str, kinds: tuple[str, ...], since: str, as_json: bool) -> int:
    language = settings.language
    places = audit_places(settings)
    if not places.database.exists():
        raise Complaint(texts.NO_LOG.say(language, folder=settings.data_dir), USAGE)
    begin = ages(since, datetime.now(UTC))
    if since and begin is None:
        raise Complaint(texts.BAD_SINCE.say(language, said=since), USAGE)
    # Loading makes a keyring where there is none, and reading must not.
    archive = (
        Archive(settings, Keyring.load(settings.data_dir)) if DataPaths(settings.data_dir).keyring.exists() else None
    )
    with reading(places.database) as connection:
        wanted = None
        if task:
            found = tasks(connection, task)
            if len(found) != 1:
                several = texts.SEVERAL_TASKS.say(language, task=task, tasks=", ".join(found[:5]))
                raise Complaint(several if found else texts.NO_RECORDS_OF.say(language, task=task), USAGE)
            wanted = found[0]
        read = records(connection, task_id=wanted, kinds=kinds, since=begin)
        if as_json:
            for record in read:
                words = archive.opened(record) if archive else None
                typer.echo(json.dumps(record.model_dump(mode="json") | {"words": words}, ensure_ascii=False))
            return DONE
        lines = [shown(record, archive.opened(record) if archive else None, language) for record in read]
    console = Console(highlight=False)
    console.print(lines_table(lines, language) if lines else Text(texts.NO_RECORDS.say(language)))
    return DONE


async def _export(office: Office, named: str, out: Path | None, *, plain: bool) -> int:
    task_id = await find_task(office, named)
    path = out or Path(f"asos-{task_id}.zip")
    archive = Archive(office.settings, office.keyring)
    export = Export(archive, office.client, task_id, office.language)
    artifacts = await _artifacts(office, task_id)
    try:
        manifest = await export.write(path, artifacts, plain=plain)
        key = PublicKey.read(await asyncio.to_thread(archive.places.public_key.read_bytes))
    except (OSError, StorageUnusable, KeyUnusable, HeadBroken, PayloadUnreadable) as error:
        raise Complaint(texts.NOT_EXPORTED.say(office.language, reason=error)) from error
    sentence = texts.EXPORTED.say(
        office.language,
        path=path,
        members=len(manifest.members),
        records=manifest.records,
        fingerprint=key.fingerprint,
    )
    office.console.print(Text(sentence))
    if not plain:
        office.console.print(Text(texts.SEALED_WORDS.say(office.language)))
    return DONE


async def _artifacts(office: Office, task_id: str) -> list[Artifact] | str:
    """What the sandbox holds, if it is awake."""
    view = await SandboxDesk(office.client).view(task_id)
    if view is None:
        return []
    made, why = await artifacts_of(office, view)
    return why or made


async def _replay(office: Office, named: str, out: Path | None, *, show: bool) -> int:
    task_id = await find_task(office, named)
    path = out or Path(f"asos-{task_id}.html")
    try:
        recording = await Archive(office.settings, office.keyring).recording(office.client, task_id)
        html = await asyncio.to_thread(page, recording, office.language)
        await asyncio.to_thread(path.write_bytes, html.encode("utf-8", "replace"))
    except (OSError, StorageUnusable, PayloadUnreadable) as error:
        raise Complaint(texts.NOT_EXPORTED.say(office.language, reason=error)) from error
    steps = sum(isinstance(entry, Step) for entry in entries(recording))
    url = addresses.replay(office.settings, task_id)
    office.console.print(Text(texts.REPLAY_WRITTEN.say(office.language, path=path, steps=steps, url=url)))
    if show:
        await asyncio.to_thread(webbrowser.open, path.absolute().as_uri())
    return DONE
