"""How sandboxes, their snapshots and their files look in a terminal."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from rich.cells import cell_len
from rich.console import Console
from rich.filesize import decimal
from rich.text import Text

from contracts.language import Language
from contracts.lifecycle import SandboxView, Transition
from contracts.sandbox import Artifact, FileEntry, HostedSandbox, Snapshot
from contracts.texts import sandboxes as texts
from contracts.texts.sentence import Sentence
from gateway.sandbox_desk import Listed
from runtime.settings import Settings

SHORT_DIGEST = 12
GAP = 2
LEAST_LAST = 12
WIDE = 120
ONLY_WIDE = frozenset({"host", "runtime", "age"})
"""Columns that a narrow terminal leaves out: `asos sandbox show` has them."""
NOTHING = "-"
MEGABYTE = 1_048_576


def sandboxes_table(
    listed: Sequence[Listed],
    hosted: Mapping[str, HostedSandbox],
    warm: Sequence[HostedSandbox],
    language: Language,
    width: int,
) -> Text:
    """The sandboxes of tasks and forks, newest first, then what is kept ready."""
    rows = [_row(each, hosted, language) for each in listed]
    for one in warm:
        state = texts.STATES[one.state].say(language)
        place = (NOTHING, one.runtime, NOTHING, NOTHING, _bytes(one.disk_bytes), NOTHING)
        rows.append((NOTHING, state, *place, one.image))
    kept = [at for at, each in enumerate(texts.COLUMNS) if width >= WIDE or each.en not in ONLY_WIDE]
    columns = [texts.COLUMNS[at] for at in kept]
    shown_rows = [tuple(row[at] for at in kept) for row in rows]
    return _table(columns, shown_rows, language, width, right=("disk", "snapshots"))


def _row(each: Listed, hosted: Mapping[str, HostedSandbox], language: Language) -> tuple[str, ...]:
    view, lease = each.view, each.view.lease
    there = hosted.get(lease.sandbox_id) if lease else None
    return (
        view.owner,
        texts.STATES[view.state].say(language),
        lease.host_id if lease else NOTHING,
        lease.runtime if lease else NOTHING,
        _ago(each.started_at),
        NOTHING if view.working or view.touched is None else _ago(view.touched),
        _bytes(there.disk_bytes if there else None),
        str(len(view.snapshots)),
        " ".join(each.goal.split()),
    )


def show_view(console: Console, view: SandboxView, settings: Settings) -> None:
    """All of one sandbox but its files."""
    language = settings.language
    console.print(Text(view.owner, style="bold"))
    for name, value in _lines(view, settings):
        console.print(Text(f"  {texts.SHOW_LINES[name].say(language)}: {value}"))
    if view.snapshots:
        console.print(snapshots_table(view.snapshots, language, console.width))
    if view.history:
        console.print(_transitions_table(view.history, language, console.width))


def snapshots_table(snapshots: Sequence[Snapshot], language: Language, width: int) -> Text:
    rows = [
        (
            each.digest[:SHORT_DIGEST],
            each.kind,
            str(each.files),
            decimal(each.bytes_total),
            decimal(each.bytes_added),
            _ago(each.created_at),
            each.name,
        )
        for each in snapshots
    ]
    return _table(texts.SNAPSHOT_COLUMNS, rows, language, width, right=("files", "size", "added"))


def files_table(entries: Sequence[FileEntry], language: Language, width: int) -> Text:
    rows = [
        (each.kind, decimal(each.size) if each.kind == "file" else NOTHING, _moment(each.modified), shown(each.name))
        for each in entries
    ]
    return _table(texts.FILE_COLUMNS, rows, language, width, right=("size",))


def artifacts_table(artifacts: Sequence[Artifact], language: Language, width: int) -> Text:
    rows = [
        (each.sha256[:SHORT_DIGEST], decimal(each.size), _moment(each.modified), shown(each.path)) for each in artifacts
    ]
    return _table(texts.ARTIFACT_COLUMNS, rows, language, width, right=("size",))


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


def _transitions_table(history: Sequence[Transition], language: Language, width: int) -> Text:
    rows = [
        (f"{each.at.astimezone():%m-%d %H:%M:%S}", texts.STATES[each.state].say(language), shown(each.why))
        for each in history
    ]
    return _table(texts.TRANSITION_COLUMNS, rows, language, width)


def _table(
    columns: Sequence[Sentence],
    rows: Sequence[tuple[str, ...]],
    language: Language,
    width: int,
    right: Sequence[str] = (),
) -> Text:
    """Only the last column gives way on a narrow terminal: half a digest would name nothing."""
    headings = tuple(each.say(language) for each in columns)
    widths = [max(cell_len(row[at]) for row in (headings, *rows)) for at in range(len(columns))]
    widths[-1] = min(widths[-1], max(LEAST_LAST, width - sum(widths[:-1]) - GAP * len(widths[:-1])))
    lines = []
    for row in (headings, *rows):
        cells = [Text(cell) for cell in row]
        for cell, size, column in zip(cells, widths, columns, strict=True):
            cell.truncate(size, overflow="ellipsis")
            cell.pad_left(size - cell.cell_len if column.en in right else 0)
            cell.pad_right(size - cell.cell_len)
        line = Text(" " * GAP).join(cells)
        line.rstrip()
        lines.append(line)
    lines[0].stylize("bold")
    return Text("\n").join(lines)


def shown(name: str) -> str:
    """A name that a sandbox gave, without what would steer the terminal."""
    return "".join(sign if sign.isprintable() else "?" for sign in name)


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
