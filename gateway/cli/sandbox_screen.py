"""How sandboxes, their snapshots and their files look in a terminal."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from rich.console import Console
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from contracts.language import Language
from contracts.lifecycle import SandboxView, Transition
from contracts.sandbox import Artifact, FileEntry, HostedSandbox, Snapshot
from contracts.texts import sandboxes as texts
from contracts.texts.sentence import Sentence
from gateway.sandbox_desk import Listed
from runtime.settings import Settings

SHORT_DIGEST = 12
GOAL_CHARACTERS = 60
NOTHING = "-"
MEGABYTE = 1_048_576


def sandboxes_table(
    listed: Sequence[Listed], hosted: Mapping[str, HostedSandbox], warm: Sequence[HostedSandbox], language: Language
) -> Table:
    """The sandboxes of tasks and forks, newest first, then what is kept ready."""
    table = _table(texts.COLUMNS, language, right=("disk", "snapshots"))
    for each in listed:
        view = each.view
        there = hosted.get(view.lease.sandbox_id) if view.lease else None
        goal = Text(" ".join(each.goal.split()))
        goal.truncate(GOAL_CHARACTERS, overflow="ellipsis")
        table.add_row(
            view.owner,
            texts.STATES[view.state].say(language),
            view.lease.host_id if view.lease else NOTHING,
            view.lease.runtime if view.lease else NOTHING,
            _ago(each.started_at),
            NOTHING if view.working or view.touched is None else _ago(view.touched),
            _bytes(there.disk_bytes if there else None),
            str(len(view.snapshots)),
            goal,
        )
    for one in warm:
        state = texts.STATES[one.state].say(language)
        table.add_row(NOTHING, state, NOTHING, one.runtime, *(NOTHING,) * 2, _bytes(one.disk_bytes), NOTHING, one.image)
    return table


def show_view(console: Console, view: SandboxView, settings: Settings) -> None:
    """All of one sandbox but its files."""
    language = settings.language
    console.print(Text(view.owner, style="bold"))
    for name, value in _lines(view, settings):
        console.print(Text(f"  {texts.SHOW_LINES[name].say(language)}: {value}"))
    if view.snapshots:
        console.print(snapshots_table(view.snapshots, language))
    if view.history:
        console.print(_transitions_table(view.history, language))


def snapshots_table(snapshots: Sequence[Snapshot], language: Language) -> Table:
    table = _table(texts.SNAPSHOT_COLUMNS, language, right=("files", "size", "added"))
    for each in snapshots:
        sizes = (str(each.files), decimal(each.bytes_total), decimal(each.bytes_added))
        table.add_row(each.digest[:SHORT_DIGEST], Text(each.name), each.kind, *sizes, _ago(each.created_at))
    return table


def files_table(entries: Sequence[FileEntry], language: Language) -> Table:
    table = _table(texts.FILE_COLUMNS, language, right=("size",))
    for each in entries:
        size = decimal(each.size) if each.kind == "file" else NOTHING
        table.add_row(_shown(each.name), each.kind, size, _moment(each.modified))
    return table


def artifacts_table(artifacts: Sequence[Artifact], language: Language) -> Table:
    table = _table(texts.ARTIFACT_COLUMNS, language, right=("size",))
    for each in artifacts:
        table.add_row(_shown(each.path), decimal(each.size), _moment(each.modified), each.sha256)
    return table


def saved_text(snapshot: Snapshot, language: Language) -> str:
    """One line on a snapshot that was just taken."""
    return texts.SAVED.say(
        language,
        digest=snapshot.digest[:SHORT_DIGEST],
        name=snapshot.name,
        files=snapshot.files,
        size=decimal(snapshot.bytes_total),
        added=decimal(snapshot.bytes_added),
    )


def limits_of(settings: Settings) -> dict[str, float]:
    """What a sandbox of this installation may use."""
    return {
        "memory_bytes": settings.sandbox_memory_mb * MEGABYTE,
        "cpus": settings.sandbox_cpus,
        "processes": settings.sandbox_processes,
        "disk_bytes": settings.sandbox_disk_mb * MEGABYTE,
        "wall_seconds": settings.sandbox_wall_seconds,
        "output_bytes": settings.sandbox_output_mb * MEGABYTE,
    }


def _lines(view: SandboxView, settings: Settings) -> list[tuple[str, str]]:
    language = settings.language
    state = texts.STATES[view.state].say(language)
    lines = [("state", texts.SINCE.say(language, state=state, time=_ago(view.since)))]
    if view.lease is not None:
        lease = view.lease
        said = texts.LEASE.say(
            language,
            sandbox_id=lease.sandbox_id,
            host=lease.host_id,
            runtime=lease.runtime,
            image=lease.image,
            epoch=lease.epoch,
        )
        lines.append(("lease", said))
    if view.next_at is not None and view.next_step:
        step = texts.STEPS[view.next_step].say(language)
        lines.append(("next", texts.NEXT.say(language, step=step, time=duration(view.next_at - datetime.now(UTC)))))
    if view.problem:
        lines.append(("problem", view.problem))
    return [*lines, ("limits", _limits_text(settings))]


def _limits_text(settings: Settings) -> str:
    limits = limits_of(settings)
    return texts.LIMITS.say(
        settings.language,
        memory=decimal(int(limits["memory_bytes"])),
        cpus=limits["cpus"],
        processes=int(limits["processes"]),
        disk=decimal(int(limits["disk_bytes"])),
        wall=duration(timedelta(seconds=limits["wall_seconds"])),
        output=decimal(int(limits["output_bytes"])),
    )


def _transitions_table(history: Sequence[Transition], language: Language) -> Table:
    table = _table(texts.TRANSITION_COLUMNS, language)
    for each in history:
        table.add_row(f"{each.at.astimezone():%m-%d %H:%M:%S}", texts.STATES[each.state].say(language), Text(each.why))
    return table


def _table(columns: Sequence[Sentence], language: Language, right: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for each in columns:
        table.add_column(each.say(language), justify="right" if each.en in right else "left", overflow="fold")
    return table


def _shown(name: str) -> Text:
    """A name that a sandbox gave, without what would steer the terminal."""
    return Text("".join(sign if sign.isprintable() else "?" for sign in name))


def _moment(seconds: float) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC).astimezone():%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError, OSError):
        return NOTHING


def _ago(then: datetime) -> str:
    return duration(datetime.now(UTC) - then)


def duration(span: timedelta) -> str:
    """The two largest units that say something."""
    seconds = max(0, int(span.total_seconds()))
    days, hours, minutes = seconds // 86_400, seconds % 86_400 // 3_600, seconds % 3_600 // 60
    if days:
        return f"{days} d {hours} h" if hours else f"{days} d"
    if hours:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{minutes} min" if minutes else f"{seconds} s"


def _bytes(count: int | None) -> str:
    return NOTHING if count is None else decimal(count)
