"""`asos identity`: profiles, and their secrets in the vault, which come from a prompt or a pipe, never an argument."""

import asyncio
import getpass
import json
from collections.abc import Coroutine, Mapping
from datetime import UTC, datetime
from typing import Annotated, cast, get_args

import typer
from pydantic import JsonValue, ValidationError
from rich.console import Console
from rich.table import Table

from contracts.identity import Profile, SecretKind, SecretName
from contracts.texts import identity as texts
from identity.profiles import NoSuchProfile, Profiles
from runtime.settings import Settings
from workers.commands import identity_vault
from workers.commands.identity_asking import USAGE, Refusal, asked, told
from workers.vault import VaultParts, opened_vault

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for programs.")]
Name = Annotated[str, typer.Argument(help="Name of the profile, such as github or shop.work.")]
Kind = Annotated[str, typer.Option(help="password, api_key, token, client, totp, cookies or storage.")]
Which = Annotated[str, typer.Option("--name", help="Which one, where a profile has several of a kind.")]

_out = Console(soft_wrap=True, highlight=False)


def identity_app(settings: Settings) -> typer.Typer:
    """The commands, for the installation of these settings."""
    app = typer.Typer(help="Accounts that tasks may act as, and the vault with their secrets.", no_args_is_help=True)
    work = Identities(settings)

    @app.command()
    def add(
        profile: Name,
        site: Annotated[list[str] | None, typer.Option(help="Host that its secrets may go to; repeat it.")] = None,
        title: Annotated[str, typer.Option(help="What it is, for people.")] = "",
        account: Annotated[str, typer.Option(help="The account's name there.")] = "",
        provider: Annotated[str, typer.Option(help="Its OAuth provider, such as github.")] = "",
        kind: Kind = "",
        name: Which = "main",
        as_json: Json = False,
    ) -> None:
        """Add a profile; with --kind, store a secret of it, read from a prompt or from standard input."""
        found = {"title": title, "account": account, "sites": tuple(site or ()), "provider": provider}
        _run(settings, work.add(profile, found, kind, name, as_json=as_json), as_json)

    @app.command("list")
    def list_(as_json: Json = False) -> None:
        """List the profiles."""
        _run(settings, work.listing(as_json=as_json), as_json)

    @app.command()
    def show(profile: Name, as_json: Json = False) -> None:
        """Show a profile, and which secrets there are of it; never a secret itself."""
        _run(settings, work.show(profile, as_json=as_json), as_json)

    @app.command()
    def remove(
        profile: Name,
        kind: Kind = "",
        name: Which = "main",
        yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
        as_json: Json = False,
    ) -> None:
        """Remove a profile with all of its secrets; with --kind, one secret."""
        _run(settings, work.remove(profile, kind, name, yes=yes, as_json=as_json), as_json)

    identity_vault.register(app, settings, lambda step, as_json: _run(settings, step, as_json))
    return app


class Identities:
    """What the commands do; each gives its exit code, and raises what `told` explains."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._language = settings.language

    async def add(self, profile_id: str, found: Mapping[str, object], kind: str, name: str, *, as_json: bool) -> int:
        secret_name = self._name(profile_id, kind, name) if kind else None
        profile = self._profile(profile_id, found)
        async with opened_vault(self._settings) as parts:
            await parts.vault.current()  # so that nobody types a secret for a locked vault
            is_new = not await parts.vault.version(SecretName(profile_id=profile_id, kind="profile"))
            if is_new or not kind:
                await Profiles(parts.vault).create(profile)
                self._say(as_json, texts.ADDED.say(self._language, profile=profile_id))
            facts: dict[str, JsonValue] = {"profile": profile_id, "added": is_new}
            if secret_name is not None:
                prompt = texts.ASK_SECRET.say(self._language, kind=kind, profile=profile_id)
                ref = await parts.vault.put(secret_name, asked(prompt, self._language))
                facts |= {"secret": ref.model_dump(mode="json")}
                values = ref.model_dump() | {"profile": profile_id}
                self._say(as_json, texts.STORED.say(self._language, **values))
        return self._print(as_json, facts)

    async def listing(self, *, as_json: bool) -> int:
        async with opened_vault(self._settings) as parts:
            profiles = [
                (each, await self._secrets(parts, each.profile_id)) async for each in Profiles(parts.vault).list()
            ]
        if as_json:
            return self._print(as_json, [_facts(profile, secrets) for profile, secrets in profiles])
        if not profiles:
            self._say(as_json, texts.NONE_YET.say(self._language))
            return 0
        table = Table(*(heading.say(self._language) for heading in texts.COLUMNS.values()), box=None, pad_edge=False)
        for profile, secrets in profiles:
            kinds = ", ".join(sorted({str(secret["kind"]) for secret in secrets}))
            table.add_row(profile.profile_id, profile.account, ", ".join(profile.sites), kinds)
        _out.print(table, markup=False)
        return 0

    async def show(self, profile_id: str, *, as_json: bool) -> int:
        async with opened_vault(self._settings) as parts:
            profile = await Profiles(parts.vault).show(self._name(profile_id, "profile", "main").profile_id)
            secrets = await self._secrets(parts, profile_id)
        if as_json:
            return self._print(as_json, _facts(profile, secrets))
        for field, value in profile.model_dump(mode="json", exclude_defaults=True).items():
            self._say(as_json, f"{field}: {', '.join(value) if isinstance(value, list) else value}")
        for secret in secrets:
            self._say(as_json, f"  {secret['kind']} {secret['name']}, v{secret['version']}")
        return 0

    async def remove(self, profile_id: str, kind: str, name: str, *, yes: bool, as_json: bool) -> int:
        secret_name = self._name(profile_id, kind or "profile", name if kind else "main")
        question = texts.ASK_REMOVE.say(self._language, profile=profile_id)
        if not yes and not kind and not typer.confirm(question, err=True):
            raise Refusal(texts.KEPT.say(self._language))
        async with opened_vault(self._settings) as parts:
            if not kind:
                count = await Profiles(parts.vault).remove(profile_id)
            elif await parts.vault.remove(secret_name):
                count = 1
            else:
                raise NoSuchProfile(texts.NO_SECRET.say(self._language, profile=profile_id, kind=kind, name=name))
        self._say(as_json, texts.REMOVED.say(self._language, count=count, profile=profile_id))
        return self._print(as_json, {"profile": profile_id, "removed": count})

    async def _secrets(self, parts: VaultParts, profile_id: str) -> list[dict[str, JsonValue]]:
        names = [each async for each in parts.vault.names(profile_id) if each.kind != "profile"]
        return [{"kind": each.kind, "name": each.name, "version": await parts.vault.version(each)} for each in names]

    def _profile(self, profile_id: str, found: Mapping[str, object]) -> Profile:
        try:
            return Profile.model_validate(
                {"profile_id": profile_id, "user_id": getpass.getuser(), "created_at": datetime.now(UTC), **found}
            )
        except ValidationError as error:
            raise self._bad(error) from None

    def _name(self, profile_id: str, kind: str, name: str) -> SecretName:
        """Raises: Refusal."""
        if kind not in get_args(SecretKind):
            problem = ", ".join(each for each in get_args(SecretKind) if each != "profile")
            raise Refusal(texts.BAD_INPUT.say(self._language, name=kind, problem=problem), USAGE)
        try:
            return SecretName(profile_id=profile_id, kind=cast(SecretKind, kind), name=name)
        except ValidationError as error:
            raise self._bad(error) from None

    def _bad(self, error: ValidationError) -> Refusal:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        return Refusal(texts.BAD_INPUT.say(self._language, name=field, problem=first["msg"]), USAGE)

    def _say(self, as_json: bool, sentence: str) -> None:
        if not as_json:
            _out.print(sentence, markup=False)

    def _print(self, as_json: bool, facts: JsonValue) -> int:
        if as_json:
            _out.print(json.dumps(facts, ensure_ascii=False), markup=False)
        return 0


def _facts(profile: Profile, secrets: list[dict[str, JsonValue]]) -> JsonValue:
    return {**profile.model_dump(mode="json"), "secrets": cast(JsonValue, secrets)}


def _run(settings: Settings, step: Coroutine[None, None, int], as_json: bool) -> None:
    raise typer.Exit(told(lambda: asyncio.run(step), settings.language, as_json=as_json))
