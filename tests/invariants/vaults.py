"""Promises that the vault keeps, and how each is broken."""

from identity import vault
from identity.document import Entry
from identity.head import HeadFile
from identity.session import Session
from identity.stores.sqlite import SqliteStore
from tests.invariants.switch import Switch, always, in_vain, replaced

TAMPERING = "tests/identity/test_tampering.py"
VAULT = "tests/identity/test_vault.py"

VAULTS = (
    Switch(
        "a box that the index does not know is not opened",
        f"{TAMPERING}::test_who_writes_a_box_with_a_key_of_his_own_is_noticed",
        replaced(Entry, "fits", always(True)),
    ),
    Switch(
        "an older copy of the vault is noticed",
        f"{TAMPERING}::test_an_older_copy_of_the_file_is_noticed_by_others_and_by_who_has_it_open",
        replaced(HeadFile, "check", in_vain),
    ),
    Switch(
        "plain text is wiped",
        f"{VAULT}::test_plain_text_is_wiped_where_it_was_given_and_where_it_was_opened",
        replaced(vault, "wipe", always(None)),
    ),
    Switch(
        "a rotation leaves nothing that the old key opens",
        f"{VAULT}::test_the_file_keeps_no_trace_of_what_the_old_key_has_sealed",
        replaced(SqliteStore, "erase_traces", in_vain),
    ),
    Switch(
        "a lock holds for every process",
        "tests/identity/test_unlocking.py::test_one_process_unlocks_and_locks_for_all",
        replaced(Session, "still_open", always(True)),
    ),
)
