"""`asos sandboxes` and `asos sandbox …`: what sandboxes there are, and how a person steers them."""

import asyncio
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.text import Text

from contracts.lifecycle import SandboxState, SandboxView
from contracts.sandbox import Artifact, HostedSandbox, Snapshot, SnapshotKind
from contracts.texts import sandboxes as texts
from contracts.values import JsonObject
from gateway.cli.following import person_is_here, prompt
from gateway.cli.office import DONE, FAILED, USAGE, Complaint, Office, run
from gateway.cli.reaching import client_of, find_view, reached
from gateway.cli.sandbox_screen import SHORT_DIGEST, artifacts_table, limits_of, sandboxes_table, saved_text, show_view
from gateway.host_client import HostRefused, HostUnreachable
from gateway.sandbox_desk import Listed, SandboxDesk
from runtime import addresses
from runtime.settings import Settings

PANEL = "Sandboxes"
LEAST_DIGEST = 4

Which = Annotated[
    str, typer.Argument(metavar="ID", help="A task's id, a part at its beginning or end, `last`, or a fork's name.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def register(app: typer.Typer, settings: Settings) -> None:
    """Add the commands."""

    @app.command(rich_help_panel=PANEL)
    def sandboxes(
        everything: Annotated[bool, typer.Option("--all", "-a", help="Those that are gone, too.")] = False,
        as_json: Json = False,
    ) -> None:
        """List sandboxes, newest first, and what the hosts keep ready."""
        run(settings, lambda office: _list(office, everything, as_json))

    one = typer.Typer(no_args_is_help=True, help="Look after one sandbox: show, pause, save, go back, fork, destroy.")
    _add_steering(one, settings)
    _add_saving(one, settings)
    app.add_typer(one, name="sandbox", rich_help_panel=PANEL)


def _add_steering(app: typer.Typer, settings: Settings) -> None:
    @app.command()
    def show(which: Which, as_json: Json = False) -> None:
        """Show its state, lease, limits, snapshots, past, and the files that its task made."""
        run(settings, lambda office: _show(office, which, as_json))

    @app.command()
    def pause(which: Which, as_json: Json = False) -> None:
        """Freeze it until somebody needs it; refused while its task works in it."""

        async def command(office: Office) -> int:
            view = await find_view(office, which)
            return _tell(office, await SandboxDesk(office.client).pause(view.owner), as_json)

        run(settings, command)

    @app.command()
    def resume(which: Which, as_json: Json = False) -> None:
        """Let it run; one that sleeps is woken from its last snapshot."""

        async def command(office: Office) -> int:
            async with reached(office, which) as there:
                pass
            return _tell(office, await find_view(office, there.owner), as_json)

        run(settings, command)

    @app.command()
    def destroy(
        which: Which,
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
        as_json: Json = False,
    ) -> None:
        """Remove it, its files and its snapshots; its task goes on and begins with an empty one."""

        async def command(office: Office) -> int:
            view = await find_view(office, which)
            if not yes and not await _really(office, view):
                office.console.print(texts.LEFT_ALONE.say(office.language))
                return FAILED
            return _tell(office, await SandboxDesk(office.client).destroy(view.owner), as_json)

        run(settings, command)


def _add_saving(app: typer.Typer, settings: Settings) -> None:
    @app.command()
    def snapshot(
        which: Which,
        name: Annotated[str, typer.Option(help="What to call it; without it the moment gives it a name.")] = "",
        process: Annotated[bool, typer.Option("--process", help="With the memory of what runs in it.")] = False,
        as_json: Json = False,
    ) -> None:
        """Save its state."""

        async def command(office: Office) -> int:
            view = await find_view(office, which)
            called = name or f"manual-{datetime.now(UTC):%Y%m%d-%H%M%S}"
            kind: SnapshotKind = "process" if process else "files"
            saved = await SandboxDesk(office.client).snapshot(view.owner, called, kind)
            return _print(office, saved.model_dump(mode="json"), saved_text(saved, office.language), as_json)

        run(settings, command)

    @app.command()
    def restore(
        which: Which,
        snapshot: Annotated[str, typer.Argument(help="Its name, or the beginning of its digest.")],
        as_json: Json = False,
    ) -> None:
        """Go back to a snapshot; what is there now is saved before."""

        async def command(office: Office) -> int:
            view = await find_view(office, which)
            chosen = _chosen(office, view, snapshot)
            after = await SandboxDesk(office.client).restore(view.owner, chosen.digest)
            digest, named = chosen.digest[:SHORT_DIGEST], chosen.name
            sentence = texts.RESTORED.say(office.language, owner=view.owner, digest=digest, name=named)
            return _print(office, after.model_dump(mode="json"), sentence, as_json)

        run(settings, command)

    @app.command()
    def fork(
        which: Which,
        snapshot: Annotated[str, typer.Option(help="Begin with this snapshot, not with what is there now.")] = "",
        name: Annotated[str, typer.Option(help="What to call it: a-z, 0-9 and -, beginning with a letter.")] = "",
        as_json: Json = False,
    ) -> None:
        """Make a second sandbox that shares the past and nothing else; prints its id."""

        async def command(office: Office) -> int:
            view = await find_view(office, which)
            digest = _chosen(office, view, snapshot).digest if snapshot else ""
            called = name or f"fork-{secrets.token_hex(4)}"
            made = await SandboxDesk(office.client).fork(view.owner, called, digest)
            return _print(office, {"id": made, "of": view.owner}, made, as_json)

        run(settings, command)


async def _list(office: Office, everything: bool, as_json: bool) -> int:
    listed = await SandboxDesk(office.client).listed(closed=everything)
    hosted, silent = await _hosted(office, listed)
    warm = [each for each in hosted if each.state == "warm"]
    by_id = {each.sandbox_id: each for each in hosted}
    if as_json:
        shown = [_facts(each, by_id) for each in listed]
        ready = [each.model_dump(mode="json") for each in warm]
        office.console.print_json(data={"sandboxes": shown, "warm": ready, "silent_hosts": silent})
        return DONE
    if listed or warm:
        office.console.print(sandboxes_table(listed, by_id, warm, office.language, office.console.width))
    else:
        office.console.print(texts.NO_SANDBOXES.say(office.language))
    for url, reason in silent.items():
        office.console.print(Text(texts.HOST_SILENT.say(office.language, url=url, reason=reason), style="yellow"))
    return DONE


def _facts(each: Listed, hosted: dict[str, HostedSandbox]) -> JsonObject:
    there = hosted.get(each.view.lease.sandbox_id) if each.view.lease else None
    return each.view.model_dump(mode="json") | {
        "goal": each.goal,
        "started_at": each.started_at.isoformat(),
        "disk_bytes": there.disk_bytes if there else None,
        "memory_bytes": there.memory_bytes if there else None,
    }


async def _hosted(office: Office, listed: Sequence[Listed]) -> tuple[list[HostedSandbox], dict[str, str]]:
    """What every host that is known says that it has, and why others say nothing."""
    urls = {each.view.lease.api_url for each in listed if each.view.lease and each.view.lease.api_url}
    urls.add(addresses.host_api(office.settings))
    silent: dict[str, str] = {}

    async def asked(url: str) -> list[HostedSandbox]:
        try:
            async with client_of(office, url) as host:
                return await host.hosted()
        except (HostUnreachable, HostRefused) as error:
            silent[url] = str(error)
            return []

    answers = await asyncio.gather(*(asked(url) for url in sorted(urls)))
    return [each for answer in answers for each in answer], silent


async def _show(office: Office, which: str, as_json: bool) -> int:
    view = await find_view(office, which)
    made, unseen = await artifacts_of(office, view)
    if as_json:
        files = None if unseen else [each.model_dump(mode="json") for each in made]
        limits: JsonObject = dict(limits_of(office.settings))
        office.console.print_json(data=view.model_dump(mode="json") | {"limits": limits, "artifacts": files})
        return DONE
    show_view(office.console, view, office.settings)
    if unseen:
        label = texts.SHOW_LINES["files"].say(office.language)
        office.console.print(Text(f"  {label}: {unseen}", style="dim"))
    elif made:
        office.console.print(artifacts_table(made, office.language, office.console.width))
    return DONE


async def artifacts_of(office: Office, view: SandboxView) -> tuple[list[Artifact], str]:
    """What its task made, or why that was not looked at: looking must not wake it, nor count as a need."""
    if view.lease is None or view.state is not SandboxState.ACTIVE:
        return [], texts.FILES_ONLY_AWAKE.say(office.language, owner=view.owner)
    try:
        async with client_of(office, view.lease.api_url) as host:
            return await host.artifacts(view.lease), ""
    except (HostUnreachable, HostRefused) as error:
        return [], texts.FILES_UNSEEN.say(office.language, reason=error)


def _chosen(office: Office, view: SandboxView, which: str) -> Snapshot:
    """By name, the newest of that name; else by the beginning of the digest. Raises: Complaint."""
    for each in view.snapshots:
        if each.name == which:
            return each
    fitting = {each.digest: each for each in view.snapshots if each.digest.startswith(which.lower())}
    if not fitting or len(which) < LEAST_DIGEST:
        raise Complaint(texts.NO_SNAPSHOT.say(office.language, owner=view.owner, which=which), USAGE)
    if len(fitting) > 1:
        digests = ", ".join(digest[:SHORT_DIGEST] for digest in fitting)
        raise Complaint(texts.SEVERAL_SNAPSHOTS.say(office.language, which=which, digests=digests), USAGE)
    return next(iter(fitting.values()))


async def _really(office: Office, view: SandboxView) -> bool:
    if not person_is_here():
        raise Complaint(texts.SAY_YES.say(office.language, owner=view.owner), USAGE)
    sentence = texts.REALLY.say(office.language, owner=view.owner, count=len(view.snapshots))
    answer = await prompt(sentence)
    return answer.strip().lower() in ("y", "yes", "是")


def _tell(office: Office, view: SandboxView, as_json: bool) -> int:
    state = texts.STATES[view.state].say(office.language)
    sentence = texts.IS_NOW.say(office.language, owner=view.owner, state=state)
    return _print(office, view.model_dump(mode="json"), sentence, as_json)


def _print(office: Office, facts: JsonObject, sentence: str, as_json: bool) -> int:
    if as_json:
        office.console.print_json(data=facts)
    else:
        office.console.print(Text(sentence))
    return DONE
