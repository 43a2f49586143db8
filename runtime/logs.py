"""Logs of one process: JSON lines in a file that rotates and on standard error, with every known secret masked."""

import json
import logging
import sys
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from pythonjsonlogger.json import JsonFormatter

from runtime.paths import FILE_MODE, private_folder
from runtime.redact import Redactor

FILE_BYTES = 10 * 1024 * 1024
OLDER_FILES = 5

FIELDS = ("asctime", "levelname", "name", "message", "process")
RENAMED = {"asctime": "at", "levelname": "level", "name": "logger"}

TALKATIVE = ("httpx", "httpcore", "LiteLLM", "urllib3", "docker", "telegram.ext.ExtBot")
"""Libraries that write a line for each request; theirs are kept from WARNING on."""


def start_logging(
    name: str, *, logs: Path, level: str, redactor: Redactor, stderr_level: str = "WARNING"
) -> logging.Handler:
    """Send every record of this process to `logs/<name>.jsonl`, and those from `stderr_level` on to standard error.

    Gives the file's handler, which its owner closes at the end.
    """
    private_folder(logs)
    file = _PrivateFileHandler(logs / f"{name}.jsonl")
    stderr: logging.StreamHandler[TextIO] = logging.StreamHandler(sys.stderr)
    stderr.setLevel(stderr_level)
    root = logging.getLogger()
    root.setLevel(level)
    for handler in (file, stderr):
        handler.setFormatter(_RedactingFormatter(redactor))
        root.addHandler(handler)
    for library in TALKATIVE:
        logging.getLogger(library).setLevel(max(logging.WARNING, root.level))
    return file


class _RedactingFormatter(JsonFormatter):
    """Masks the finished record: then neither a field, an exception nor an odd object's text escapes it."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__(list(FIELDS), style="sequence", rename_fields=RENAMED, json_default=str)
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        masked = self._redactor.redact_json(json.loads(super().format(record)))
        return json.dumps(masked, ensure_ascii=False)


class _PrivateFileHandler(RotatingFileHandler):
    """Readable by the owner only, from its first byte on."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=FILE_BYTES, backupCount=OLDER_FILES, encoding="utf-8", errors="replace")

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).touch(FILE_MODE)
        return super()._open()
