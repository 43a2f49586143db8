"""A code confirms one purpose once, wrong ones lock, and a proof is good for nothing else."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyotp
import pytest

from contracts.approvals import StepUp
from contracts.audit import Event
from contracts.texts import factor as texts
from contracts.texts.sentence import Sentence
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.second_factor import PROOF_LASTS, FactorRefused, SecondFactor, new_secret

NOW = datetime(2026, 5, 4, 12, 0, 10, tzinfo=UTC)
BY = "console:anna"
PURPOSE = "approval:ab12c:" + "1" * 64


class Held:
    """A factor that is set up, the secret as the person's app has it, and what was recorded."""

    def __init__(self, root: Path) -> None:
        self.paths = DataPaths(root)
        self.events: list[Event] = []
        self.factor = SecondFactor(self.paths, Keyring.load(root), self.events.append)
        self.secret = new_secret()
        self.factor.enrol(self.secret, self.code(NOW - timedelta(minutes=5)), BY, NOW - timedelta(minutes=5))

    def code(self, at: datetime) -> str:
        return pyotp.TOTP(self.secret).at(at)

    def wrong(self) -> str:
        near = {self.code(NOW + timedelta(seconds=30 * step)) for step in range(-3, 200)}
        return next(code for code in map("{:06}".format, range(1_000_000)) if code not in near)


@pytest.fixture
def held(tmp_path: Path) -> Held:
    return Held(tmp_path)


def test_a_code_proves_one_purpose_and_no_other(held: Held) -> None:
    step_up = held.factor.confirm(held.code(NOW), PURPOSE, BY, NOW)

    assert held.factor.verify(step_up, PURPOSE, NOW)
    assert not held.factor.verify(step_up, "lift:k1", NOW)
    assert not held.factor.verify(step_up.model_copy(update={"purpose": "lift:k1"}), "lift:k1", NOW)
    assert not held.factor.verify(step_up.model_copy(update={"by": "telegram:7"}), PURPOSE, NOW)
    assert not held.factor.verify(step_up.model_copy(update={"at": NOW + timedelta(seconds=1)}), PURPOSE, NOW)
    assert not held.factor.verify(StepUp(purpose=PURPOSE, by=BY, at=NOW, proof="ü"), PURPOSE, NOW)
    assert not held.factor.verify(None, PURPOSE, NOW)
    assert not held.factor.verify(step_up, PURPOSE, NOW + PROOF_LASTS + timedelta(seconds=1))


def test_another_installation_cannot_make_a_proof(held: Held, tmp_path: Path) -> None:
    other = Held(tmp_path / "other")
    step_up = other.factor.confirm(other.code(NOW), PURPOSE, BY, NOW)

    assert not held.factor.verify(step_up, PURPOSE, NOW)


def test_a_code_is_taken_once_also_by_several_processes(held: Held) -> None:
    def tries(_: int) -> Sentence | None:
        # A lock of its own for each, as processes have it.
        factor = SecondFactor(held.paths, Keyring.load(held.paths.root))
        try:
            factor.confirm(held.code(NOW), PURPOSE, BY, NOW)
        except FactorRefused as refused:
            return refused.sentence
        return None

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(tries, range(16)))

    assert sorted(map(str, taken)) == sorted(map(str, [None, *[texts.USED] * 15]))


@pytest.mark.parametrize(("seconds", "counts"), [(-30, True), (0, True), (30, True), (-60, False), (60, False)])
def test_a_code_counts_one_step_before_and_after(held: Held, seconds: int, counts: bool) -> None:
    code = held.code(NOW + timedelta(seconds=seconds))

    if counts:
        assert held.factor.confirm(code, PURPOSE, BY, NOW)
    else:
        with pytest.raises(FactorRefused):
            held.factor.confirm(code, PURPOSE, BY, NOW)


def test_after_a_later_code_an_earlier_one_counts_no_more(held: Held) -> None:
    held.factor.confirm(held.code(NOW + timedelta(seconds=30)), PURPOSE, BY, NOW)

    with pytest.raises(FactorRefused) as refused:
        held.factor.confirm(held.code(NOW), PURPOSE, BY, NOW)
    assert refused.value.sentence is texts.USED


def test_five_wrong_codes_lock_it_and_the_wait_grows(held: Held) -> None:
    now = NOW
    for _ in range(5):
        with pytest.raises(FactorRefused):
            held.factor.confirm(held.wrong(), PURPOSE, BY, now)

    with pytest.raises(FactorRefused) as refused:
        held.factor.confirm(held.code(now), PURPOSE, BY, now)
    assert refused.value.sentence is texts.LOCKED

    now += timedelta(seconds=61)
    with pytest.raises(FactorRefused):
        held.factor.confirm(held.wrong(), PURPOSE, BY, now)
    now += timedelta(seconds=61)
    with pytest.raises(FactorRefused) as refused:
        held.factor.confirm(held.code(now), PURPOSE, BY, now)
    assert refused.value.sentence is texts.LOCKED

    now += timedelta(seconds=61)
    assert held.factor.confirm(held.code(now), PURPOSE, BY, now)
    status = held.factor.status()
    assert status is not None
    assert (status.wrong, status.locked_until) == (0, None)


def test_replacing_and_removing_need_a_code_of_the_present_one(held: Held) -> None:
    fresh = new_secret()
    with pytest.raises(FactorRefused):
        held.factor.enrol(fresh, pyotp.TOTP(fresh).at(NOW), BY, NOW)
    with pytest.raises(FactorRefused):
        held.factor.remove(held.wrong(), BY, NOW)

    held.factor.enrol(fresh, pyotp.TOTP(fresh).at(NOW), BY, NOW, old_code=held.code(NOW))
    later = NOW + timedelta(seconds=60)
    held.factor.remove(pyotp.TOTP(fresh).at(later), BY, later)

    assert held.factor.status() is None
    with pytest.raises(FactorRefused) as refused:
        held.factor.confirm(pyotp.TOTP(fresh).at(later), PURPOSE, BY, later)
    assert refused.value.sentence is texts.NOT_ENROLLED


def test_a_secret_that_the_app_does_not_have_is_not_taken(tmp_path: Path) -> None:
    factor = SecondFactor(DataPaths(tmp_path), Keyring.load(tmp_path))
    with pytest.raises(FactorRefused):
        factor.enrol(new_secret(), pyotp.TOTP(new_secret()).at(NOW), BY, NOW)

    assert factor.status() is None


def test_the_file_holds_no_secret_and_a_foreign_one_refuses_everything(held: Held, tmp_path: Path) -> None:
    assert held.secret.encode() not in held.paths.second_factor.read_bytes()
    assert held.paths.second_factor.stat().st_mode & 0o077 == 0
    other = Held(tmp_path / "other")
    held.paths.second_factor.write_bytes(other.paths.second_factor.read_bytes())

    with pytest.raises(FactorRefused) as refused:
        held.factor.confirm(other.code(NOW), PURPOSE, BY, NOW)
    assert refused.value.sentence is texts.UNREADABLE


def test_everything_is_recorded_and_no_code_is(held: Held) -> None:
    code = held.code(NOW)
    held.factor.confirm(code, PURPOSE, BY, NOW)
    with pytest.raises(FactorRefused):
        held.factor.confirm(code, PURPOSE, BY, NOW)

    assert [event.kind for event in held.events] == ["factor.enrolled", "factor.used", "factor.refused"]
    assert all(code not in event.model_dump_json() for event in held.events)
