"""Builds everything that a worker is made of, and closes it again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import FunctionType

from temporalio.client import Client
from temporalio.runtime import Runtime

import activities.tools
from activities.acting import Acting, ActingParts
from activities.catalogue import Catalogue
from activities.examining import Examiner
from activities.judging import Judging
from activities.leasing import Leasing
from activities.metering import Meters
from activities.noting import Noting
from activities.parts import ToolParts
from activities.planners.past import Past
from activities.planning import Thinking
from activities.provenance.gathering import Gathering
from activities.tool import Tool
from activities.undoing import Undoing
from audit.ledger import Ledger
from audit.standing import Standing
from audit.usage import Meter
from contracts.audit import Recorder
from contracts.lifecycle import Lifetimes
from contracts.sandbox import SandboxUnavailable
from gateway.recording import recording
from memory.contacts import Contacts
from memory.notes import Notes
from memory.transcript import Transcript
from runtime import addresses
from runtime.blobs import FileBlobs
from runtime.discover import discover
from runtime.host_token import host_token
from runtime.keys import Keyring
from runtime.killing.brake import FileBrake
from runtime.killing.state import StateFile
from runtime.known_hosts import KnownHosts
from runtime.paths import DataPaths
from runtime.process import CannotStart
from runtime.redact import Redactor
from runtime.second_factor import SecondFactor
from runtime.settings import Settings
from runtime.temporal import connect
from runtime.web import LOOPBACK_NAMES
from sandbox.choice import make_host
from sandbox.host import SandboxHost
from sandbox.house import HouseRules
from sandbox.snapshots.opening import SnapshotStoreInvalid
from sandbox.snapshots.store import Snapshots
from workers.egress_audit import EgressAudit, auditing
from workers.egress_rules import house_of
from workers.host_api.app import Entry
from workers.host_api.doors import Doors
from workers.host_api.kill import KillDoor
from workers.killing.watcher import Watcher
from workers.killing.wiring import halting_of
from workers.later import Later, recording_later
from workers.placing import Placing
from workers.planners import planner_of
from workers.policy_changes import PolicyChanges
from workers.policy_in_force import policy_of
from workers.policy_watch import looking_at_policy
from workers.snapshots import snapshots_of
from workers.sweeping import Sweeping
from workers.watching import Watching


@dataclass(frozen=True)
class Parts:
    """The activities of this worker, and what else its main loop needs."""

    client: Client
    host: SandboxHost
    planning: Thinking
    judging: Judging
    acting: Acting
    leasing: Leasing
    placing: Placing
    sweeping: Sweeping
    watching: Watching
    entry: Entry
    noting: Noting
    undoing: Undoing
    watcher: Watcher


@asynccontextmanager
async def open_parts(settings: Settings, redactor: Redactor, runtime: Runtime) -> AsyncIterator[Parts]:
    """Everything for these settings, open for the length of the block.

    Raises: KeyringUnusable, CannotStart, OSError.
    """
    paths = DataPaths(settings.data_dir)
    keyring = Keyring.load(settings.data_dir)
    later = Later()
    policy_file = policy_of(settings, paths, PolicyChanges(later))
    blobs = FileBlobs(paths.blobs, keyring)
    contacts = Contacts(paths.contacts, keyring, now)
    tools = find_tools(ToolParts(notes=Notes(paths.notes, keyring, now), contacts=contacts))
    transcript, past = Transcript(blobs), Past(blobs)
    gathering = Gathering(transcript, past, contacts)
    async with AsyncExitStack() as stack:
        standing = await Standing.open(paths.standing, keyring)
        stack.push_async_callback(standing.close)
        meter = await Meter.open(paths.usage, keyring.derived_naming(b"usage"), now)
        stack.push_async_callback(meter.close)
        meters = Meters(meter, now)
        examiner = Examiner(Catalogue(tools), policy_file, blobs, standing, now, meters, gathering)
        client = await connect(settings, keyring, runtime=runtime, identity=f"worker-{settings.host_id}")
        recorder = await stack.enter_async_context(recording(settings, keyring, redactor.redact))
        await stack.enter_async_context(recording_later(recorder, later))
        await stack.enter_async_context(looking_at_policy(policy_file.current))
        ledger = await Ledger.open(paths.ledger)
        stack.push_async_callback(ledger.close)
        snapshots = snapshots_in(settings, paths, keyring)
        brake = FileBrake(StateFile.of(paths, keyring))
        house = await asyncio.to_thread(house_of, settings, paths, keyring, policy_file, brake)
        host = await host_of(settings, paths, snapshots, house, await stack.enter_async_context(auditing(recorder)))
        stack.push_async_callback(host.close)
        if settings.worker_role != "control":
            await begun(host)
        planner = await stack.enter_async_context(planner_of(settings, blobs))
        acting = ActingParts(
            examiner=examiner,
            blobs=blobs,
            ledger=ledger,
            host=host,
            host_id=settings.host_id,
            redact=redactor.redact,
            now=now,
            meters=meters,
            confirmed=SecondFactor(paths, keyring).verify,
            contacts=contacts,
            brake=brake,
            recorder=recorder,
        )
        halting = halting_of(settings, keyring, brake, host, client, recorder)
        yield Parts(
            client=client,
            host=host,
            planning=Thinking(
                planner=planner,
                tools={tool.spec.name: tool for tool in tools},
                blobs=blobs,
                metering=meter,
                ceilings=policy_file.ceilings,
                transcript=transcript,
                past=past,
                brake=brake,
                recorder=recorder,
                model=settings.model if settings.planner_name == "litellm" else "",
            ),
            judging=Judging(examiner, recorder),
            acting=Acting(acting),
            leasing=Leasing(host, snapshots),
            placing=Placing(client, lifetimes_of(settings), brake, KnownHosts(paths.known_hosts).seen),
            sweeping=Sweeping(host, client, snapshots),
            watching=Watching(client, brake),
            entry=entry_of(settings, keyring, host, recorder, halting.door),
            noting=Noting(recorder, standing, now, meters),
            undoing=Undoing(host),
            watcher=halting.watcher,
        )


def find_tools(parts: ToolParts) -> list[Tool]:
    """Every tool of activities/tools/."""
    found = discover(activities.tools, "tools", FunctionType)
    return [tool for name in sorted(found) for tool in found[name](parts)]


def lifetimes_of(settings: Settings) -> Lifetimes:
    """How long sandboxes that nobody needs stay."""
    return Lifetimes(idle_seconds=settings.sandbox_idle_seconds, retention_days=settings.sandbox_retention_days)


def snapshots_in(settings: Settings, paths: DataPaths, keyring: Keyring) -> Snapshots:
    """The store of snapshots. Raises: CannotStart with what is wrong about the setting."""
    try:
        return snapshots_of(settings, paths, keyring)
    except SnapshotStoreInvalid as error:
        raise CannotStart(str(error)) from error


async def host_of(
    settings: Settings, paths: DataPaths, snapshots: Snapshots, house: HouseRules, audit: EgressAudit
) -> SandboxHost:
    """This machine's sandboxes."""
    return await make_host(
        host_id=settings.host_id,
        state_dir=paths.sandboxes / settings.host_id,
        driver=settings.sandbox_driver,
        runtime=settings.sandbox_runtime,
        image=settings.sandbox_image,
        docker_host=settings.docker_host,
        memory_mb=settings.sandbox_memory_mb,
        cpus=settings.sandbox_cpus,
        processes=settings.sandbox_processes,
        output_mb=settings.sandbox_output_mb,
        disk_mb=settings.sandbox_disk_mb,
        wall_seconds=settings.sandbox_wall_seconds,
        volume_driver=settings.sandbox_volume_driver,
        volume_options=settings.sandbox_volume_options,
        max_sandboxes=settings.max_sandboxes,
        max_sandboxes_per_user=settings.max_sandboxes_per_user,
        warm=settings.warm_sandboxes,
        snapshots=snapshots,
        on_egress=audit,
        api_url=addresses.host_api(settings),
        house=house,
        language=settings.language,
    )


def entry_of(settings: Settings, keyring: Keyring, host: SandboxHost, recorder: Recorder, kill: KillDoor) -> Entry:
    """How the owner gets at the sandboxes of this host."""
    doors = Doors(host, recorder, host_id=settings.host_id, max_bytes=settings.sandbox_disk_mb * 1_048_576)
    return Entry(doors, host_token(keyring), LOOPBACK_NAMES | {addresses.host_name(settings)}, kill)


async def begun(host: SandboxHost) -> None:
    """Raises: CannotStart if another worker serves this host."""
    try:
        await host.begin()
    except SandboxUnavailable as error:
        raise CannotStart(str(error)) from error


def now() -> datetime:
    return datetime.now(UTC)
