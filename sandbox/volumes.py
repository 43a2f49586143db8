"""The volumes of sandboxes: made with the engine's own driver or another, such as one onto an encrypted file system."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import docker
from docker.errors import NotFound

from contracts.language import Language
from contracts.sandbox import SandboxUnavailable
from contracts.texts import limits as texts

VOLUME = "{volume}"
"""Stands for the volume's name in the options: each has a folder of its own."""
BIND = "bind"
SANDBOX_USER = 1_000


class Volumes:
    """How volumes are made here."""

    def __init__(self, driver: str, options: Mapping[str, str], language: Language) -> None:
        self._driver = driver or None
        self._options = dict(options)
        self._language: Language = language

    def make(self, name: str, labels: Mapping[str, str], client: docker.APIClient) -> None:
        """One that is there already stays as it is. Raises: SandboxUnavailable, OSError, APIError."""
        options = {key: value.replace(VOLUME, name) for key, value in self._options.items()}
        if (folder := _bound(self._driver, options)) is not None:
            self._make_folder(folder, name)
        client.create_volume(name, driver=self._driver, driver_opts=options or None, labels=dict(labels))

    def _make_folder(self, folder: Path, name: str) -> None:
        """Its parent must be there: else an encrypted file system that is not mounted would go unnoticed."""
        if folder.name != name:
            raise SandboxUnavailable(texts.VOLUME_SHARED.say(self._language, device=self._options["device"]))
        if not folder.parent.is_dir():
            raise SandboxUnavailable(texts.VOLUME_FOLDER_ABSENT.say(self._language, folder=folder.parent))
        if not folder.is_dir():
            folder.mkdir(mode=0o700)
            shutil.chown(folder, SANDBOX_USER, SANDBOX_USER)


def remove_volume(name: str, client: docker.APIClient) -> None:
    """With its content; what is gone already is no error. Raises: OSError, APIError."""
    try:
        facts = client.inspect_volume(name)
        client.remove_volume(name, force=True)
    except NotFound:
        return
    folder = _bound(facts.get("Driver"), facts.get("Options") or {})
    # The engine forgets a bound folder and leaves what is in it. Only one that bears this name is ours alone.
    if folder is not None and folder.name == name and folder.is_dir():
        shutil.rmtree(folder)


def _bound(driver: str | None, options: Mapping[str, str]) -> Path | None:
    """The folder of this machine that the local driver shows as the volume."""
    is_bind = driver in (None, "local") and BIND in options.get("o", "").split(",")
    return Path(options["device"]) if is_bind and options.get("device", "").startswith("/") else None
