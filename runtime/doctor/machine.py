"""Checks of the machine: interpreter, disk, data folder, policy file."""

import os
import platform
import shutil
import sys
from pathlib import Path

import yaml

from contracts.language import Language
from contracts.texts import runtime as texts
from runtime.doctor.check import Check
from runtime.paths import DataPaths
from runtime.settings import Settings

OLDEST_PYTHON = (3, 11)
LEAST_BYTES = 1_000_000_000
COMFORTABLE_BYTES = 5_000_000_000


def python(language: Language) -> Check:
    fits = sys.version_info >= OLDEST_PYTHON
    detail = texts.PYTHON.say(language, version=platform.python_version())
    remedy = "" if fits else texts.PYTHON_REMEDY.say(language)
    return Check(name="python", status="ok" if fits else "missing", detail=detail, remedy=remedy)


def environment(language: Language) -> Check:
    if sys.prefix != sys.base_prefix:
        return Check(name="environment", status="ok", detail=texts.VENV.say(language, folder=sys.prefix))
    remedy = texts.NO_VENV_REMEDY.say(language)
    return Check(name="environment", status="warn", detail=texts.NO_VENV.say(language), remedy=remedy)


def disk(settings: Settings, language: Language) -> Check:
    folder = _nearest_existing(settings.data_dir)
    free = shutil.disk_usage(folder).free
    detail = texts.DISK.say(language, gigabytes=free / 1e9, folder=folder)
    if free >= COMFORTABLE_BYTES:
        return Check(name="disk", status="ok", detail=detail)
    status = "warn" if free >= LEAST_BYTES else "missing"
    return Check.model_validate(
        {"name": "disk", "status": status, "detail": detail, "remedy": texts.DISK_REMEDY.say(language)}
    )


def data_folder(settings: Settings, language: Language) -> Check:
    folder = settings.data_dir
    if not os.access(_nearest_existing(folder), os.W_OK | os.X_OK):
        remedy = texts.FOLDER_CLOSED_REMEDY.say(language)
        detail = texts.FOLDER_CLOSED.say(language, folder=folder)
        return Check(name="data folder", status="missing", detail=detail, remedy=remedy)
    if not folder.exists():
        return Check(name="data folder", status="ok", detail=texts.FOLDER_ABSENT.say(language, folder=folder))
    if _is_open_to_others(folder):
        remedy = texts.FOLDER_OPEN_REMEDY.say(language, folder=folder)
        detail = texts.FOLDER_OPEN.say(language, folder=folder)
        return Check(name="data folder", status="missing", detail=detail, remedy=remedy)
    return Check(name="data folder", status="ok", detail=texts.FOLDER.say(language, folder=folder))


def policy_file(settings: Settings, language: Language) -> Check:
    path = settings.policy_file or DataPaths(settings.data_dir).policy
    remedy = texts.POLICY_REMEDY.say(language)
    try:
        yaml.safe_load(path.read_bytes())
    except FileNotFoundError:
        if settings.policy_file is None:
            return Check(name="policy", status="ok", detail=texts.POLICY_ABSENT.say(language, path=path))
        detail = texts.POLICY_MISSING.say(language, path=path)
        return Check(name="policy", status="missing", detail=detail, remedy=remedy)
    except (OSError, yaml.YAMLError) as error:
        problem = " ".join(str(error).split())
        detail = texts.POLICY_BROKEN.say(language, path=path, problem=problem)
        return Check(name="policy", status="missing", detail=detail, remedy=remedy)
    return Check(name="policy", status="ok", detail=texts.POLICY.say(language, path=path))


def _is_open_to_others(folder: Path) -> bool:
    """The folder itself, and the key file, which matters most."""
    keyring = DataPaths(folder).keyring
    return any(path.exists() and path.stat().st_mode & 0o077 for path in (folder, keyring))


def _nearest_existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.absolute().parents) if folder.exists())
