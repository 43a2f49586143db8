"""Ends a command with all that it started. It never forks, so that it works where every process slot is taken."""

from __future__ import annotations

import os
import time

SIGKILL, SIGSTOP = 9, 19
STOPPING_SECONDS, KILLING_SECONDS = 2.0, 8.0
PAUSE_SECONDS = 0.001
"""A signal takes effect when its process has its turn."""
CALL, PART = b"ASOS_CALL=", b"ASOS_PART="
OURS = b"ours"


def born(pid: int) -> int:
    """When it began, in ticks since the machine did; 0 if it is gone."""
    facts = _facts(str(pid))
    return int(facts[19]) if facts else 0


def slay(key: str, leader: int, since: int) -> bool:
    """Stop all first, since what is stopped has no children any more; then kill. False if some would not die."""
    mark = key.encode()
    if leader > 1 and _mark(str(leader)) in (b"", mark):
        _signal_group(leader, SIGSTOP)
    else:
        leader = 0
    began = time.monotonic()
    while (spent := time.monotonic() - began) < KILLING_SECONDS:
        victims, awake = _victims(mark, leader, since)
        if not victims:
            return True
        if awake and spent < STOPPING_SECONDS:
            _signal(awake, SIGSTOP)
        else:
            _signal(victims, SIGKILL)
        time.sleep(PAUSE_SECONDS)
    return False


def _victims(mark: bytes, leader: int, since: int) -> tuple[list[int], list[int]]:
    """All that belong to the command, and those of them that are not stopped.

    One belongs by its session, or if its environment names the command, or names none and it was born later.
    """
    victims, awake, own = [], [], str(os.getpid())
    for name in os.listdir("/proc"):
        if not name.isdigit() or name == own:
            continue
        facts = _facts(name)
        if not facts or facts[0] in (b"Z", b"X") or facts[1] == b"0":
            continue
        if not leader or int(facts[3]) != leader:
            theirs = _mark(name)
            if theirs and theirs != mark:
                continue
            if not theirs and int(facts[19]) < since:
                continue
        victims.append(int(name))
        if facts[0] not in (b"T", b"t"):
            awake.append(int(name))
    return victims, awake


def _facts(pid: str) -> list[bytes]:
    """The fields of /proc/PID/stat from the state on; empty if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            facts = file.read(4_096).rpartition(b") ")[2].split()
    except OSError:
        return []
    return facts if len(facts) >= 20 else []


def _mark(pid: str) -> bytes:
    """The key of the command that it belongs to, or `ours`, or nothing."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            text = file.read()
    except OSError:
        return b""
    for entry in text.split(b"\0"):
        if entry.startswith(CALL):
            return entry[len(CALL) :]
        if entry.startswith(PART):
            return OURS
    return b""


def _signal(pids: list[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            continue


def _signal_group(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except OSError:
        return
