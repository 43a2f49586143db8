"""`/kill` in the terminal's chat: the stop is written here, and whoever runs acts on it."""

from contracts.kill import KillLevel
from contracts.texts import kill as texts
from gateway.cli.office import Complaint, Office
from gateway.kill_orders import what_of
from gateway.recording import AtHand, factor_of
from gateway.telling import lift_elsewhere
from runtime.killing.desk import KillDesk
from runtime.paths import DataPaths

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
    desk = KillDesk.of(paths, keyring, factor_of(office.settings, keyring), AtHand(office.settings, keyring), elsewhere)
    try:
        kill = await desk.write(LINES[line], None, office.by)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Complaint(texts.PULL_FAILED.say(office.language, reason=reason)) from error
    said = texts.PULLED_HERE.say(office.language, what=what_of((kill,), office.language), kill_id=kill.kill_id)
    unrecorded = await desk.pulled(kill)
    return f"{said}\n{texts.NOT_RECORDED.say(office.language, reason=unrecorded)}" if unrecorded else said
