"""How a worker puts together what holds for the way out: the person's files, the authority, and the audit."""

from pathlib import Path

import pytest

from audit.log import AuditLog
from audit.places import AuditPlaces
from audit.recorder import LogRecorder
from contracts.egress import EgressRules
from contracts.kill import FreeRunning
from contracts.messages import HostGrant
from contracts.sandbox import Lease
from policy.shipped import default_text
from runtime.confidential import Confidential
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.process import CannotStart
from runtime.settings import Settings
from sandbox.house import HouseRules
from tests.histories.keyring import fixed_keyring
from tests.sandbox.proxies import connect, get, proxy, saying
from workers.egress_audit import auditing
from workers.egress_rules import house_of
from workers.policy_in_force import policy_in

LEASE = Lease(
    sandbox_id="asos-1", task_id="t1", host_id="h", task_queue="q", epoch=1, driver="docker", runtime="runc", image="i"
)


def house(folder: Path, **settings: object) -> HouseRules:
    paths = DataPaths(folder)
    paths.prepare()
    if not paths.policy.exists():
        paths.policy.write_text(default_text(), encoding="utf-8")
    made = Settings.model_validate({"data_dir": folder, **settings})
    return house_of(made, paths, Keyring.load(folder), policy_in(paths.policy), FreeRunning())


def test_an_edited_policy_counts_at_once_and_a_broken_one_not_at_all(tmp_path: Path) -> None:
    made = house(tmp_path)
    policy = DataPaths(tmp_path).policy

    assert made.rules() == EgressRules()
    policy.write_text("role: owner\negress:\n  blocked: [a.example]\n")
    assert made.rules().blocked == ("a.example",)
    policy.write_text("role: owner\negress:\n  blocked: [a.example/path, b.example]\n")
    assert made.rules().blocked == ("a.example",)


def test_the_authority_survives_a_restart_sealed_with_the_installation_s_keys(tmp_path: Path) -> None:
    first, again = house(tmp_path).inspection, house(tmp_path).inspection

    assert first is not None
    assert again is not None
    assert first.certificate == again.certificate
    assert b"PRIVATE" not in b"".join(path.read_bytes() for path in DataPaths(tmp_path).egress.iterdir())


def test_a_worker_does_not_start_without_the_list_or_the_key_that_it_was_told_of(tmp_path: Path) -> None:
    broken = tmp_path / "list"
    broken.write_text("<html>\n")
    with pytest.raises(CannotStart, match="list:1: no domain"):
        house(tmp_path / "data", egress_blocklist=broken)
    with pytest.raises(CannotStart, match="absent"):
        house(tmp_path / "data", egress_blocklist=tmp_path / "absent")

    DataPaths(tmp_path / "data").keyring.unlink()
    with pytest.raises(CannotStart, match="restore the key file"):
        house(tmp_path / "data")


async def test_each_request_leaves_an_audit_line_that_says_where_it_went_and_why(tmp_path: Path) -> None:
    log = await AuditLog.open(AuditPlaces.below(tmp_path))
    words = Confidential(fixed_keyring(), lambda text: text)
    async with (
        auditing(LogRecorder(log, words.seal)) as audit,
        saying(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") as site,
    ):
        async with proxy(site.grant, HostGrant(host="in.test")) as it:
            await it.ask(get("http://site.test/a/b?token=secret"))
            await it.ask(connect("other.test:443"))
            for record in it.records:
                audit(LEASE, record)
        await audit.written()
        records = await log.of_task("t1")
    await log.close()

    shown = ("host", "port", "method", "allowed", "reason", "status", "bytes_down", "address", "inspected")
    assert [tuple(record.data[name] for name in shown) for record in records] == [
        ("site.test", 80, "GET", True, "allowed", 200, 2, "127.0.0.1", False),
        ("other.test", 443, "CONNECT", False, "not_allowed", 0, 0, "", False),
    ]
    assert [words.unseal(record.words) for record in records] == ['{"path":"/a/b"}', ""]
    assert "/a/b" not in str(records), "where somebody went is nobody else's business"
    assert "secret" not in str(records)
