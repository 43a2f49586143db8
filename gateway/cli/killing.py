"""`/kill` in the terminal's chat: the stop is written here, and whoever runs acts on it."""

from contracts.audit import NoRecord
from contracts.kill import KillLevel
from contracts.texts import kill as texts
from gateway.cli.office import Complaint, Office
from gateway.kill_orders import what_of
from gateway.telling import lift_elsewhere
from runtime.killing.desk import KillDesk
from runtime.paths import DataPaths
from runtime.second_factor import SecondFactor

LINES: dict[str, KillLevel] = {
    "/kill": "all",
    "/kill all": "all",
    "/kill tools": "tools",
    "/kill network": "network",
}


async def pull(office: Office, line: str) -> str:
    """What is said to it; `line` is one of LINES. Raises: Complaint."""
    paths, keyring = DataPaths(office.settings.data_dir), office.keyring
    elsewhere = lift_elsewhere(office.settings, paths, keyring)
    desk = KillDesk.of(paths, keyring, SecondFactor(paths, keyring), NoRecord(), elsewhere)
    try:
        kill = await desk.pull(LINES[line], None, office.by)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(texts.PULL_FAILED.say(office.language, reason=reason)) from error
    return texts.PULLED_HERE.say(office.language, what=what_of((kill,), office.language), kill_id=kill.kill_id)
