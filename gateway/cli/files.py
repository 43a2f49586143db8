"""`asos files get`, `put` and `list`: the files of a sandbox, on this machine."""

import posixpath
import shlex
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.filesize import decimal
from rich.text import Text

from contracts.texts import sandboxes as texts
from contracts.texts.sentence import Sentence
from contracts.values import JsonObject
from gateway.cli.local_terminal import typed
from gateway.cli.moving import Moved, counted, of_file, progress_bar, to_file, to_output
from gateway.cli.office import DONE, FAILED, USAGE, Complaint, Office, run
from gateway.cli.reaching import reached
from gateway.cli.sandbox_screen import files_table
from gateway.cli.sandboxes import PANEL, Json, Which
from runtime.settings import Settings

PIPE = "-"
"""Standard input or output in the place of a file."""

There = Annotated[str, typer.Argument(metavar="PATH", help="In the sandbox; relative paths start at /workspace.")]


def register(app: typer.Typer, settings: Settings) -> None:
    """Add the commands."""
    files = typer.Typer(no_args_is_help=True, help="Get, put and list the files of a sandbox.")
    app.add_typer(files, name="files", rich_help_panel=PANEL)

    @files.command()
    def get(
        which: Which,
        path: There,
        local: Annotated[str, typer.Argument(help="File or folder here, or - for standard output.")] = ".",
        force: Annotated[bool, typer.Option("--force", "-f", help="Replace a file that exists.")] = False,
        as_json: Json = False,
    ) -> None:
        """Get a file; of a folder, a tar file."""
        run(settings, lambda office: _get(office, which, path, local, force, as_json))

    @files.command()
    def put(
        which: Which,
        local: Annotated[str, typer.Argument(help="File here, or - for standard input.")],
        path: There,
        as_json: Json = False,
    ) -> None:
        """Put a file in place of what is there, in one step; a PATH that ends with / is a folder."""
        run(settings, lambda office: _put(office, which, local, path, as_json))

    @files.command("list")
    def names(which: Which, path: There = ".", as_json: Json = False) -> None:
        """List a folder."""

        async def command(office: Office) -> int:
            async with reached(office, which) as there:
                entries = await there.host.names(there.lease, path)
            if as_json:
                office.console.print_json(data=[each.model_dump(mode="json") for each in entries])
            elif entries:
                office.console.print(files_table(entries, office.language, office.console.width))
            else:
                office.console.print(texts.NO_FILES.say(office.language))
            return DONE

        run(settings, command)


async def _get(office: Office, which: str, path: str, local: str, force: bool, as_json: bool) -> int:
    async with reached(office, which) as there, there.host.get(there.lease, path) as download:
        name = posixpath.basename(posixpath.normpath(posixpath.join("/workspace", path)))
        with progress_bar(name, download.size, quiet=as_json) as advance:
            if local == PIPE:
                await to_output(download.pieces, advance)
                return DONE
            target = _target(office, Path(local), f"{name}.tar" if download.is_folder else name, force)
            with _complaining(office, texts.CANNOT_WRITE, target):
                moved = await to_file(download.pieces, target, advance, replace=force)
    sentence = texts.GOT_FOLDER if download.is_folder else texts.GOT
    said = sentence.say(office.language, path=target, size=decimal(moved.bytes))
    return _tell(office, said, _facts(moved, str(target)), as_json)


async def _put(office: Office, which: str, local: str, path: str, as_json: bool) -> int:
    if path.endswith("/"):
        path += "standard-input" if local == PIPE else Path(local).name
    with _opened(office, local, which) as (pieces, size):
        async with reached(office, which) as there:
            bar = progress_bar(posixpath.basename(path), size, quiet=as_json)
            with bar as advance, _complaining(office, texts.CANNOT_READ, local):
                stored = await there.host.put(there.lease, path, counted(pieces, advance), size)
            said = texts.PUT.say(office.language, path=path, owner=there.owner, size=decimal(stored.bytes))
    return _tell(office, said, stored.model_dump(mode="json"), as_json)


@contextmanager
def _opened(office: Office, local: str, which: str) -> Iterator[tuple[AsyncIterator[bytes], int | None]]:
    """The content, with its size if that is known. Raises: Complaint."""
    if local == PIPE:
        yield typed(), None
        return
    path = Path(local)
    with _complaining(office, texts.CANNOT_READ, path):
        facts = path.stat()
    if stat.S_ISDIR(facts.st_mode):
        raise Complaint(texts.A_FOLDER.say(office.language, path=shlex.quote(local), owner=which), USAGE)
    if not stat.S_ISREG(facts.st_mode):
        raise Complaint(texts.NOT_A_FILE.say(office.language, path=path), USAGE)
    with _complaining(office, texts.CANNOT_READ, path):
        file = path.open("rb")
    with file:
        yield of_file(file), facts.st_size


def _target(office: Office, local: Path, name: str, force: bool) -> Path:
    """Where the file will be. Raises: Complaint if something is there already, or no folder for it."""
    target = local / name if local.is_dir() else local
    if not target.parent.is_dir():
        raise Complaint(texts.NO_FOLDER.say(office.language, path=target.parent), USAGE)
    if target.is_dir() or (not force and (target.exists() or target.is_symlink())):
        raise Complaint(texts.EXISTS.say(office.language, path=target), USAGE)
    return target


@contextmanager
def _complaining(office: Office, sentence: Sentence, path: object) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise Complaint(texts.EXISTS.say(office.language, path=path), USAGE) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(sentence.say(office.language, path=path, reason=reason), FAILED) from error


def _facts(moved: Moved, path: str) -> JsonObject:
    return {"path": path, "bytes": moved.bytes, "sha256": moved.sha256}


def _tell(office: Office, sentence: str, facts: JsonObject, as_json: bool) -> int:
    if as_json:
        office.console.print_json(data=facts)
    else:
        office.console.print(Text(sentence))
    return DONE
