"""A stack that cannot start says which part, why, and what to do; and it stops what it had started."""

import os
import socket

import pytest

from contracts.language import Language
from runtime.stack.failures import explained
from runtime.stack.state import Failure
from runtime.stack.up import UpOutcome
from tests.runtime.stack.conftest import Site


def _failure(outcome: UpOutcome) -> Failure:
    assert outcome.failure is not None
    return outcome.failure


def test_a_part_that_ends_at_once_is_named_with_its_last_words(site: Site) -> None:
    outcome = site.up(site.worker, site.stand_in("gateway", site.gateway_port, "--die-saying", "no such bot"))

    failure = _failure(outcome)
    assert (failure.kind, failure.part, failure.exit_code) == ("exited", "gateway", 1)
    assert failure.lines[-1] == "no such bot"
    assert "gateway ended with code 1" in explained(failure, "en")
    assert site.words() == ["started worker", "started gateway", "stopped worker"]
    assert site.pids() == []


def test_last_words_are_those_of_this_start_only(site: Site) -> None:
    site.up(site.stand_in("worker", site.worker_port, "--die-saying", "first"))
    outcome = site.up(site.stand_in("worker", site.worker_port, "--die-saying", "second"))

    assert _failure(outcome).lines == ("second",)


def test_a_part_that_never_becomes_healthy_is_named(site: Site) -> None:
    outcome = site.up(site.stand_in("worker", site.worker_port, "--silent", starts_within_seconds=0.7))

    failure = _failure(outcome)
    assert (failure.kind, failure.part) == ("not_healthy", "worker")
    assert site.pids() == []


def test_a_missing_program_is_named(site: Site) -> None:
    outcome = site.up(site.worker.model_copy(update={"argv": ("/nowhere/temporal",)}))

    failure = _failure(outcome)
    assert (failure.kind, failure.detail) == ("program_missing", "/nowhere/temporal")
    assert "/nowhere/temporal" in explained(failure, "en")


def test_a_port_in_use_is_named_with_its_holder_before_anything_starts(site: Site) -> None:
    with socket.create_server(("127.0.0.1", site.gateway_port)):
        outcome = site.up()

    failure = _failure(outcome)
    assert (failure.kind, failure.part, failure.port) == ("port_in_use", "gateway", site.gateway_port)
    assert failure.setting == "ASOS_GATEWAY_PORT"
    assert f"(pid {os.getpid()})" in failure.holder
    assert site.words() == []


def test_a_port_that_listens_on_every_address_is_in_use_too(site: Site) -> None:
    with socket.create_server(("0.0.0.0", site.worker_port)):  # noqa: S104  # that is what is tested
        outcome = site.up()

    assert _failure(outcome).port == site.worker_port


def test_after_a_failed_start_the_next_one_works(site: Site) -> None:
    site.up(site.stand_in("worker", site.worker_port, "--die-saying", "not today"))

    outcome = site.up()

    assert outcome.failure is None
    assert outcome.state is not None
    assert outcome.state.failure is None


def test_a_data_folder_that_is_a_file_is_named(site: Site) -> None:
    site.paths.root.write_text("")

    with pytest.raises(Exception, match="cannot use the folder"):
        site.up()

    site.paths.root.unlink()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "kind", ["port_in_use", "program_missing", "exited", "not_healthy", "supervisor_died", "unusable"]
)
def test_every_failure_has_its_sentence(kind: str, language: Language) -> None:
    failure = Failure.model_validate({"kind": kind, "part": "worker", "log": "/logs/worker.out"})

    assert "{" not in explained(failure, language)
