"""`asos factor`: set up, look at and remove the second factor, at the terminal of the owner."""

import getpass
import io
from datetime import UTC, datetime
from typing import Annotated, NoReturn

import segno
import typer
from rich.console import Console

from contracts.language import Language
from contracts.texts import factor as texts
from gateway.recording import factor_of
from runtime.keys import Keyring, KeyringUnusable
from runtime.second_factor import FactorRefused, SecondFactor, address_of, new_secret
from runtime.settings import Settings

FAILED = 1


def factor_app(settings: Settings) -> typer.Typer:
    """The commands, for the installation of these settings."""
    about = "The second factor: a code of your phone for what a yes alone may not do."
    app = typer.Typer(help=about, no_args_is_help=True)
    language = settings.language

    @app.command()
    def add(
        code: Annotated[str, typer.Option(help="Code of the present factor, to replace it.")] = "",
    ) -> None:
        """Show a secret as a QR code, once, and set it up after one right code."""
        factor = _factor(settings)
        secret = new_secret()
        try:
            if factor.status() is not None:
                typer.echo(texts.NEEDS_OLD.say(language))
                code = code or typer.prompt(texts.ASK_OLD.say(language), hide_input=True)
            _show(secret, language)
            said = typer.prompt(texts.ASK_NEW.say(language))
            factor.enrol(secret, said, _by(), datetime.now(UTC), old_code=code)
        except FactorRefused as refused:
            _fail(refused, language)
        typer.echo(texts.ADDED.say(language))

    @app.command()
    def status(as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False) -> None:
        """Say whether a second factor is set up; exit code 1 if there is none."""
        try:
            found = _factor(settings).status()
        except FactorRefused as refused:
            _fail(refused, language)
        if as_json:
            typer.echo(found.model_dump_json() if found else "null")
        elif found is None:
            typer.echo(texts.NOT_ENROLLED.say(language))
        else:
            typer.echo(texts.ENROLLED_SINCE.say(language, at=f"{found.added_at:%Y-%m-%d %H:%M}"))
            if found.locked_until and found.locked_until > datetime.now(UTC):
                until = f"{found.locked_until:%Y-%m-%d %H:%M:%S}"
                typer.echo(texts.LOCKED_UNTIL.say(language, until=until, wrong=found.wrong))
        raise typer.Exit(0 if found else FAILED)

    @app.command()
    def remove(code: Annotated[str, typer.Option(help="A code of it.")] = "") -> None:
        """Remove it; that needs one of its codes."""
        try:
            said = code or typer.prompt(texts.ASK_OLD.say(language), hide_input=True)
            _factor(settings).remove(said, _by(), datetime.now(UTC))
        except FactorRefused as refused:
            _fail(refused, language)
        typer.echo(texts.REMOVED.say(language))

    return app


def _factor(settings: Settings) -> SecondFactor:
    try:
        return factor_of(settings, Keyring.load(settings.data_dir))
    except KeyringUnusable as error:
        Console(stderr=True).print(str(error), style="red", markup=False)
        raise typer.Exit(FAILED) from error


def _show(secret: str, language: Language) -> None:
    drawn = io.StringIO()
    segno.make(address_of(secret), error="m").terminal(out=drawn, compact=True)
    typer.echo(drawn.getvalue())
    typer.echo(texts.SCAN.say(language))
    typer.echo(texts.SECRET.say(language, secret=secret))


def _by() -> str:
    return f"console:{getpass.getuser()}"


def _fail(refused: FactorRefused, language: Language) -> NoReturn:
    sentence = refused.sentence.say(language, **refused.values)
    Console(stderr=True, soft_wrap=True).print(sentence, style="red", markup=False)
    raise typer.Exit(FAILED)
