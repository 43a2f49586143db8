"""`asos policy rules` and `asos policy revoke`: what people have allowed for good, and how it is taken back."""

import asyncio
import getpass
import json
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from audit.standing import standing_in
from audit.storage import StorageUnusable
from contracts.approvals import StandingRule
from contracts.language import Language
from contracts.texts import approvals as texts
from gateway.recording import AtHand
from gateway.standing_rules import StandingDesk, scope_of
from runtime.keys import Keyring, KeyringUnusable, SealBroken, UnknownKey
from runtime.paths import DataPaths
from runtime.settings import Settings

FAILED = 1


def rules_app(settings: Settings) -> typer.Typer:
    """The commands, which work while nothing runs."""
    app = typer.Typer()

    @app.command()
    def rules(as_json: Annotated[bool, typer.Option("--json", help="One JSON array.")] = False) -> None:
        """List what is allowed for good, of everybody."""
        found = _read(settings)
        if as_json:
            typer.echo(json.dumps([rule.model_dump(mode="json") for rule in found], ensure_ascii=False, indent=2))
            return
        if found:
            Console().print(_table(found, settings.language))
        else:
            typer.echo(texts.NO_RULES.say(settings.language))

    @app.command()
    def revoke(rule_id: Annotated[str, typer.Argument(help="Id of a rule, as `asos policy rules` lists it.")]) -> None:
        """Take one back: from the next question on it is asked again."""
        by = f"console:{getpass.getuser()}"
        try:
            revoked = asyncio.run(_desk(settings).revoke(rule_id.lower(), None, by))
        except (StorageUnusable, KeyringUnusable) as error:
            _fail(str(error))
        if not revoked:
            _fail(texts.NO_RULE.say(settings.language, rule_id=rule_id))
        typer.echo(texts.REVOKED.say(settings.language))

    return app


def _table(found: Sequence[StandingRule], language: Language) -> Table:
    table = Table(*(heading.say(language) for heading in texts.RULE_COLUMNS), box=None, pad_edge=False)
    for rule in found:
        at, scope, shape = f"{rule.at:%Y-%m-%d %H:%M}", scope_of(rule, language), rule.shape.text()
        # An id must stay whole for who copies it.
        table.add_row(Text(rule.rule_id, no_wrap=True), Text(at), Text(scope), Text(shape))
    return table


def _read(settings: Settings) -> tuple[StandingRule, ...]:
    try:
        return asyncio.run(_desk(settings).rules(None))
    except (StorageUnusable, KeyringUnusable, SealBroken, UnknownKey) as error:
        _fail(str(error))


def _desk(settings: Settings) -> StandingDesk:
    """Raises: KeyringUnusable."""
    keyring = Keyring.load(settings.data_dir)
    store = DataPaths(settings.data_dir).standing
    return StandingDesk(lambda: standing_in(store, keyring), AtHand(settings, keyring))


def _fail(sentence: str) -> NoReturn:
    Console(stderr=True, soft_wrap=True).print(sentence, style="red", markup=False, highlight=False)
    raise typer.Exit(FAILED)
