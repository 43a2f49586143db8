"""Log lines are JSON, rotate, belong to their owner, and hold no secret."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime import logs
from runtime.redact import MASK, Redactor


@pytest.fixture
def root_logger() -> Iterator[logging.Logger]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield root
    for handler in set(root.handlers) - set(before):
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)


def _lines(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "worker.jsonl").read_text().splitlines()]


def test_a_line_is_one_json_object_with_time_level_and_fields(tmp_path: Path, root_logger: logging.Logger) -> None:
    logs.start_logging("worker", logs=tmp_path, level="INFO", redactor=Redactor())

    logging.getLogger("a.part").info("step %d\nof the task 任务", 3, extra={"task_id": "t1"})
    logging.getLogger("a.part").debug("not written")

    [line] = _lines(tmp_path)
    assert line["message"] == "step 3\nof the task 任务"
    assert (line["level"], line["logger"], line["task_id"]) == ("INFO", "a.part", "t1")
    assert "at" in line


def test_no_secret_reaches_a_line_by_any_way(
    tmp_path: Path, root_logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = 'canary"value\\1'
    logs.start_logging("worker", logs=tmp_path, level="INFO", redactor=Redactor([secret]), stderr_level="INFO")
    log = logging.getLogger("a.part")

    class Odd:
        def __repr__(self) -> str:
            return f"odd {secret}"

    log.info("in the text: %s", secret)
    log.info("in a field", extra={"deep": [{"x": secret}], "object": Odd(), "api_key": "anything"})
    log.info({"message": "in an object", "value": secret})
    try:
        raise ValueError(secret)
    except ValueError:
        log.exception("in an exception")

    text = (tmp_path / "worker.jsonl").read_text() + capsys.readouterr().err
    assert "canary" not in text
    assert text.count(MASK) >= 10
    assert len(_lines(tmp_path)) == 4


def test_errors_show_on_standard_error_and_lesser_lines_do_not(
    tmp_path: Path, root_logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.start_logging("worker", logs=tmp_path, level="INFO", redactor=Redactor())

    logging.getLogger("a.part").info("quiet")
    logging.getLogger("a.part").error("loud")

    shown = capsys.readouterr().err
    assert "loud" in shown
    assert "quiet" not in shown


def test_files_rotate_and_belong_to_their_owner(
    tmp_path: Path, root_logger: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "FILE_BYTES", 2_000)
    logs.start_logging("worker", logs=tmp_path, level="INFO", redactor=Redactor())

    for number in range(200):
        logging.getLogger("a.part").info("line %d", number)

    files = sorted(tmp_path.iterdir())
    assert len(files) == 1 + logs.OLDER_FILES
    assert all(path.stat().st_mode & 0o777 == 0o600 and path.stat().st_size <= 2_000 for path in files)


def test_a_library_that_logs_every_request_is_kept_quiet(tmp_path: Path, root_logger: logging.Logger) -> None:
    logs.start_logging("worker", logs=tmp_path, level="INFO", redactor=Redactor())

    logging.getLogger("httpx").info("HTTP Request: GET https://api.telegram.org/bot1:x/getMe")

    assert _lines(tmp_path) == []
